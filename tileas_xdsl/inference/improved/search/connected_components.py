"""Solve connected components of work items, from prescribed layouts or several roots.

Components come from union-find over fragments (one that every thread holds connects nothing).  A
component without a fixed layout is propagated from each of the `ROOTS` most important items, in
each of their candidate layouts; the trial with the best score wins: no item without a layout,
registers within the limit, then estimated cycles.  A trial is cut off when it costs more than the
best one so far (branch and bound).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import Considered
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.improved.costs.cost_model import registers_of
from tileas_xdsl.inference.improved.costs.register_pressure import NO_PRESSURE, limit_of, pressure
from tileas_xdsl.inference.improved.search.choices import Choice
from tileas_xdsl.inference.improved.search.propagation import Assignment, Propagation
from tileas_xdsl.inference.improved.search.work_item_search import CandidateSearch
from tileas_xdsl.inference.program import Buffer, CumSum, Reduce

ROOTS = 4
"""How many operations are tried as roots; more rarely change the best one."""


@dataclass(frozen=True)
class Solution:
    """The best assignment of a component, and the roots that were tried."""

    assignment: Assignment
    roots: tuple[Considered, ...] = ()


@dataclass(frozen=True)
class Trial:
    """The outcome of propagation from one root."""

    description: str
    found: Assignment
    score: tuple[float, ...]

    def considered(self, best: Trial) -> Considered:
        """The trial beside the one that was chosen."""
        cost = f"{self.found.cycles:.0f} cycles"
        if self is best:
            return Considered(self.description, "chosen", cost)
        if self.found.stuck is not None:
            return Considered(self.description, "no layout", cost)
        if self.score[1] > best.score[1]:
            return Considered(self.description, "needs more registers than there are", cost)
        is_dearer = self.found.is_dear or self.found.cycles > best.found.cycles
        return Considered(self.description, "costs more" if is_dearer else "no better", cost)


def components(
    work_items: Sequence[WorkItem], fixed: Mapping[str, FragmentMap]
) -> list[list[WorkItem]]:
    """Work items by the fragments that connect them, in the order of the program.

    A fragment that every thread holds connects nothing.
    """
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    loose = {name for name, layout in fixed.items() if layout.is_fully_replicated}
    groups: dict[str, list[WorkItem]] = {}
    for item in work_items:
        names = [name for name in item.fragments if name not in loose]
        for name in names[1:]:
            leader[find(name)] = find(names[0])
    for item in work_items:
        names = [name for name in item.fragments if name not in loose]
        key = find(names[0]) if names else f"\0{item.number}"
        groups.setdefault(key, []).append(item)
    return list(groups.values())


class Solver:
    """Solves components of one program."""

    def __init__(
        self,
        block: int,
        buffers: Mapping[str, Buffer],
        fixed: Mapping[str, FragmentMap],
        live: Mapping[int, int] = NO_PRESSURE,
    ) -> None:
        """`live` has, by number of a work item, registers of other fragments alive at it."""
        self.chooser = CandidateSearch(block, live)
        self.buffers = buffers
        self.fixed = {name: self.chooser.kept(layout) for name, layout in fixed.items()}

    def solve(self, work_items: Sequence[WorkItem]) -> Solution:
        """The cheapest assignment that fits into the registers, else the smallest one."""
        names = {name for item in work_items for name in item.fragments}
        fixed = {name: layout for name, layout in self.fixed.items() if name in names}
        best: Trial | None = None
        tried: list[Trial] = []
        for description, item, choice in self._starts(work_items, fixed):
            limit = best.score[2] if best is not None and not any(best.score[:2]) else None
            found = self._propagation(work_items, fixed).run(item, choice, limit)
            trial = Trial(description, found, self._score(work_items, found))
            tried.append(trial)
            if best is None or (not found.is_dear and trial.score < best.score):
                best = trial
        assert best is not None, "there is always a start"
        return Solution(best.found, tuple(trial.considered(best) for trial in tried))

    def _propagation(
        self, work_items: Sequence[WorkItem], fixed: Mapping[str, FragmentMap]
    ) -> Propagation:
        return Propagation(self.chooser, work_items, self.buffers, fixed)

    def _starts(
        self, work_items: Sequence[WorkItem], fixed: Mapping[str, FragmentMap]
    ) -> Iterator[tuple[str, WorkItem | None, Choice | None]]:
        """What is fixed, if anything is; and roots, unless that already spreads to the rest."""
        anchored = any(t.required for t in work_items) or any(
            not layout.is_fully_replicated for layout in fixed.values()
        )
        roots = [] if anchored else list(self._roots(work_items, fixed))
        if fixed or not roots:
            yield "from what is fixed", None, None
        for item, choice in roots:
            yield f"{item.subject} first, {choice.description}", item, choice

    def _score(self, work_items: Sequence[WorkItem], found: Assignment) -> tuple[float, ...]:
        conversion_registers = {
            number: v.choice.conversion_registers for number, v in found.verdicts.items()
        }
        needed = pressure(work_items, found.layouts, self.buffers, conversion_registers).registers
        excess = max(0, needed - limit_of(self.chooser.block))
        total = sum(
            registers_of(layout, self.buffers[name].bits) for name, layout in found.layouts.items()
        )
        return float(found.stuck is not None), float(excess), found.cycles, float(total)

    def _roots(
        self, work_items: Sequence[WorkItem], fixed: Mapping[str, FragmentMap]
    ) -> Iterator[tuple[WorkItem, Choice]]:
        """The most important work items, each under all its plans; equal ones only once."""
        reduced: dict[tuple[int, ...], set[int]] = {}
        for followed in work_items:
            if isinstance(operation := followed.operation, Reduce | CumSum):
                reduced.setdefault(followed.extents, set()).add(operation.axis)
        seen: set[tuple[object, ...]] = set()
        count = 0
        for item in sorted(work_items, key=_importance):
            if item.follows is not None or count == ROOTS:
                continue
            shape = (item.extents, tuple(sorted(m.alignment for m in item.memory)))
            if shape in seen:
                continue
            seen.add(shape)
            count += 1
            for plan in self.chooser.plans(item, reduced=reduced.get(item.extents, ())):
                choice = self.chooser.forced(item, fixed, plan)
                if choice is not None and not choice.open:
                    yield item, choice


def _importance(item: WorkItem) -> tuple[object, ...]:
    return (
        not item.memory,
        -prod(item.extents) * item.trip_count,
        item.number,
    )
