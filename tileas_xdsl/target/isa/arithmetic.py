"""Which types and modifiers the instructions of arithmetic have.

Source: PTX ISA 9.7.1 to 9.7.5 and 9.7.8 (integer, floating-point, half, comparison and logic),
checked against ptxas 13.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tileas_xdsl.target.isa.requirements import ANYWHERE, BLACKWELL, Requirement

NONE = ""
"""In a list of modifiers: it may be missing."""

ROUNDINGS = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True, slots=True)
class Form:
    """One instruction with one type."""

    modes: tuple[str, ...] = (NONE,)
    roundings: tuple[str, ...] = (NONE,)
    flags: tuple[str, ...] = ()
    """Of ftz, nan, sat and relu, those that may be there."""
    needed: tuple[str, ...] = ()
    """Those that must be there."""
    requirement: Requirement = ANYWHERE


Forms = Mapping[str, Form]

_INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
_BITS = ("b16", "b32", "b64")
_HALVES = ("f16", "f16x2")
_BRAINS = ("bf16", "bf16x2")
_ANY = (NONE, *ROUNDINGS)


def _table(*parts: tuple[tuple[str, ...], Form]) -> Forms:
    return MappingProxyType({type: form for types, form in parts for type in types})


_PLAIN_INTEGERS = (_INTEGERS, Form())
_PAIRS = (("f32x2",), Form(roundings=_ANY, flags=("ftz",), requirement=BLACKWELL))
_SUMS = (
    (("f32",), Form(roundings=_ANY, flags=("ftz", "sat"))),
    (("f64",), Form(roundings=_ANY)),
    (_HALVES, Form(roundings=(NONE, "rn"), flags=("ftz", "sat"))),
    (_BRAINS, Form(roundings=(NONE, "rn"))),
    _PAIRS,
)
_ADD = _table(_PLAIN_INTEGERS, (("s32",), Form(flags=("sat",))), *_SUMS)
_ADD_PAIRS = (("u16x2", "s16x2"), Form())
_PRODUCT_MODES = (
    (("u16", "s16", "u32", "s32"), Form(modes=("lo", "hi", "wide"))),
    (("u64", "s64"), Form(modes=("lo", "hi"))),
)
_FUSED = (
    (("f32",), Form(roundings=ROUNDINGS, flags=("ftz", "sat"))),
    (("f64",), Form(roundings=ROUNDINGS)),
)
_EXTREMES = _table(
    _PLAIN_INTEGERS,
    (("s32",), Form(flags=("relu",))),
    (("u16x2",), Form()),
    (("s16x2",), Form(flags=("relu",))),
    (("f32",), Form(flags=("ftz", "nan"))),
    (("f64",), Form()),
    (_HALVES, Form(flags=("ftz", "nan"))),
    (_BRAINS, Form(flags=("nan",))),
)
_SIGNS = _table(
    (("s16", "s32", "s64", "f64"), Form()),
    (("f32", *_HALVES), Form(flags=("ftz",))),
    (_BRAINS, Form()),
)
_LOGIC = _table((("pred", *_BITS), Form()))
_COUNTS = _table((("b32", "b64"), Form()))
_ROOTS = _table(
    (("f32",), Form(roundings=("approx", *ROUNDINGS), flags=("ftz",))),
    (("f64",), Form(roundings=ROUNDINGS)),
)
_APPROXIMATE = (("f32",), Form(roundings=("approx",), flags=("ftz",)))

ARITHMETIC: Mapping[str, Forms] = MappingProxyType(
    {
        "add": MappingProxyType({**_ADD, **_table(_ADD_PAIRS)}),
        "sub": _ADD,
        "mul": _table(*_PRODUCT_MODES, *_SUMS),
        "mad": _table(*_PRODUCT_MODES, *_FUSED),
        "fma": _table(
            *_FUSED,
            (_HALVES, Form(roundings=("rn",), flags=("ftz", "sat", "relu"))),
            (_BRAINS, Form(roundings=("rn",), flags=("relu",))),
            (("f32x2",), Form(roundings=ROUNDINGS, flags=("ftz",), requirement=BLACKWELL)),
        ),
        "div": _table(
            _PLAIN_INTEGERS,
            (("f32",), Form(roundings=("approx", "full", *ROUNDINGS), flags=("ftz",))),
            (("f64",), Form(roundings=ROUNDINGS)),
        ),
        "rem": _table(_PLAIN_INTEGERS),
        "min": _EXTREMES,
        "max": _EXTREMES,
        "abs": _SIGNS,
        "neg": _SIGNS,
        "and": _LOGIC,
        "or": _LOGIC,
        "xor": _LOGIC,
        "not": _LOGIC,
        "shl": _table((_BITS, Form())),
        "shr": _table((_BITS, Form()), _PLAIN_INTEGERS),
        "popc": _COUNTS,
        "clz": _COUNTS,
        "brev": _COUNTS,
        "bfe": _table((("u32", "s32", "u64", "s64"), Form())),
        "bfi": _COUNTS,
        "prmt": _table((("b32",), Form())),
        "sqrt": _ROOTS,
        "rcp": _ROOTS,
        "rsqrt": _table(_APPROXIMATE, (("f64",), Form(roundings=("approx",), flags=("ftz",)))),
        "ex2": _table(
            _APPROXIMATE,
            (_HALVES, Form(roundings=("approx",))),
            (_BRAINS, Form(roundings=("approx",), flags=("ftz",), needed=("ftz",))),
        ),
        "lg2": _table(_APPROXIMATE),
        "sin": _table(_APPROXIMATE),
        "cos": _table(_APPROXIMATE),
        "tanh": _table((("f32", *_HALVES, *_BRAINS), Form(roundings=("approx",)))),
    }
)
"""By mnemonic and type."""

COUNT_OPERANDS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"shl": (1,), "shr": (1,), "bfe": (1, 2)}
)
"""Operands that are 32-bit numbers of bits whatever the type of the instruction is."""

COMPARISONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{type: ("eq", "ne") for type in _BITS},
        **{type: ("eq", "ne", "lt", "le", "gt", "ge") for type in ("s16", "s32", "s64")},
        **{
            type: ("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs")
            for type in ("u16", "u32", "u64")
        },
        **{
            type: (
                *("eq", "ne", "lt", "le", "gt", "ge"),
                *("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"),
            )
            for type in ("f16", "bf16", "f32", "f64")
        },
    }
)
"""By type, what `setp` can ask."""

SELECTIONS = (*_BITS, *_INTEGERS, "f32", "f64")
"""Types of `selp`."""
