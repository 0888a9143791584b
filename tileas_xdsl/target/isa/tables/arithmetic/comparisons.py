"""Forms of comparisons and selections.

Source: PTX ISA 9.7.6 (comparison and selection) and 9.7.7 (half), checked against ptxas 13.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.target.isa.forms import InstructionForm, form
from tileas_xdsl.target.isa.requirements import ANYWHERE, Requirement, since

_BITS = ("b16", "b32", "b64")
_SIGNED = ("s16", "s32", "s64")
_UNSIGNED = ("u16", "u32", "u64")
_EQUAL = ("eq", "ne")
_ORDERED = (*_EQUAL, "lt", "le", "gt", "ge")
_FLOATS = (*_ORDERED, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
COMBINATIONS = ("and", "or", "xor")

_HALF = since((4, 2), 53)
_BRAIN = since((7, 8), 90)

ROWS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], Requirement], ...] = (
    ("", _BITS, _EQUAL, ANYWHERE),
    ("", _SIGNED, _ORDERED, ANYWHERE),
    ("", _UNSIGNED, (*_ORDERED, "lo", "ls", "hi", "hs"), ANYWHERE),
    ("{.ftz}", ("f32",), _FLOATS, ANYWHERE),
    ("", ("f64",), _FLOATS, ANYWHERE),
    ("{.ftz}", ("f16",), _FLOATS, _HALF),
    ("", ("bf16",), _FLOATS, _BRAIN),
)
"""Flush mode, types, comparisons, requirement."""

PACKED = (("{.ftz}", "f16x2", _HALF), ("", "bf16x2", _BRAIN))
"""Flush mode, packed type, requirement."""


def _setp() -> Iterator[InstructionForm]:
    for ftz, types, comparisons, needs in ROWS:
        yield form(f"setp.comparison{{.combine}}{ftz}.type", "p:pred, a, b, c:pred?combine", needs,
                   comparison=comparisons, combine=COMBINATIONS, type=types)  # fmt: skip
    for ftz, type, needs in PACKED:
        yield form(f"setp.comparison{{.combine}}{ftz}.type",
                   "p:pred|q:pred, a, b, c:pred?combine", needs,
                   comparison=_FLOATS, combine=COMBINATIONS, type=(type,))  # fmt: skip


def _set() -> Iterator[InstructionForm]:
    for ftz, types, comparisons, needs in ROWS:
        is_half = types in (("f16",), ("bf16",))
        words = ("u32", "s32", "u16", "s16") if is_half else ("u32", "s32", "f32")
        for results, added in ((words, ANYWHERE), (("f16",), _HALF), (("bf16",), _BRAIN)):
            if (types, results) == (("bf16",), ("f16",)):
                continue
            flush = "" if results == ("bf16",) else ftz
            yield form(f"set.comparison{{.combine}}{flush}.to.type",
                       "d:to, a, b, c:pred?combine", needs.joined(added),
                       comparison=comparisons, combine=COMBINATIONS,
                       to=results, type=types)  # fmt: skip
    for ftz, type, needs in PACKED:
        yield form(f"set.comparison{{.combine}}{ftz}.to.type", "d:to, a, b, c:pred?combine", needs,
                   comparison=_FLOATS, combine=COMBINATIONS, to=(type, "u32", "s32"),
                   type=(type,))  # fmt: skip


FORMS = (
    *_setp(),
    *_set(),
    form("selp.type", "d, a, b, p:pred",
         type=(*_BITS, "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64")),
    form("slct.type.s32", "d:type, a:type, b:type, c:s32",
         type=(*_BITS, *_UNSIGNED, *_SIGNED, "f32", "f64")),
    form("slct{.ftz}.type.f32", "d:type, a:type, b:type, c:f32",
         type=(*_BITS, *_UNSIGNED, *_SIGNED, "f32", "f64")),
    form("testp.test.type", "p:pred, a", type=("f32", "f64"),
         test=("finite", "infinite", "number", "notanumber", "normal", "subnormal")),
)  # fmt: skip
