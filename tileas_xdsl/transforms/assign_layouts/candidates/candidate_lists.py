"""Candidates: the layouts and instructions that an operation could work with, and what they cost.

A candidate is keyed by the kind of memory that keeps the tile, by the operand of a product that it
serves (A, B, C or D), and by the alignment that it needs; its family says which others it can meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from xdsl.ir import Operation

from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout

AnyTileLayout: TypeAlias = Layout | MemoryLayout
"""Of registers or tensor memory, onto named axes; of shared memory, in elements."""


class SubAxis(Enum):
    """The operand of a product that a tile is; D is the result."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    NONE = "-"


class Family(Enum):
    """What a layout is made for; those of one group agree."""

    SHARED = "shared"
    BLOCKED = "blocked"
    DOT_OPERAND = "dot-operand"
    LINEAR = "linear"


KINDS: Mapping[Space, str] = {
    Space.RMEM: "register",
    Space.SMEM: "memory",
    Space.TMEM: "memory",
    Space.GMEM: "memory",
}
"""The buckets of operands A and B: those in registers, those in a memory."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The three terms; `tmem` is None where no tensor memory is involved."""

    smem: float
    """Transactions for each row of the tile, times the wavefronts that conflicts make of each."""
    tmem: float | None
    """Cycles of tensor memory for each row of the tile."""
    registers: float
    """32-bit registers of a thread that are live."""

    def plus(self, other: Cost) -> Cost:
        """Both together; a tile has its registers once."""
        cycles = [term for term in (self.tmem, other.tmem) if term is not None]
        return Cost(
            self.smem + other.smem,
            sum(cycles) if cycles else None,
            max(self.registers, other.registers),
        )


NOTHING = Cost(0, None, 0)


@dataclass(frozen=True, slots=True)
class Weights:
    """What a unit of each term counts."""

    smem: float = 1
    tmem: float = 4
    registers: float = 0.25

    def score(self, cost: Cost) -> float:
        """The weighted sum; the lowest wins."""
        tmem = cost.tmem or 0
        return self.smem * cost.smem + self.tmem * tmem + self.registers * cost.registers


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way for one operation to work on a tile."""

    op: Operation
    atom: str
    """The word of an atom; several operations of one instruction call it differently."""
    kind: Space
    axis: SubAxis
    family: Family
    alignment: int
    """Bytes by which every access must be aligned."""
    layout: AnyTileLayout
    cost: Cost
    dropped: str = ""
    """Why it cannot be chosen; empty while it can."""

    @property
    def bucket(self) -> str:
        """`A register`, `B memory`, ...; C and D have one kind each."""
        return f"{self.axis.value} {KINDS[self.kind]}"

    def without(self, reason: str) -> Candidate:
        """The same, not to be chosen; the first reason stays."""
        return self if self.dropped else replace(self, dropped=reason)


def prune_families(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Drop those whose family some operation of the group has no candidate of."""
    alive = [candidate for candidate in candidates if not candidate.dropped]
    operations = {candidate.op for candidate in alive}
    by_op = [{c.family for c in alive if c.op is op} for op in operations]
    common = set[Family].intersection(*by_op) if by_op else set[Family]()
    reason = "another operation of the group has no layout of this family"
    return [c if c.family in common else c.without(reason) for c in candidates]


@dataclass(frozen=True, slots=True)
class Choice:
    """A layout for a whole group, and with what instruction each operation works on it."""

    layout: AnyTileLayout
    family: Family
    kind: Space
    atoms: Mapping[Operation, Candidate]
    cost: Cost


def choices(candidates: Sequence[Candidate], weights: Weights) -> Sequence[Choice]:
    """The layouts that every operation of a group can work with, the best one first.

    Equal scores are decided by registers, then by transactions, then by the order of candidates.
    """
    alive = [candidate for candidate in candidates if not candidate.dropped]
    operations = list(dict.fromkeys(candidate.op for candidate in alive))
    found: list[Choice] = []
    for layout in dict.fromkeys(candidate.layout for candidate in alive):
        fitting = [candidate for candidate in alive if candidate.layout == layout]
        best = {op: _best([c for c in fitting if c.op is op], weights) for op in operations}
        atoms = {op: candidate for op, candidate in best.items() if candidate is not None}
        if len(atoms) < len(operations):
            continue
        cost = NOTHING
        for candidate in atoms.values():
            cost = cost.plus(candidate.cost)
        first = next(iter(atoms.values()))
        found.append(Choice(layout, first.family, first.kind, atoms, cost))
    return sorted(found, key=lambda choice: rank(choice.cost, weights))


def rank(cost: Cost, weights: Weights) -> tuple[float, float, float]:
    """What is compared: the score, then registers, then transactions."""
    return (weights.score(cost), cost.registers, cost.smem)


def _best(candidates: Sequence[Candidate], weights: Weights) -> Candidate | None:
    return min(candidates, key=lambda c: rank(c.cost, weights), default=None)
