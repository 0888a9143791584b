"""Operations that fragments connect are solved together: from what is fixed, or from a root."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tileas_xdsl.inference.decisions import Considered
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.choices import Choice, Chooser
from tileas_xdsl.inference.improved.costs import registers_of
from tileas_xdsl.inference.improved.forms import is_everywhere
from tileas_xdsl.inference.improved.pressure import limit_of, pressure
from tileas_xdsl.inference.improved.propagation import Assignment, Propagation
from tileas_xdsl.inference.improved.tasks import Task
from tileas_xdsl.inference.program import Buffer

ROOTS = 4
"""How many operations are tried as roots; more rarely change the best one."""


@dataclass(frozen=True)
class Solution:
    """The best assignment of a component, and the roots that were tried."""

    assignment: Assignment
    roots: tuple[Considered, ...] = ()


@dataclass(frozen=True)
class Trial:
    """What came of one start."""

    words: str
    found: Assignment
    score: tuple[float, ...]

    def considered(self, best: Trial) -> Considered:
        """The trial beside the one that was chosen."""
        cost = f"{self.found.cycles:.0f} cycles"
        if self is best:
            return Considered(self.words, "chosen", cost)
        if self.found.stuck is not None:
            return Considered(self.words, "no layout", cost)
        if self.score[1] > best.score[1]:
            return Considered(self.words, "needs more registers than there are", cost)
        is_dearer = self.found.is_dear or self.found.cycles > best.found.cycles
        return Considered(self.words, "costs more" if is_dearer else "no better", cost)


def components(tasks: Sequence[Task], fixed: Mapping[str, FragmentMap]) -> list[list[Task]]:
    """Tasks by the fragments that connect them, in the order of the program.

    A fragment that every thread holds connects nothing.
    """
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    loose = {name for name, layout in fixed.items() if is_everywhere(layout)}
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        names = [name for name in task.fragments if name not in loose]
        for name in names[1:]:
            leader[find(name)] = find(names[0])
    for task in tasks:
        names = [name for name in task.fragments if name not in loose]
        key = find(names[0]) if names else f"\0{task.number}"
        groups.setdefault(key, []).append(task)
    return list(groups.values())


class Solver:
    """Solves components of one program."""

    def __init__(
        self, block: int, buffers: Mapping[str, Buffer], fixed: Mapping[str, FragmentMap]
    ) -> None:
        self.chooser = Chooser(block)
        self.buffers = buffers
        self.fixed = {name: self.chooser.kept(layout) for name, layout in fixed.items()}

    def solve(self, tasks: Sequence[Task]) -> Solution:
        """The cheapest assignment that fits into the registers, else the smallest one."""
        names = {name for task in tasks for name in task.fragments}
        fixed = {name: layout for name, layout in self.fixed.items() if name in names}
        best: Trial | None = None
        tried: list[Trial] = []
        for words, task, choice in self._starts(tasks, fixed):
            limit = best.score[2] if best is not None and not any(best.score[:2]) else None
            found = self._propagation(tasks, fixed).run(task, choice, limit)
            trial = Trial(words, found, self._score(tasks, found))
            tried.append(trial)
            if best is None or (not found.is_dear and trial.score < best.score):
                best = trial
        assert best is not None, "there is always a start"
        return Solution(best.found, tuple(trial.considered(best) for trial in tried))

    def _propagation(self, tasks: Sequence[Task], fixed: Mapping[str, FragmentMap]) -> Propagation:
        return Propagation(self.chooser, tasks, self.buffers, fixed)

    def _starts(
        self, tasks: Sequence[Task], fixed: Mapping[str, FragmentMap]
    ) -> Iterator[tuple[str, Task | None, Choice | None]]:
        """What is fixed, if anything is; and roots, unless that already spreads to the rest."""
        anchored = any(t.required for t in tasks) or any(
            not is_everywhere(layout) for layout in fixed.values()
        )
        roots = [] if anchored else list(self._roots(tasks, fixed))
        if fixed or not roots:
            yield "from what is fixed", None, None
        for task, choice in roots:
            yield f"{task.subject} first, {choice.words}", task, choice

    def _score(self, tasks: Sequence[Task], found: Assignment) -> tuple[float, ...]:
        crowds = {number: v.choice.crowd for number, v in found.verdicts.items()}
        needed, _ = pressure(tasks, found.layouts, self.buffers, crowds=crowds)
        excess = max(0, needed - limit_of(self.chooser.block))
        total = sum(
            registers_of(layout, self.buffers[name].bits) for name, layout in found.layouts.items()
        )
        return float(found.stuck is not None), float(excess), found.cycles, float(total)

    def _roots(
        self, tasks: Sequence[Task], fixed: Mapping[str, FragmentMap]
    ) -> Iterator[tuple[Task, Choice]]:
        """Tasks that most depends on, each under all plans; those alike but once."""
        reduced = {t.extents for t in tasks if t.follows is not None}
        seen: set[tuple[object, ...]] = set()
        count = 0
        for task in sorted(tasks, key=_importance):
            if task.follows is not None or count == ROOTS:
                continue
            shape = (task.extents, tuple(sorted(m.alignment for m in task.memory)))
            if shape in seen:
                continue
            seen.add(shape)
            count += 1
            for plan in self.chooser.plans(task, by_rows=task.extents in reduced):
                choice = self.chooser.forced(task, fixed, plan)
                if choice is not None and not choice.open:
                    yield task, choice


def _importance(task: Task) -> tuple[object, ...]:
    return (
        not task.memory,
        -prod(task.extents) * task.trips,
        task.number,
    )
