"""Propagate prescribed layouts through a connected component.

A worklist over the work items of one connected component.  Each item that touches a fragment with
a layout is decided by `CandidateSearch.choose`; the layouts that it gives to other fragments put
the users of these on the list.  Where the list runs empty, one item is forced: it may extend the
layout of a fragment that it touches in part, or give a fragment its own.

    c = gemm(a, b)              c has the accumulator's layout (prescribed)
    s[i] = reduce(c[i, :])      runs where c is; s becomes the image of c's rows
    d[i, j] = c[i, j] * s[i]    runs where c is, reads s there: d gets the layout of c

No decision is taken back; `Solver` starts over from other roots and compares the costs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import Considered
from tileas_xdsl.inference.fragment_map import FragmentMap, fully_replicated
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.improved.candidates.layout_candidates import flat_plan, plans
from tileas_xdsl.inference.improved.search.choices import Choice, SearchResult
from tileas_xdsl.inference.improved.search.work_item_search import CandidateSearch
from tileas_xdsl.inference.program import Buffer


@dataclass(frozen=True)
class Origin:
    """What gave a fragment its layout: a work item or none, the rule, and the alternatives."""

    item: int | None
    rule: str
    considered: tuple[Considered, ...] = ()


@dataclass
class Assignment:
    """Layouts so far, with the choice for each work item and the origin of each layout."""

    layouts: dict[str, FragmentMap]
    origins: dict[str, Origin] = field(default_factory=dict[str, Origin])
    verdicts: dict[int, SearchResult] = field(default_factory=dict[int, SearchResult])
    stuck: WorkItem | None = None
    is_dear: bool = False

    @property
    def cycles(self) -> float:
        """The estimate of all work items."""
        return sum(verdict.choice.cycles for verdict in self.verdicts.values())


class Propagation:
    """Propagates layouts over the work items of one component."""

    def __init__(
        self,
        chooser: CandidateSearch,
        work_items: Sequence[WorkItem],
        buffers: Mapping[str, Buffer],
        fixed: Mapping[str, FragmentMap],
    ) -> None:
        self.chooser = chooser
        self.work_items = work_items
        self.buffers = buffers
        self.result = Assignment(dict(fixed))
        self._users: dict[str, list[WorkItem]] = {}
        for item in work_items:
            for name in item.fragments:
                self._users.setdefault(name, []).append(item)
        self._queue: deque[WorkItem] = deque()
        self._limit: float | None = None
        self._cycles = 0.0

    def run(
        self,
        root: WorkItem | None = None,
        choice: Choice | None = None,
        limit: float | None = None,
    ) -> Assignment:
        """Assign all layouts; with `root`, starting from that work item and its `choice`.

        `stuck` of the result is a work item without a legal layout, if any.  `is_dear` means that
        the search was abandoned beyond `limit` cycles.
        """
        self._limit = limit
        if root is not None and choice is not None:
            self._commit(root, SearchResult(choice))
        for item in self.work_items:
            if item.required:
                self._decide(item)
        self._enqueue(t for t in self.work_items if self._is_known(t))
        self._drain()
        while (left := self._undecided()) and not self._is_over():
            self._force(left)
            self._drain()
        return self.result

    def _is_known(self, item: WorkItem) -> bool:
        return not item.fragments or any(name in self.result.layouts for name in item.fragments)

    def _undecided(self) -> list[WorkItem]:
        return [item for item in self.work_items if item.number not in self.result.verdicts]

    def _enqueue(self, work_items: Iterable[WorkItem]) -> None:
        self._queue.extend(t for t in work_items if t.number not in self.result.verdicts)

    def _is_over(self) -> bool:
        self.result.is_dear = self._limit is not None and self._cycles > self._limit
        return self.result.is_dear or self.result.stuck is not None

    def _drain(self) -> None:
        while self._queue and not self._is_over():
            item = self._queue.popleft()
            if item.number not in self.result.verdicts:
                self._decide(item)

    def _decide(self, item: WorkItem) -> None:
        verdict = self.chooser.choose(item, self.result.layouts)
        if verdict is not None and not verdict.choice.open:
            self._commit(item, verdict)

    def _commit(self, item: WorkItem, verdict: SearchResult) -> None:
        self.result.verdicts[item.number] = verdict
        self._cycles += verdict.choice.cycles
        for name, layout in verdict.choice.fresh.items():
            self._give(
                name, layout, Origin(item.number, verdict.choice.description, verdict.considered)
            )

    def _give(self, name: str, layout: FragmentMap, origin: Origin) -> None:
        self.result.layouts[name] = self.chooser.kept(layout)
        self.result.origins[name] = origin
        self._enqueue(self._users.get(name, ()))

    def _force(self, left: Sequence[WorkItem]) -> None:
        """Decide one work item by itself, or give a fragment that it leaves open its own layout."""
        known = [item for item in left if self._is_known(item)]
        for item in known or left:
            verdict = self.chooser.choose(item, self.result.layouts, extend=True)
            if verdict is not None and not verdict.choice.open:
                self._commit(item, verdict)
                return
        item = (known or left)[0]
        name = next((n for n in item.fragments if n not in self.result.layouts), None)
        if name is None:
            self.result.stuck = item
            return
        self._own(item, name)

    def _own(self, item: WorkItem, name: str) -> None:
        """A fragment gets the layout of its own with which the work item costs least."""
        buffer, block = self.buffers[name], self.chooser.block
        ways = [(plan.description, plan.runs) for plan in plans(buffer.shape, (), block)]
        ways.append(("all threads hold it", fully_replicated(buffer.shape, block)))
        best: tuple[tuple[float, ...], str, FragmentMap] | None = None
        for description, layout in ways:
            kept = self.chooser.kept(layout)
            verdict = self.chooser.choose(item, {**self.result.layouts, name: kept})
            if verdict is None:
                continue
            choice = verdict.choice
            score = (len(choice.open), choice.cycles, layout.slots)
            if best is None or score < best[0]:
                best = score, description, kept
        if best is None:
            order = range(len(buffer.shape))
            description, layout = ways[-1][0], flat_plan(buffer.shape, block, block, 1, order)
            best = (0.0,), description, layout
        self._give(name, best[2], Origin(item.number, f"{best[1]}, since no loop covers it"))
