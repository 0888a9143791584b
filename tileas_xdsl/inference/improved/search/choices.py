"""The choice for a work item: where its iterations run, and the layouts of fragments from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import Considered
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.improved.costs.cost_model import (
    NOTHING,
    Estimate,
    registers_of,
    warps_of,
)
from tileas_xdsl.inference.improved.costs.use_conversions import moving_cost
from tileas_xdsl.inference.improved.legality import Violation, selections
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS

Layouts = Mapping[str, FragmentMap]
"""By name of a fragment."""

SELECT = DEFAULT_WEIGHTS.alu
"""Cycles of a warp to select a register."""


@dataclass(frozen=True)
class Choice:
    """The thread mapping of a work item (None for a product), and the layouts of its fragments.

    `fresh` are layouts for fragments that had none, `open` those of them that it cannot give one;
    `converted` are fragments that the work item sees in another layout, at `moved` cycles.
    """

    description: str
    runs: FragmentMap | None
    fresh: Layouts = field(default_factory=dict[str, FragmentMap])
    converted: Layouts = field(default_factory=dict[str, FragmentMap])
    open: tuple[str, ...] = ()
    estimate: Estimate = NOTHING
    moved: float = 0
    registers: int = 0
    problems: tuple[Violation, ...] = ()
    conversion_registers: int = 0
    """Registers of a thread for what is converted, while the work item runs."""
    staged: tuple[str, ...] = ()
    """Fragments that the work item sees in shared memory."""
    held: int = 0
    """Registers of a thread for fragments of the work item that had layouts before."""

    @property
    def cycles(self) -> float:
        """What the work item costs, conversions included."""
        return self.estimate.cycles + self.moved

    def considered_beside(self, best: Choice) -> Considered:
        """Return why it is, or is not, the one chosen."""
        if self is best:
            verdict = "chosen"
        elif self.open:
            verdict = f"leaves {', '.join(self.open)} without a layout"
        elif self.moved and not best.moved:
            verdict = f"converts {', '.join(self.converted)}"
        else:
            verdict = "costs more" if self.cycles > best.cycles else "costs as much, more registers"
        return Considered(self.description, verdict, f"{self.cycles:.0f} cycles")


@dataclass
class Assessment:
    """What a mapping of iterations means for the fragments of a work item, one after the other."""

    item: WorkItem
    runs: FragmentMap
    fresh: dict[str, FragmentMap] = field(default_factory=dict[str, FragmentMap])
    converted: dict[str, FragmentMap] = field(default_factory=dict[str, FragmentMap])
    missing: list[str] = field(default_factory=list[str])
    """Fragments without a layout that the mapping cannot give one."""
    problems: list[Violation] = field(default_factory=list[Violation])
    moved: float = 0.0
    registers: int = 0
    conversion_registers: int = 0
    selects: int = 0
    """Selects of each thread in an iteration, where a register depends on the thread."""

    def keep(self, name: str, layout: FragmentMap) -> None:
        """Let a fragment have the layout that it has."""
        self.selects += _selects(self.runs, self.item.uses_of(name), layout)

    def give(self, name: str, target: FragmentMap | None) -> None:
        """Let a fragment that has no layout have one."""
        if target is None:
            self.missing.append(name)
            return
        uses = self.item.uses_of(name)
        self.fresh[name] = target
        self.selects += _selects(self.runs, uses, target)
        self.registers += registers_of(target, uses[0].buffer.bits)

    def convert(self, name: str, layout: FragmentMap, target: FragmentMap) -> None:
        """Let the work item see a fragment in another layout than it has."""
        uses = self.item.uses_of(name)
        self.converted[name] = target
        self.selects += _selects(self.runs, uses, target)
        self.moved += self.item.trip_count * moving_cost(layout, target, uses)
        self.conversion_registers += registers_of(target, uses[0].buffer.bits)

    def choice(self, description: str, layouts: Layouts, cost: Estimate) -> Choice:
        """Return the choice that this amounts to."""
        item, runs = self.item, self.runs
        known = [name for name in item.fragments if name in layouts]
        return Choice(
            description,
            runs,
            self.fresh,
            self.converted,
            tuple(self.missing),
            cost,
            self.moved + SELECT * item.trip_count * self.selects * warps_of(runs),
            self.registers,
            tuple(self.problems),
            self.conversion_registers,
            held=sum(
                registers_of(layouts[name], item.uses_of(name)[0].buffer.bits) for name in known
            ),
        )


@dataclass(frozen=True)
class SearchResult:
    """The choice for a work item, and all that was considered."""

    choice: Choice
    considered: tuple[Considered, ...] = ()


def _selects(runs: FragmentMap, uses: list[FragmentUse], layout: FragmentMap) -> int:
    """Selects of each thread for accesses to one buffer."""
    return sum(selections(runs, use, layout) for use in uses)
