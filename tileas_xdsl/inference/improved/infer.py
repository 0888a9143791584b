"""Layout inference, the default mode: also for programs that TileLang rejects.

Layouts are chosen by estimated cycles and then registers among candidates that tables prove right;
where accesses disagree a fragment is converted, at the cost that `layout.convert` plans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import ceil, prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import (
    Conversion,
    Decisions,
    InferenceError,
    LoopDecision,
    Reason,
    Staging,
)
from tileas_xdsl.inference.fragment_map import FragmentMap, fully_replicated
from tileas_xdsl.inference.improved.accesses.memory_access import vector_of
from tileas_xdsl.inference.improved.accesses.storage_views import Views, views_of
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem, work_item_of
from tileas_xdsl.inference.improved.candidates.gemm_operands import (
    required_fragments,
    shared_operands,
)
from tileas_xdsl.inference.improved.candidates.shared_swizzles import plain_layouts
from tileas_xdsl.inference.improved.costs.conversion_costs import conversion_cost
from tileas_xdsl.inference.improved.costs.cost_model import registers_of
from tileas_xdsl.inference.improved.costs.register_pressure import (
    NO_PRESSURE,
    Pressure,
    limit_of,
    live_elsewhere,
    pressure,
)
from tileas_xdsl.inference.improved.costs.use_conversions import crossings, staging_cost
from tileas_xdsl.inference.improved.diagnostics import check_annotations, refused, too_large
from tileas_xdsl.inference.improved.search.choices import Choice
from tileas_xdsl.inference.improved.search.connected_components import Solution, Solver, components
from tileas_xdsl.inference.improved.soundness import check_sound
from tileas_xdsl.inference.program import Buffer, Gemm, Loop, Program, Scope, touched
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.arch import get_target

MOST_SPILLED = 1.5
"""The registers that fragments may need, in those that a thread has."""


def infer(program: Program) -> Decisions:
    """The layouts of all fragments, shared buffers and loops of a program.

    Raises `InferenceError` where a loop has iterations that interfere, a fragment is left, an
    annotation cannot be served, or a thread has too few registers.
    """
    check_annotations(program)
    problem = _Problem.of(program)
    for item in problem.work_items:
        check_sound(item)
    solved = problem.solved()
    if solved.needed.registers > limit_of(program.threads):
        solved = problem.solved(solved.live)
    _check_shared(solved)
    found = _decisions(solved)
    _check_registers(solved, found)
    return found


@dataclass(frozen=True)
class _Problem:
    """A program as work items, and the layouts that are given."""

    program: Program
    views: Views
    work_items: Sequence[WorkItem]
    fixed: Mapping[str, FragmentMap]

    @classmethod
    def of(cls, program: Program) -> _Problem:
        views = views_of(program)
        return cls(program, views, _work_items(program, views), _fixed(program, views))

    def solved(self, live: Mapping[int, int] = NO_PRESSURE) -> _Solved:
        """An assignment for each component; raises `InferenceError` where there is none.

        `live` has, by number of a work item, registers that other fragments need at it.
        """
        solver = Solver(self.program.threads, self.program.buffers, self.fixed, live)
        solutions = [solver.solve(group) for group in components(self.work_items, self.fixed)]
        for solution in solutions:
            if solution.assignment.stuck is not None:
                raise refused(solution.assignment.stuck, solution.assignment)
        return _Solved(self, solutions)


@dataclass(frozen=True)
class _Solved:
    """A problem with an assignment for each of its components."""

    problem: _Problem
    solutions: Sequence[Solution]

    @property
    def program(self) -> Program:
        return self.problem.program

    @property
    def views(self) -> Views:
        return self.problem.views

    @property
    def work_items(self) -> Sequence[WorkItem]:
        return self.problem.work_items

    @cached_property
    def layouts(self) -> Mapping[str, FragmentMap]:
        """A layout for every storage; an unused one is replicated in all threads."""
        layouts = dict(self.problem.fixed)
        for solution in self.solutions:
            layouts.update(solution.assignment.layouts)
        program = self.program
        for name in dict.fromkeys(self.views.first.values()):
            if name not in layouts:
                layouts[name] = fully_replicated(program.buffers[name].shape, program.threads)
        return layouts

    @cached_property
    def choices(self) -> Mapping[int, Choice]:
        """What was chosen for each work item, by its number."""
        return {n: v.choice for s in self.solutions for n, v in s.assignment.verdicts.items()}

    @cached_property
    def needed(self) -> Pressure:
        """The most registers that a thread needs at once."""
        program = self.program
        conversion_registers = {n: c.conversion_registers for n, c in self.choices.items()}
        return pressure(
            self.work_items, self.layouts, program.buffers, conversion_registers, program.floating
        )

    @property
    def live(self) -> Mapping[int, int]:
        """By number of a work item, the registers that other fragments need at it."""
        program = self.program
        return live_elsewhere(self.work_items, self.layouts, program.buffers, program.floating)


def _work_items(program: Program, views: Views) -> list[WorkItem]:
    return [
        work_item_of(
            program,
            index,
            views,
            required_fragments(program, operation, views) if isinstance(operation, Gemm) else None,
        )
        for index, operation in enumerate(program.operations)
    ]


def _fixed(program: Program, views: Views) -> dict[str, FragmentMap]:
    """Layouts by annotation, and of fragments that all threads read."""
    found: dict[str, FragmentMap] = {}
    for name, layout in program.annotations.items():
        storage = views.first[name]
        wanted = views.onto_storage(name, layout)
        if storage in found and not found[storage].same_function(wanted):
            raise InferenceError(
                f"{name} and {storage} are views of one storage with different prescribed layouts",
                program.buffers[name].location,
            )
        found[storage] = wanted
    for name in sorted(program.floating):
        storage = views.storage_of(name)
        every = fully_replicated(storage.shape, program.threads)
        found.setdefault(storage.name, every)
    return found


def _check_registers(solved: _Solved, found: Decisions) -> None:
    """Raise where a thread has too few registers; the error has decisions that may be spilled."""
    program, needed = solved.program, solved.needed
    limit = limit_of(program.threads)
    if needed.registers > limit:
        layouts = solved.layouts.items()
        sizes = {name: registers_of(layout, program.buffers[name].bits) for name, layout in layouts}
        error = too_large(needed, limit, program, sizes)
        error.found = found if needed.registers <= MOST_SPILLED * limit else None
        raise error


def _decisions(solved: _Solved) -> Decisions:
    program, views, work_items = solved.program, solved.views, solved.work_items
    choices = solved.choices
    runs = {n: choice.runs for n, choice in choices.items() if choice.runs is not None}
    loops = {
        item.number: _loop_decision(seen, runs[item.number])
        for item in work_items
        if isinstance(item.operation, Loop)
        for seen in [_as_staged(item, choices[item.number].staged)]
    }
    gemms = [item.operation for item in work_items if isinstance(item.operation, Gemm)]
    shared = shared_operands(program, gemms)
    shared |= plain_layouts(program, work_items, runs, shared)
    return Decisions(
        {name: views.onto_view(name, solved.layouts[first]) for name, first in views.first.items()},
        loops,
        {name: shared[name] for name in program.buffers if name in shared},
        tuple(_conversions(solved)),
        tuple(_reasons(solved)),
        tuple(_stagings(solved)),
    )


def _as_staged(item: WorkItem, names: Sequence[str]) -> WorkItem:
    for name in names:
        item = item.staged(name)
    return item


def _stagings(solved: _Solved) -> Iterator[Staging]:
    for item in solved.work_items:
        for name in solved.choices[item.number].staged:
            cost = staging_cost(solved.layouts[name], item.uses_of(name))
            yield Staging(item.number, name, ceil(cost))


def _check_shared(solved: _Solved) -> None:
    """Raise `InferenceError` where copies in shared memory do not fit beside its buffers."""
    program = solved.program
    storages = {b.storage or n: b for n, b in program.buffers.items() if b.scope is Scope.SHARED}
    own = sum(_bytes(buffer) for buffer in storages.values())
    limit = get_target(program.arch).shared_memory_per_block
    for item in solved.work_items:
        for name in solved.choices[item.number].staged:
            own += _bytes(program.buffers[name])
            if own > limit:
                raise InferenceError(
                    f"{item.subject} reads {name} where threads do not hold it, through shared "
                    f"memory: that and other buffers need {own} bytes of {limit}",
                    item.location,
                )


def _bytes(buffer: Buffer) -> int:
    return ceil_div(prod(buffer.shape) * buffer.bits, 8)


def _loop_decision(item: WorkItem, runs: FragmentMap) -> LoopDecision:
    busy = (runs.held >= 0).any(axis=1)
    is_copied = bool((runs.owner_counts > 1).any())
    return LoopDecision(
        runs,
        vector_of(runs, item.memory),
        is_copied and item.has_effects,
        bool((runs.held[busy] < 0).any()),
    )


def _conversions(solved: _Solved) -> Iterator[Conversion]:
    views = solved.views
    for item in solved.work_items:
        for storage, target in solved.choices[item.number].converted.items():
            names = [n for n in touched(item.operation) if views.first.get(n) == storage]
            writes = any(use.access.writes for use in item.uses_of(storage))
            if len(names) > 1 and writes:
                raise InferenceError(
                    f"{item.subject} changes {storage} and sees it as {' and '.join(names)}: "
                    f"views of one storage cannot be converted apart",
                    item.location,
                )
            bits = solved.program.buffers[storage].bits
            ways = crossings(solved.layouts[storage], target, item.uses_of(storage))
            cost = sum(conversion_cost(a, b, bits) for a, b in ways)
            for name in names:
                seen = views.onto_view(name, target)
                yield Conversion(item.number, name, seen, cost)


def _reasons(solved: _Solved) -> Iterator[Reason]:
    views, solutions = solved.views, solved.solutions
    by_task = {n: s for s in solutions for n in s.assignment.verdicts}
    by_name = {n: s for s in solutions for n in s.assignment.origins}
    for name, first in views.first.items():
        if first in by_name:
            solution = by_name[first]
            origin = solution.assignment.origins[first]
            others = origin.considered or solution.roots
            yield Reason(name, origin.rule, origin.item, others)
        else:
            yield Reason(name, _rule_of_fixed(solved.program, views, first), None)
    for item in solved.work_items:
        solution = by_task[item.number]
        verdict = solution.assignment.verdicts[item.number]
        if isinstance(item.operation, Loop):
            fixed_by = None if item.operation.annotation is not None else item.number
            others = verdict.considered or solution.roots
            yield Reason(f"loop {item.number}", verdict.choice.description, fixed_by, others)


def _rule_of_fixed(program: Program, views: Views, first: str) -> str:
    members = [name for name, storage in views.first.items() if storage == first]
    if any(name in program.annotations for name in members):
        return "annotation"
    if any(name in program.floating for name in members):
        return "all threads read it outside of loops: all hold it"
    return "nothing uses it: all threads hold it"
