"""Layouts spread from what is fixed to everything that is connected with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tileas_xdsl.inference.decisions import Considered
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.choices import Choice, Chooser, Verdict
from tileas_xdsl.inference.improved.forms import fully_replicated
from tileas_xdsl.inference.improved.plans import flat_plan, plans
from tileas_xdsl.inference.improved.tasks import Task
from tileas_xdsl.inference.program import Buffer


@dataclass(frozen=True)
class Origin:
    """What gave a fragment its layout: a task, or none, by a rule; with what else there was."""

    task: int | None
    rule: str
    considered: tuple[Considered, ...] = ()


@dataclass
class Assignment:
    """Layouts so far, with the choice for each task and the origin of each layout."""

    layouts: dict[str, FragmentMap]
    origins: dict[str, Origin] = field(default_factory=dict[str, Origin])
    verdicts: dict[int, Verdict] = field(default_factory=dict[int, Verdict])
    stuck: Task | None = None
    is_dear: bool = False

    @property
    def cycles(self) -> float:
        """The estimate of all tasks."""
        return sum(verdict.choice.cycles for verdict in self.verdicts.values())


class Propagation:
    """Spreads layouts over the tasks of one component."""

    def __init__(
        self,
        chooser: Chooser,
        tasks: Sequence[Task],
        buffers: Mapping[str, Buffer],
        fixed: Mapping[str, FragmentMap],
    ) -> None:
        self.chooser = chooser
        self.tasks = tasks
        self.buffers = buffers
        self.result = Assignment(dict(fixed))
        self._users: dict[str, list[Task]] = {}
        for task in tasks:
            for name in task.fragments:
                self._users.setdefault(name, []).append(task)
        self._queue: deque[Task] = deque()
        self._limit: float | None = None
        self._cycles = 0.0

    def run(
        self,
        root: Task | None = None,
        choice: Choice | None = None,
        limit: float | None = None,
    ) -> Assignment:
        """All layouts; with `root`, from that task and its `choice` on.

        `stuck` of the result is a task that nothing can run, if there is one.  `is_dear` says that
        more than `limit` cycles came together, and that the rest was left.
        """
        self._limit = limit
        if root is not None and choice is not None:
            self._commit(root, Verdict(choice))
        for task in self.tasks:
            if task.required:
                self._decide(task)
        self._enqueue(t for t in self.tasks if self._is_known(t))
        self._drain()
        while (left := self._undecided()) and not self._is_over():
            self._force(left)
            self._drain()
        return self.result

    def _is_known(self, task: Task) -> bool:
        return not task.fragments or any(name in self.result.layouts for name in task.fragments)

    def _undecided(self) -> list[Task]:
        return [task for task in self.tasks if task.number not in self.result.verdicts]

    def _enqueue(self, tasks: Iterable[Task]) -> None:
        self._queue.extend(t for t in tasks if t.number not in self.result.verdicts)

    def _is_over(self) -> bool:
        self.result.is_dear = self._limit is not None and self._cycles > self._limit
        return self.result.is_dear or self.result.stuck is not None

    def _drain(self) -> None:
        while self._queue and not self._is_over():
            task = self._queue.popleft()
            if task.number not in self.result.verdicts:
                self._decide(task)

    def _decide(self, task: Task) -> None:
        verdict = self.chooser.choose(task, self.result.layouts)
        if verdict is not None and not verdict.choice.open:
            self._commit(task, verdict)

    def _commit(self, task: Task, verdict: Verdict) -> None:
        self.result.verdicts[task.number] = verdict
        self._cycles += verdict.choice.cycles
        for name, layout in verdict.choice.fresh.items():
            self._give(name, layout, Origin(task.number, verdict.choice.words, verdict.considered))

    def _give(self, name: str, layout: FragmentMap, origin: Origin) -> None:
        self.result.layouts[name] = self.chooser.kept(layout)
        self.result.origins[name] = origin
        self._enqueue(self._users.get(name, ()))

    def _force(self, left: Sequence[Task]) -> None:
        """Decide one task by itself, or give a layout of its own to a fragment it leaves open."""
        known = [task for task in left if self._is_known(task)]
        for task in known or left:
            verdict = self.chooser.choose(task, self.result.layouts, extend=True)
            if verdict is not None and not verdict.choice.open:
                self._commit(task, verdict)
                return
        task = (known or left)[0]
        name = next((n for n in task.fragments if n not in self.result.layouts), None)
        if name is None:
            self.result.stuck = task
            return
        self._own(task, name)

    def _own(self, task: Task, name: str) -> None:
        """A fragment gets the layout of its own with which the task costs least."""
        buffer, block = self.buffers[name], self.chooser.block
        ways = [(plan.words, plan.runs) for plan in plans(buffer.shape, (), block)]
        ways.append(("all threads hold it", fully_replicated(buffer.shape, block)))
        best: tuple[tuple[float, ...], str, FragmentMap] | None = None
        for words, layout in ways:
            kept = self.chooser.kept(layout)
            verdict = self.chooser.choose(task, {**self.result.layouts, name: kept})
            if verdict is None:
                continue
            choice = verdict.choice
            score = (len(choice.open), choice.cycles, layout.slots)
            if best is None or score < best[0]:
                best = score, words, kept
        if best is None:
            order = range(len(buffer.shape))
            words, layout = ways[-1][0], flat_plan(buffer.shape, block, block, 1, order)
            best = (0.0,), words, layout
        self._give(name, best[2], Origin(task.number, f"{best[1]}, since no loop covers it"))
