"""Candidates of layout assignment: what an operation can work with, at what cost, and the choice.

Each operation of a group proposes candidates (layout, instruction, cost); a layout can be chosen if
every operation of the group has a candidate with it. Its cost is the sum over operations, weighted:

    score = 1 * shared-memory transactions per row + 4 * tensor-memory cycles + 0.25 * registers

    group of a 64x64 f16 tile: tiled_load, addf, tiled_store
      chunks of 8 elements    all three have a candidate, accesses of 16 bytes      cheapest
      chunks of 1 element     all three have one, eight times as many accesses      possible
      chunks of 16 elements   no access of 32 bytes: the load has no candidate      not possible

Registers and transactions break ties. A refused candidate keeps its reason for `explain=true`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
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
    """The kind of a layout; all operations of a group must choose one family."""

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
        """Add costs; registers are the maximum, since a tile occupies its own once."""
        cycles = [term for term in (self.tmem, other.tmem) if term is not None]
        return Cost(
            self.smem + other.smem,
            sum(cycles) if cycles else None,
            max(self.registers, other.registers),
        )


NOTHING = Cost(0, None, 0)


@dataclass(frozen=True, slots=True)
class Weights:
    """What a transaction of shared memory, a cycle of tensor memory and a live register count."""

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
    """The keyword of an atom; several operations of one instruction call it differently."""
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
        """Return the candidate marked as refused, with the first reason."""
        return self if self.dropped else replace(self, dropped=reason)


def prune_families(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Refuse candidates of families that some operation of the group has no candidate of."""
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
    """Return the layouts that every operation of a group has a candidate for, the best first.

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
    """Return the sort key: the score, then registers, then transactions."""
    return (weights.score(cost), cost.registers, cost.smem)


def _best(candidates: Sequence[Candidate], weights: Weights) -> Candidate | None:
    return min(candidates, key=lambda c: rank(c.cost, weights), default=None)
