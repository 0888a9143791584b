"""The ISA table by mnemonic and type: the keywords of an instruction, for verifiers.

Nothing is stated here; everything is derived from the forms of `table.py`.  A view joins the forms
of one mnemonic and type, so that a message can name every rounding; whether a combination of
keywords is legal is up to the table itself (`Table.find`).  One kernel has few of the instructions:
what is known of a mnemonic, or of conversions, is derived when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import TypeVar

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.isa.forms import InstructionForm, Table
from tileas_xdsl.target.isa.kinds import MEMORY_KINDS
from tileas_xdsl.target.isa.requirements import Requirement
from tileas_xdsl.target.isa.tables.arithmetic import comparisons, conversions, floating, integer

NONE = ""
"""In a list of keywords: the modifier may be missing."""

FLAGS: Mapping[str, str] = MappingProxyType(
    {"ftz": "ftz", "nan": "NaN", "sat": "sat", "relu": "relu"}
)
"""Flags by the name of the property, and as they are written."""

_SLOTS = frozenset(("mode", "rounding", "type", *FLAGS.values()))


@dataclass(frozen=True, slots=True)
class Form:
    """What one instruction takes with one type."""

    modes: tuple[str, ...]
    roundings: tuple[str, ...]
    flags: tuple[str, ...]
    """Of ftz, nan, sat and relu, those that may be there."""
    needed: tuple[str, ...]
    """Those that must be there."""
    requirement: Requirement


@dataclass(frozen=True, slots=True)
class Conversion:
    """What `cvt` takes with one pair of types."""

    roundings: tuple[str, ...]
    saturations: tuple[str, ...]
    ftz: bool
    relu: bool


Forms = Mapping[str, Form]

_K = TypeVar("_K")
_V = TypeVar("_V")


class _Derived(Mapping[_K, _V]):
    """A table that is derived when it is first looked into."""

    def __init__(self, derive: Callable[[], Mapping[_K, _V]]) -> None:
        self._derive = derive

    @cached_property
    def _rows(self) -> Mapping[_K, _V]:
        return self._derive()

    def __getitem__(self, key: _K) -> _V:
        return self._rows[key]

    def __iter__(self) -> Iterator[_K]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def words_of(rows: Iterable[InstructionForm], slot: str) -> tuple[str, ...]:
    """Return the keywords of a slot in any of the forms, in their order; an empty one first."""
    found = dict.fromkeys(word for row in rows for word in row.allowed(slot))
    return tuple(sorted(found, key=bool))


def _form(rows: Sequence[InstructionForm]) -> Form:
    taken = {name: words_of(rows, word) for name, word in FLAGS.items()}
    return Form(
        words_of(rows, "mode"),
        words_of(rows, "rounding"),
        tuple(name for name, words in taken.items() if words != (NONE,)),
        tuple(name for name, words in taken.items() if NONE not in words),
        min((row.requirement for row in rows), key=lambda need: (need.version, need.capability)),
    )


def _by_type(name: str) -> Forms:
    found: dict[str, list[InstructionForm]] = {}
    for row in _ROWS.rows(name):
        required = {s.name for s in row.slots if not (s.optional or s.is_name)}
        if row.name == name and "type" in required and required <= _SLOTS:
            for type in row.allowed("type"):
                found.setdefault(type, []).append(row)
    return {type: _form(of_type) for type, of_type in found.items()}


_NAMES = (
    *("add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "abs", "neg", "copysign"),
    *("and", "or", "xor", "not", "shl", "shr", "popc", "clz", "brev", "bfe", "bfi", "prmt"),
    *("sqrt", "rcp", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"),
)

_ROWS = Table((*integer.FORMS, *floating.FORMS))

ARITHMETIC: Mapping[str, Forms] = MappingProxyType(
    {name: _Derived(partial(_by_type, name)) for name in _NAMES}
)
"""By mnemonic and type."""

COUNT_OPERANDS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"shl": (1,), "shr": (1,), "bfe": (1, 2)}
)
"""Operands that are 32-bit numbers of bits whatever the type of the instruction is."""

COMPARISONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        type: row.allowed("comparison")
        for row in comparisons.FORMS
        for type in row.allowed("type")
        if row.name == "setp" and not type.endswith("x2")
    }
)
"""The comparisons of `setp`, by type."""

SELECTIONS = next(row.allowed("type") for row in comparisons.FORMS if row.name == "selp")
"""Types of `selp`."""


def _conversions(operands: int) -> Mapping[tuple[str, str], Conversion]:
    found: dict[tuple[str, str], list[InstructionForm]] = {}
    for row in conversions.FORMS:
        (to,), (source,) = row.allowed("to")[:1], row.allowed("source")[:1]
        known = {to, source} <= MEMORY_KINDS.keys()
        if row.name == "cvt" and known and row.operand_counts({})[0] == operands:
            found.setdefault((to, source), []).append(row)
    return {
        pair: Conversion(
            words_of(rows, "rounding"),
            words_of(rows, "saturation"),
            words_of(rows, "ftz") != (NONE,),
            words_of(rows, "relu") != (NONE,),
        )
        for pair, rows in found.items()
    }


CONVERSIONS: Mapping[tuple[str, str], Conversion] = _Derived(partial(_conversions, 2))
"""By the type converted to and that converted from."""

PACKINGS: Mapping[str, Conversion] = _Derived(
    lambda: {to: conversion for (to, _), conversion in _conversions(3).items()}
)
"""By the packed type: how two f32 become one."""
