"""Worklist iteration over the operations of a program until no layout changes (parity mode).

The order of visits decides results, since the first layout of a buffer is binding, and TileLang's
answers are reproduced only with its order: every operation once at level strict; then a queue of
all operations at level common, first in first out, to which the users of each new layout return;
free last (`free_mode.py`). Source: TileLang `src/transform/layout_inference.cc`.

    a = gemm(...)           strict: c gets the accumulator layout, enqueue users of c
    loop  c[i, j] * s[i]    common: runs where c is, s gets the rows' layout, enqueue users of s
    reduce c -> m           common: m is what the reduction leaves of c

An inference depends only on the layouts of the buffers that the operation accesses, so results are
memoised by these: the trials of free mode visit the same operations again and again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.parity import gemms, reductions
from tileas_xdsl.inference.parity.loops import loop_layouts as loops
from tileas_xdsl.inference.parity.loops.containment import layout_contains
from tileas_xdsl.inference.parity.loops.fragment_access import LoopUses, uses_of
from tileas_xdsl.inference.parity.state import BufferLayout, Level, State, Update, Uses, Visit
from tileas_xdsl.inference.parity.storage_views import viewed
from tileas_xdsl.inference.program import (
    CumSum,
    Gemm,
    Loop,
    LoopKind,
    Operation,
    Program,
    Reduce,
    Scope,
    touched,
)

_Answers = dict[tuple[int, Level, tuple[int, ...]], tuple[Update, tuple[BufferLayout | None, ...]]]


@dataclass(frozen=True)
class Engine:
    """Worklist iteration over one program; results of visits are memoised.

    `origins` are the indices of the operations in the program as it was written.
    """

    program: Program
    uses: Uses
    origins: tuple[int, ...]
    _answers: _Answers = field(default_factory=_Answers)

    @cached_property
    def loops(self) -> Mapping[int, LoopUses]:
        """The loops of the program and how they use fragments."""
        return {
            index: uses_of(self.program, operation)
            for index, operation in enumerate(self.program.operations)
            if isinstance(operation, Loop)
        }

    def step(self, state: State, number: int, level: Level, *, enqueue: bool) -> None:
        """Visit one operation and merge what it infers into the state.

        Raises InferenceError where it contradicts what is known.
        """
        if number in state.done:
            return
        update = self.answer(state, number, level)
        strict = self.strict_layouts
        new: list[str] = []
        for name, layout in update.layouts.items():
            if name not in state.layouts:
                new.append(name)
                state.origins[name], state.rules[name] = number, update.rule
            elif not self._replaces(
                state, name, layout, is_pinned=level is Level.STRICT or name in strict
            ):
                self._reconcile(state, number, name, layout)
                continue
            state.layouts[name] = layout
            self._propagate_to_views(state, number, name, layout, new)
        if update.loop is not None:
            state.loops[number] = update.loop
            state.rules[f"loop {number}"] = update.rule
            state.done.add(number)
        if isinstance(self.program.operations[number], Gemm):
            state.done.add(number)
        state.visits.append(Visit(level, number, tuple(new), update.loop is not None))
        if enqueue:
            for name in new:
                state.push(self.uses.users.get(name, ()), number)

    def drain(self, state: State, level: Level) -> None:
        """Visit what is in the queue until it is empty."""
        while state.queue:
            self.step(state, state.queue.popleft(), level, enqueue=True)

    def answer(self, state: State, number: int, level: Level) -> Update:
        """Return the layouts that an operation infers from the known ones (cached)."""
        operation = self.program.operations[number]
        known = tuple(state.layouts.get(name) for name in touched(operation))
        key = (number, level, tuple(map(id, known)))
        if key not in self._answers:
            # `known` is kept alive with the answer: the key has the identities of its layouts.
            self._answers[key] = self._infer(operation, number, level, state.layouts), known
        return self._answers[key][0]

    def _infer(
        self, operation: Operation, number: int, level: Level, layouts: Mapping[str, BufferLayout]
    ) -> Update:
        match operation:
            case Loop(kind=LoopKind.FILL) | CumSum():
                return Update()
            case Loop():
                return loops.visit(self.program, self.loops[number], level, layouts)
            case Reduce():
                return reductions.visit(self.program, operation, level, layouts)
            case Gemm():
                return gemms.visit(self.program, operation, layouts)

    @property
    def strict_layouts(self) -> frozenset[str]:
        """Buffers whose layouts may not change any more."""
        return frozenset(self._strict)

    def pin(self, state: State) -> None:
        """Make all known layouts final."""
        self._strict.update(state.layouts)

    @cached_property
    def _strict(self) -> set[str]:
        return set()

    def _replaces(self, state: State, name: str, layout: BufferLayout, *, is_pinned: bool) -> bool:
        """Whether a new layout of a fragment contains the known one: it replicates more."""
        known = state.layouts[name]
        if is_pinned or not isinstance(known, FragmentMap) or not isinstance(layout, FragmentMap):
            return False
        return layout_contains(known, layout)

    def _reconcile(self, state: State, number: int, name: str, layout: BufferLayout) -> None:
        """Merge the known layout of a buffer with another: the narrower swizzle, else equal."""
        known = state.layouts[name]
        if known == layout:
            return
        buffer = self.program.buffers[name]
        if isinstance(known, FragmentMap) and isinstance(layout, FragmentMap):
            if known.same_function(layout):
                return
        elif not isinstance(known, FragmentMap) and not isinstance(layout, FragmentMap):
            merged = gemms.merged(known, layout, buffer.shape, buffer.bits)
            if merged is not None:
                state.layouts[name] = merged
                return
        origin = state.origins.get(name)
        other = "an annotation" if origin is None else f"operation {origin}"
        raise InferenceError(
            f"'{name}' has two layouts: {layout} for this operation, {known} by {other}",
            self.program.operations[number].location,
        )

    def _propagate_to_views(
        self, state: State, number: int, name: str, layout: BufferLayout, new: list[str]
    ) -> None:
        """Give the other names of a storage the layout that follows from a new one."""
        if not isinstance(layout, FragmentMap):
            return
        buffer = self.program.buffers[name]
        for sibling in self.uses.siblings[name]:
            view = self.program.buffers[sibling]
            if view.scope is not Scope.FRAGMENT:
                continue
            derived = viewed(layout, buffer, view)
            if sibling not in state.layouts:
                state.layouts[sibling] = derived
                state.origins[sibling], state.rules[sibling] = number, f"view of {name}"
                new.insert(0, sibling)
            else:
                self._reconcile(state, number, sibling, derived)
