"""Forms of loads, stores and atomics.

Source: PTX ISA 9.7.9.8 to 9.7.9.15 (ld, st), 9.7.13.5 and 9.7.13.6 (atom, red), checked against
ptxas 13.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.forms import InstructionForm, form
from tileas_xdsl.target.isa.requirements import ANYWHERE, Requirement, since
from tileas_xdsl.target.isa.tables.memory.keywords import (
    ATOMIC_VECTORS,
    ATOMICS,
    LOAD_CACHES,
    SCOPES,
    STORE_CACHES,
)

Forms = Iterator[InstructionForm]

_NARROW = (*(f"{letter}{bits}" for letter in "bus" for bits in (8, 16, 32)), "f32")
_WIDE = ("b64", "u64", "s64", "f64")
_NAMED = since((8, 3))
"""Parameter spaces of an entry and of a call, distinguished by name."""
_SHARED = ("shared", "shared::cta", "shared::cluster")
_LOADED = ("const", "global", "local", "param", *_SHARED)
_STORED = ("global", "local", *_SHARED)
_STRONG = ("global", *_SHARED)
_EVICTIONS = tuple(
    f"L1::{name}"
    for name in ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
)
_L2_EVICTIONS = ("L2::evict_normal", "L2::evict_first", "L2::evict_last")
_PREFETCHES = ("L2::64B", "L2::128B", "L2::256B")
_HINTED = since((7, 4), 80)
_VOLATILE_LOCAL = since((9, 1))
_QUAD = since((8, 3), 70)
_QUAD_SYS = since((8, 4), 70)
"""Accesses of 128 bits by one register."""
_QUAD_ATOMIC = since((8, 3), 90)
_QUAD_ATOMIC_SYS = since((8, 4), 90)
_LONG = since((8, 8), 100, Feature.WIDE_VECTORS)
"""Vectors of 32 bytes."""

VECTORS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("{.vector}", ("v2", "v4"), _NARROW),
    ("{.vector}", ("v2",), _WIDE),
)
"""Vectors of up to 16 bytes: how they are written, their lengths, and of what."""


def _access(
    name: str, middle: str, operands: str, needs: Requirement = ANYWHERE, **choices: tuple[str, ...]
) -> Forms:
    """Every width of an access."""
    for vector, words, types in VECTORS:
        yield form(f"{name}{middle}{vector}.type", operands, needs,
                   vector=words, type=types, **choices)  # fmt: skip
    yield from _quads(f"{name}{middle}.b128", operands, needs, choices)


def _quads(
    syntax: str, operands: str, needs: Requirement, choices: dict[str, tuple[str, ...]]
) -> Forms:
    """128 bits in one register; the scope `.sys` came to them a version later."""
    scopes = choices.get("scope", ()) if ".scope" in syntax else ()
    for scope in scopes or ("",):
        needed = needs.joined(_QUAD_SYS if scope == "sys" else _QUAD)
        yield form(syntax, operands, needed, **{**choices, "scope": (scope,)})


def _loads() -> Forms:
    operands, hinted = "<d*vector>, [a]", "<d*vector>, [a], p:b64?L2::cache_hint"
    caches = LOAD_CACHES[1:]
    yield from _access("ld", "{.weak}{.space}", operands, space=_LOADED)
    yield from _access("ld", "{.weak}{.space}.cache", operands, space=_LOADED, cache=caches)
    yield from _access("ld", "{.weak}.space{.cache}", "<d*vector>, [$Q]",
                       _NAMED, space=("param::func",), cache=caches)  # fmt: skip
    yield from _access("ld", "{.weak}.space{.cache}", operands, _NAMED,
                       space=("param::entry",), cache=caches)  # fmt: skip
    yield from _access("ld", ".volatile{.space}", operands, space=_STRONG)
    yield from _access("ld", ".volatile.space", operands, _VOLATILE_LOCAL, space=("local",))
    for scopes, needs in _scopes():
        yield from _access("ld", ".order.scope{.space}", operands, needs,
                           order=("relaxed", "acquire"), scope=scopes, space=_STRONG)  # fmt: skip
    yield from _hinted("ld", hinted)
    yield from _long("ld", operands)
    yield form("ld.mmio.relaxed.sys{.global}.type", "d, [a]", since((8, 2), 70),
               type=(*_NARROW, *_WIDE))  # fmt: skip
    yield form("ld.mmio.relaxed.sys{.global}.b128", "d, [a]", _QUAD_SYS)
    yield from _access("ldu", "{.global}", operands)


def _hinted(name: str, operands: str) -> Forms:
    """Accesses of global memory with hints to the caches."""
    fetch = "{.prefetch}" * name.startswith("ld")
    rest = f"{{.L2::cache_hint}}{fetch}"
    choices = {"eviction": _EVICTIONS, "prefetch": _PREFETCHES, "scope": SCOPES}
    orders = ("relaxed", "acquire" if name == "ld" else "release")
    caches = LOAD_CACHES[1:] if name == "ld" else STORE_CACHES[1:]
    for middle in ("{.weak}{.global}{.eviction}", ".order.scope{.global}{.eviction}",
                   "{.weak}{.global}.cache"):  # fmt: skip
        yield from _access(name, f"{middle}{rest}", operands, _HINTED,
                           order=orders, cache=caches, **choices)  # fmt: skip
    if name == "ld":
        yield from _access("ld", ".global{.nc_cache}.nc", operands.split(", p")[0],
                           since((3, 1), 32), nc_cache=("ca", "cg", "cs"))  # fmt: skip
        yield from _access("ld", f".global.nc{{.eviction}}{rest}", operands, _HINTED, **choices)


def _long(name: str, operands: str) -> Forms:
    """Vectors of 32 bytes in global memory."""
    for middle in ("{.weak}.global", ".global.nc")[: 2 if name == "ld" else 1]:
        for words, types in ((("v8",), ("b32", "u32", "s32", "f32")), (("v4",), _WIDE)):
            yield form(f"{name}{middle}{{.eviction}}{{.l2_eviction}}.vector.type", operands, _LONG,
                       vector=words, type=types,
                       eviction=_EVICTIONS, l2_eviction=_L2_EVICTIONS)  # fmt: skip


def _scopes() -> Iterator[tuple[tuple[str, ...], Requirement]]:
    yield ("cta", "gpu", "sys"), since((6, 0), 70)
    yield ("cluster",), since((7, 8), 90)


def _stores() -> Forms:
    operands, hinted = "[a], <d*vector>", "[a], <d*vector>, p:b64?L2::cache_hint"
    caches = STORE_CACHES[1:]
    yield from _access("st", "{.weak}{.space}", operands, space=_STORED)
    yield from _access("st", "{.weak}{.space}.cache", operands, space=_STORED, cache=caches)
    for space, needs in (("param", ANYWHERE), ("param::func", _NAMED)):
        yield from _access("st", "{.weak}.space{.cache}", "[$Q], <d*vector>", needs,
                           space=(space,), cache=caches)  # fmt: skip
    yield from _access("st", ".volatile{.space}", operands, space=_STRONG)
    yield from _access("st", ".volatile.space", operands, _VOLATILE_LOCAL, space=("local",))
    for scopes, needs in _scopes():
        yield from _access("st", ".order.scope{.space}", operands, needs,
                           order=("relaxed", "release"), scope=scopes, space=_STRONG)  # fmt: skip
    yield from _hinted("st", hinted)
    yield from _long("st", operands)
    yield form("st.mmio.relaxed.sys{.global}.type", "[a], d", since((8, 2), 70),
               type=(*_NARROW, *_WIDE))  # fmt: skip
    yield form("st.mmio.relaxed.sys{.global}.b128", "[a], d", _QUAD_SYS)
    yield form("st.bulk{.weak}{.space}", "[a], b:u64, 0", since((8, 6), 100),
               space=("shared::cta",))  # fmt: skip
    for vector, types in (
        ("{.vector}", ("b32", "u32", "s32", "f32")), ("{.pair}", ("b64", "u64", "s64", "f64"))
    ):  # fmt: skip
        count = "vector" if types[0] == "b32" else "pair"
        bytes_done = "mbarrier::complete_tx::bytes"
        yield form(f"st.async{{.weak}}{{.shared::cluster}}.{bytes_done}{vector}.type",
                   f"[a], <d*{count}>, [b]", since((8, 1), 90),
                   vector=("v2", "v4"), pair=("v2",), type=types)  # fmt: skip


def _remote_reductions() -> Forms:
    """Reductions in the shared memory of the cluster that complete bytes on an mbarrier."""
    for operation, types in (
        ("inc", ("u32",)), ("dec", ("u32",)), ("min", ("u32", "s32")), ("max", ("u32", "s32")),
        ("add", ("u32", "s32", "u64", "s64")), ("and", ("b32",)), ("or", ("b32",)),
        ("xor", ("b32",)),
    ):  # fmt: skip
        yield form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes"
                   f".{operation}.type", "[a], b, [c]", since((8, 1), 90), type=types)  # fmt: skip


_HALVES = ("f16", "bf16", "f16x2", "bf16x2")
_HALF_REQUIREMENTS = {
    "f16": since((6, 3), 70),
    "f16x2": since((6, 2), 60),
    "bf16": since((7, 8), 90),
    "bf16x2": since((7, 8), 90),
    "b16": since((6, 3), 70),
}


def _updates(name: str) -> Forms:
    """`atom` and `red`: without an order they are relaxed, without a scope of the GPU."""
    for operation, types in ATOMICS.items():
        if name == "red" and operation in ("exch", "cas"):
            continue
        operands = "d, [a], b" if name == "atom" else "[a], b"
        operands += ", c" if operation == "cas" else ""
        plain = tuple(type for type in types if type not in _HALF_REQUIREMENTS)
        yield from _update(name, operation, operands, plain, ANYWHERE)
        for type in types:
            if type in _HALF_REQUIREMENTS and operation in ("add", "cas"):
                yield from _update(name, operation, operands, (type,), _HALF_REQUIREMENTS[type])
        if name == "atom" and operation in ("exch", "cas"):
            quad = (name, operation, operands, ("b128",))
            yield from _update(*quad, _QUAD_ATOMIC, SCOPES[:-1])
            yield from _update(*quad, _QUAD_ATOMIC_SYS, SCOPES[-1:], scope=".scope")
    yield from _vectors(name)


def _orders(name: str) -> dict[str, tuple[str, ...]]:
    every = ("relaxed", "acquire", "release", "acq_rel")
    return {"order": every if name == "atom" else ("relaxed", "release"), "scope": SCOPES}


def _update(
    name: str,
    operation: str,
    operands: str,
    types: tuple[str, ...],
    needs: Requirement,
    scopes: tuple[str, ...] = SCOPES,
    *,
    scope: str = "{.scope}",
) -> Forms:
    half = ".noftz" * (types[0] in _HALVES)
    head = f"{name}{{.order}}{scope}{{.space}}.operation{half}"
    choices = {**_orders(name), "operation": (operation,), "type": types, "scope": scopes}
    yield form(f"{head}.type", operands, needs, space=_STRONG, **choices)
    if operation != "cas":
        yield form(f"{head}.L2::cache_hint.type", f"{operands}, p:b64",
                   needs.joined(_HINTED), space=("global",), **choices)  # fmt: skip


def _vectors(name: str) -> Forms:
    operands = "<d*vector>, [a], <b*vector>" if name == "atom" else "[a], <b*vector>"
    for type, lengths in ATOMIC_VECTORS.items():
        half = ".noftz" * (type in _HALVES)
        yield form(
            f"{name}{{.order}}{{.scope}}.global.operation{half}{{.L2::cache_hint}}.vector.type",
            f"{operands}, p:b64?L2::cache_hint", since((8, 1), 90),
            operation=("add", "min", "max") if half else ("add",),
            vector=tuple(f"v{n}" for n in lengths), type=(type,), **_orders(name),
        )  # fmt: skip


FORMS = (*_loads(), *_stores(), *_remote_reductions(), *_updates("atom"), *_updates("red"))
