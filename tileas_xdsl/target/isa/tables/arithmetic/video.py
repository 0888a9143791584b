"""Forms of the video instructions: parts of words, and words as vectors of 16 or 8 bits.

Source: PTX ISA 9.7.17 and 9.7.18, checked against ptxas 13.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.target.isa.forms import InstructionForm, form
from tileas_xdsl.target.isa.requirements import since

_WORDS = ("u32", "s32")
_SECOND = ("add", "min", "max")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_SCALAR = since((2, 0), 20)
_SIMD = since((3, 0), 30)
_TYPES = {"type": _WORDS, "a_type": _WORDS, "b_type": _WORDS}


def _scalars() -> Iterator[InstructionForm]:
    merged, joined = "d, a:a_type, b:b_type, c?", "d, a:a_type, b:b_type, c"
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        head = f"{name}.type.a_type.b_type{{.sat}}"
        yield form(head, merged, _SCALAR, **_TYPES)
        yield form(f"{head}.second", joined, _SCALAR, second=_SECOND, **_TYPES)
    for name in ("vshl", "vshr"):
        head = f"{name}.type.a_type.b_type{{.sat}}.mode"
        choices = {**_TYPES, "b_type": ("u32",), "mode": ("clamp", "wrap")}
        yield form(head, merged, _SCALAR, **choices)
        yield form(f"{head}.second", joined, _SCALAR, second=_SECOND, **choices)
    for po in ("", ".po"):
        yield form(f"vmad.type.a_type.b_type{po}{{.sat}}{{.scale}}", "d, a:a_type, b:b_type, c",
                   _SCALAR, **_TYPES, scale=("shr7", "shr15"))  # fmt: skip
    compared = {"a_type": _WORDS, "b_type": _WORDS, "comparison": _COMPARISONS}
    yield form("vset.a_type.b_type.comparison", "d:u32, a:a_type, b:b_type, c:u32?", _SCALAR,
               **compared)  # fmt: skip
    yield form("vset.a_type.b_type.comparison.second", "d:u32, a:a_type, b:b_type, c:u32", _SCALAR,
               second=_SECOND, **compared)  # fmt: skip


def _vectors(count: int) -> Iterator[InstructionForm]:
    operands = "d, a:a_type, b:b_type, c"
    for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
        for last in ("{.sat}", ".add"):
            yield form(f"{name}{count}.type.a_type.b_type{last}", operands, _SIMD, **_TYPES)
    yield form(f"vset{count}.a_type.b_type.comparison{{.add}}",
               "d:u32, a:a_type, b:b_type, c:u32", _SIMD,
               a_type=_WORDS, b_type=_WORDS, comparison=_COMPARISONS)  # fmt: skip


FORMS = (*_scalars(), *_vectors(2), *_vectors(4))
