"""Forms of accesses to memory of several GPUs through one multicast address.

Source: PTX ISA 9.7.9.14 to 9.7.9.16 (multimem), checked against ptxas 13.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.forms import InstructionForm, form
from tileas_xdsl.target.isa.requirements import Requirement, since
from tileas_xdsl.target.isa.tables.memory.keywords import SCOPES

Forms = Iterator[InstructionForm]

_NEEDS = since((8, 1), 90)
_ACC_F32 = since((8, 2), 90)
_NARROW = since((8, 6), 100, Feature.MULTIMEM_FP8)

_INTEGERS: Mapping[Sequence[str], tuple[str, ...]] = {
    ("and", "or", "xor"): ("b32", "b64"),
    ("min", "max"): ("u32", "u64", "s32", "s64"),
    ("add",): ("u32", "u64", "s32"),
}
_STORED = ("b32", "b64", "u32", "u64", "s32", "s64")

_FLOATS: Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]] = (
    ("b16", ("f16", "bf16"), ("v2", "v4", "v8")),
    ("b32", ("f16x2", "bf16x2"), ("", "v2", "v4")),
    ("f32", ("f32",), ("", "v2", "v4")),
    ("f64", ("f64",), ("",)),
)
"""The register of an element, its types, and the vectors that fill 4, 8 or 16 bytes."""

_BYTES: Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]] = (
    ("type", ("e5m2", "e4m3"), ("v4", "v8")),
    ("b16", ("e5m2x2", "e4m3x2"), ("v2", "v4", "v8")),
    ("b32", ("e5m2x4", "e4m3x4"), ("", "v2", "v4")),
)
_HALVES = ("f16", "bf16", "f16x2", "bf16x2")


def _orders(name: str) -> Sequence[str]:
    """Return how an instruction says what it orders."""
    weak = "" if name == "multimem.red" else "{.weak}"
    return (f"{weak}{{.global}}", ".order.scope{.global}")


def _each(
    name: str, rest: str, operands: str, needs: Requirement, **choices: tuple[str, ...]
) -> Forms:
    orders = ("relaxed", "acquire" if name.endswith("reduce") else "release")
    for middle in _orders(name):
        yield form(f"{name}{middle}{rest}", operands, needs,
                   order=orders, scope=SCOPES, **choices)  # fmt: skip


def _operands(name: str, kind: str) -> str:
    value = f"<d:{kind}*vector>"
    return f"{value}, [a]" if name.endswith("reduce") else f"[a], {value}"


def _integers(name: str) -> Forms:
    operands = "d, [a]" if name.endswith("reduce") else "[a], d"
    for operations, types in _INTEGERS.items():
        yield from _each(name, ".op.type", operands, _NEEDS, op=tuple(operations), type=types)


def _vectors(
    name: str, head: str, kind: str, words: tuple[str, ...], needs: Requirement,
    **choices: tuple[str, ...],
) -> Forms:  # fmt: skip
    """Elements in vectors; `words` has an empty one where there may be none."""
    vectors = tuple(word for word in words if word)
    if "" in words:
        yield from _each(name, f"{head}.type", _operands(name, kind), needs, **choices)
    if vectors:
        rest = f"{head}.vector.type"
        yield from _each(name, rest, _operands(name, kind), needs, vector=vectors, **choices)


def _floats(name: str) -> Forms:
    reduces = name.endswith("reduce")
    for kind, types, words in _FLOATS:
        yield from _vectors(name, ".op", kind, words, _NEEDS, op=("add",), type=types)
        if types[0] not in _HALVES:
            continue
        some = words if reduces else tuple(word for word in words if word)
        yield from _vectors(name, ".op", kind, some, _NEEDS, op=("min", "max"), type=types)
        if reduces:
            yield from _vectors(name, ".add.acc::f32", kind, words, _ACC_F32, type=types)
    for kind, types, words in _BYTES if reduces else ():
        yield from _vectors(name, ".op", kind, words, _NARROW, op=("add", "min", "max"), type=types)
        yield from _vectors(name, ".add.acc::f16", kind, words, _NARROW, type=types)


def _stores() -> Forms:
    name = "multimem.st"
    yield from _each(name, ".type", "[a], d", _NEEDS, type=_STORED)
    for rows, needs in ((_FLOATS, _NEEDS), (_BYTES, _NARROW)):
        for kind, types, words in rows:
            yield from _vectors(name, "", kind, words, needs, type=types)


FORMS = (
    *_integers("multimem.ld_reduce"),
    *_floats("multimem.ld_reduce"),
    *_integers("multimem.red"),
    *_floats("multimem.red"),
    *_stores(),
)
