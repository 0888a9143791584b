"""What an assignment is asked for, and what it has decided so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, TileGroups
from tileas_xdsl.analysis.values.rows.neighbours import Neighbours
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.threads.index.rearrangement import TakenElements
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import (
    Candidate,
    Choice,
    Weights,
)


@dataclass(frozen=True)
class Preferences:
    """What the options of the pass and the environment say."""

    weights: Weights = field(default_factory=Weights)
    prefer_tma: bool = False
    """Load and store by TMA whatever it can move."""
    always_swizzle: bool = False
    """No tile in shared memory without a swizzle, where one fits."""


@dataclass(frozen=True)
class Decision:
    """Everything that was compared for a group, and what was chosen."""

    group: TileGroup
    candidates: tuple[Candidate, ...]
    choice: Choice | None


@dataclass
class Assignment:
    """The layouts of one function."""

    plan: KernelPlan
    groups: TileGroups
    kinds: Mapping[TileGroup, frozenset[Space]]
    preferences: Preferences
    decisions: dict[TileGroup, Decision] = field(default_factory=dict[TileGroup, Decision])
    taken: dict[Operation, Sequence[TakenElements]] = field(
        default_factory=dict[Operation, Sequence[TakenElements]]
    )
    """What views and `generate`s take of other tiles, as far as somebody has asked."""
    neighbours: Neighbours = field(default_factory=Neighbours)
    """Loads whose elements lie beside those of others."""

    def kind(self, group: TileGroup) -> frozenset[Space]:
        """Where a group may be; a group of parts is where their wholes are."""
        if group in self.kinds:
            return self.kinds[group]
        whole = self.groups.of(self.groups.whole_of(group.values[0]))
        return frozenset() if whole is None or whole is group else self.kind(whole)

    def choice(self, value: SSAValue) -> Choice | None:
        """What was chosen for the group of a value."""
        group = self.groups.of(value)
        decision = None if group is None else self.decisions.get(group)
        return None if decision is None else decision.choice

    def agent(self, op: Operation) -> Agent:
        """The threads that run an operation."""
        return self.plan.agent_around(op)
