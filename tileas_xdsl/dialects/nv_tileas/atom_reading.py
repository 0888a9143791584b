"""Atoms read from their keyword and parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.atoms import (
    COPY_ATOMS,
    REDUCTIONS,
    TMA_REDUCTIONS,
    Atom,
    CopyAtom,
    MmaAtom,
    Parameter,
    ReduceAtom,
    TmaAtom,
)
from tileas_xdsl.dialects.nv_tileas.element_names import canonical_name
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.layout.memory.elements import ELEMENT_TYPES


class AtomError(ValueError):
    """Text that names no atom; the message is a sentence."""


TMA_KEYWORD = re.compile(r"(tma_load|tma_store|tma_redg)_([1-5])d$")


MMA_KEYWORD = re.compile(r"(fma|mma|wgmma|tcgen05)_([a-z0-9]+)_([a-z0-9]+)_([a-z0-9]+)$")


@dataclass
class _Parameters:
    """The parameters of one atom; what is left over after reading is refused."""

    keyword: str
    given: dict[str, Parameter]
    read: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, keyword: str, pairs: Iterable[tuple[str, Parameter]]) -> _Parameters:
        """The parameters as written; each of them once."""
        given: dict[str, Parameter] = {}
        for key, value in pairs:
            if key in given:
                raise AtomError(f"atom '{keyword}' has parameter '{key}' twice")
            given[key] = value
        return cls(keyword, given)

    def ints(self, key: str) -> tuple[int, ...]:
        if not self._has(key):
            return ()
        value = self.given[key]
        if not isinstance(value, tuple) or not value or any(n < 1 for n in value):
            raise AtomError(f"parameter '{key}' of atom '{self.keyword}' is a list of extents")
        return value

    def integer(self, key: str, default: int) -> int:
        if not self._has(key):
            return default
        value = self.given[key]
        if not isinstance(value, int):
            raise AtomError(f"parameter '{key}' of atom '{self.keyword}' is an integer")
        return value

    def text(self, key: str, default: str) -> str:
        if not self._has(key):
            return default
        value = self.given[key]
        if not isinstance(value, str):
            raise AtomError(f"parameter '{key}' of atom '{self.keyword}' is a word")
        return value

    def flag(self, key: str) -> bool:
        if self._has(key) and self.given[key] is not None:
            raise AtomError(f"parameter '{key}' of atom '{self.keyword}' has no value")
        return key in self.given

    def _has(self, key: str) -> bool:
        self.read.add(key)
        return key in self.given

    def check_all_read(self) -> None:
        for key in self.given:
            if key not in self.read:
                raise AtomError(f"atom '{self.keyword}' has no parameter '{key}'")


def make_atom(keyword: str, parameters: Mapping[str, Parameter] | None = None) -> Atom:
    """Return the atom of a keyword and its parameters; raises `AtomError` with the reason."""
    return read_atom(keyword, (parameters or {}).items())


def read_atom(keyword: str, pairs: Iterable[tuple[str, Parameter]]) -> Atom:
    """The atom of a text, whose parameters are pairs, so that none that is there twice is lost."""
    given = _Parameters.of(keyword, pairs)
    atom = _from_word(keyword, given)
    given.check_all_read()
    return atom


def _from_word(keyword: str, given: _Parameters) -> Atom:
    if keyword in COPY_ATOMS:
        return CopyAtom(keyword)
    if match := TMA_KEYWORD.match(keyword):
        return _tma(match[1], int(match[2]), given)
    if match := MMA_KEYWORD.match(keyword):
        return _mma(match, given)
    if keyword.startswith("reduce_") and keyword.removeprefix("reduce_") in REDUCTIONS:
        return ReduceAtom(keyword.removeprefix("reduce_"))
    raise AtomError(
        f"unknown atom '{keyword}'; atoms are {', '.join(COPY_ATOMS)}, tma_(load|store|redg)_Nd, "
        f"(fma|mma|wgmma|tcgen05)_A_B_D, reduce_({'|'.join(REDUCTIONS)})"
    )


def _tma(direction: str, rank: int, given: _Parameters) -> TmaAtom:
    box = given.ints("box")
    if box and len(box) != rank:
        raise AtomError(f"the box of atom '{given.keyword}' has {len(box)} extents, not {rank}")
    operation = given.text("op", "add") if direction == "tma_redg" else None
    if operation is not None and operation not in TMA_REDUCTIONS:
        known = ", ".join(TMA_REDUCTIONS)
        raise AtomError(f"atom '{given.keyword}' reduces with {known}, not {operation}")
    return TmaAtom(
        direction,
        rank,
        box,
        given.text("mode", "tiled"),
        given.flag("multicast"),
        None if operation is None else RmwMode(operation),
    )


def _mma(match: re.Match[str], given: _Parameters) -> MmaAtom:
    for name in match.groups()[1:]:
        if canonical_name(name) not in ELEMENT_TYPES:
            raise AtomError(f"atom '{given.keyword}' multiplies '{name}', which is no element type")
    shape = given.ints("shape")
    if shape and len(shape) != 3:
        raise AtomError(f"the shape of atom '{given.keyword}' is [M, N, K]")
    return MmaAtom(
        match[1],
        match[2],
        match[3],
        match[4],
        shape,
        given.integer("scale_vector", 0),
        _cta_group(match[1], given),
    )


def _cta_group(instruction: str, given: _Parameters) -> int:
    group = given.integer("cta_group", 0)
    if "cta_group" in given.given and group not in (1, 2):
        raise AtomError(f"cta_group of atom '{given.keyword}' is 1 or 2, not {group}")
    if group == 2 and instruction != "tcgen05":
        raise AtomError(f"only tcgen05 works with 2 CTAs; atom '{given.keyword}' does not")
    return group
