"""The common form of operations in layout search: an iteration box with its accesses.

Loops, reductions, scans and matrix products are all work items: a box of iterations, the fragments
that each iteration accesses (`uses`) and its accesses to global and shared memory (`memory`). A
layout of the item says which thread runs an iteration; it fits a fragment if that thread owns the
elements that the iteration accesses. By operation:

    loop over (128, 64) with c[i, j] += x[i]    box (128, 64), uses c[d0, d1] and x[d0]
    reduce x : 128x64 along axis 1 to m         box (128, 64), uses x[d0, d1], m[d0] combined
    gemm a, b, c                                whole fragments, layouts required by the instruction

`follows` names the source of a reduction: its iterations are that fragment's elements, so that the
item takes its layout. `staged` moves a fragment's accesses to shared memory, for fragments that no
layout can serve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from math import prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse
from tileas_xdsl.inference.improved.accesses.memory_access import MemoryUse
from tileas_xdsl.inference.improved.accesses.storage_views import Views
from tileas_xdsl.inference.program import (
    Access,
    AccessKind,
    CumSum,
    Gemm,
    Loop,
    Operation,
    Program,
    Reduce,
    Scope,
)
from tileas_xdsl.layout.expr.expression import Number
from tileas_xdsl.layout.expr.tables import variables_of_box


@dataclass(frozen=True, eq=False)
class WorkItem:
    """Operation `number`, which runs `trip_count` times.

    `follows` names the fragment whose elements are the iterations (the source of a reduction);
    `required` are the layouts that an instruction prescribes.
    """

    number: int
    operation: Operation
    extents: tuple[int, ...]
    uses: tuple[FragmentUse, ...]
    memory: tuple[MemoryUse, ...]
    trip_count: int = 1
    follows: str | None = None
    required: Mapping[str, FragmentMap] = field(default_factory=dict[str, FragmentMap])
    renamed: frozenset[str] = frozenset()
    """Storages that it knows by the names of views."""

    @cached_property
    def fragments(self) -> tuple[str, ...]:
        """The fragments that the item accesses, each once."""
        names = [*(use.name for use in self.uses), *self.required]
        return tuple(dict.fromkeys(names))

    def uses_of(self, name: str) -> list[FragmentUse]:
        """The accesses to one fragment."""
        return [use for use in self.uses if use.name == name]

    def staged(self, name: str) -> WorkItem:
        """Return the item with accesses to shared memory in place of those to a fragment."""
        moved = [
            MemoryUse(
                use.access,
                replace(use.buffer, scope=Scope.SHARED),
                use.extents,
                use.inner,
            )
            for use in self.uses_of(name)
        ]
        kept = tuple(use for use in self.uses if use.name != name)
        return replace(self, uses=kept, memory=(*self.memory, *moved))

    def can_stage(self, name: str) -> bool:
        """Whether it is a loop that knows a fragment by the name of its storage only."""
        return isinstance(self.operation, Loop) and name not in self.renamed

    @property
    def total(self) -> int:
        """How many iterations it has."""
        return prod(self.extents)

    @property
    def location(self) -> str:
        """Where it stands."""
        return self.operation.location

    @property
    def subject(self) -> str:
        """The name of the item in errors: its location, or its index if it has none."""
        noun = "loop" if isinstance(self.operation, Loop) else "operation"
        return f"the {noun} at {self.location}" if self.location else f"{noun} {self.number}"

    @property
    def has_effects(self) -> bool:
        """Whether it changes memory that threads share."""
        return any(use.access.writes for use in self.memory)


def work_item_of(
    program: Program,
    number: int,
    views: Views,
    required: Mapping[str, FragmentMap] | None,
) -> WorkItem:
    """Operation `number` as a work item, accesses to views rewritten.

    `required` are the layouts of a product's operands.
    """
    operation = program.operations[number]
    trip_count = program.trip_counts[number] if program.trip_counts else 1
    match operation:
        case Loop():
            return _loop(program, number, operation, trip_count, views)
        case Reduce():
            source = program.buffers[operation.source]
            variables = variables_of_box(len(source.shape))
            middle = (0,) if operation.keep_dims else ()
            kept = (*variables[: operation.axis], *middle, *variables[operation.axis + 1 :])
            return _whole(program, number, operation, trip_count, kept or (0,), views)
        case CumSum():
            rank = len(program.buffers[operation.source].shape)
            return _whole(program, number, operation, trip_count, variables_of_box(rank), views)
        case Gemm():
            return _product(program, number, operation, trip_count, views, required or {})


def _product(
    program: Program,
    number: int,
    gemm: Gemm,
    trip_count: int,
    views: Views,
    required: Mapping[str, FragmentMap],
) -> WorkItem:
    """A matrix product: its fragments as whole, the accumulator read and written."""
    uses: list[FragmentUse] = []
    for name in (gemm.a, gemm.b, gemm.c):
        if name in views.first:
            storage = views.storage_of(name)
            at = variables_of_box(len(storage.shape))
            kinds = (AccessKind.READ, AccessKind.WRITE) if name == gemm.c else (AccessKind.READ,)
            uses += [
                FragmentUse(Access(storage.name, at, kind, gemm.location), storage, storage.shape)
                for kind in kinds
            ]
    extents = program.buffers[gemm.c].shape
    return WorkItem(number, gemm, extents, tuple(uses), (), trip_count, None, dict(required))


def _loop(program: Program, number: int, loop: Loop, trip_count: int, views: Views) -> WorkItem:
    uses: list[FragmentUse] = []
    memory: list[MemoryUse] = []
    for access in loop.accesses:
        buffer = program.buffers[access.buffer]
        if buffer.scope is Scope.FRAGMENT:
            storage = views.storage_of(buffer.name)
            uses.append(FragmentUse(views.access(access), storage, loop.extents, loop.inner))
        elif buffer.scope in (Scope.GLOBAL, Scope.SHARED):
            memory.append(MemoryUse(access, buffer, loop.extents, loop.inner))
    names = {access.buffer for access in loop.accesses} & set(views.first)
    renamed = frozenset(views.first[name] for name in names if views.first[name] != name)
    return WorkItem(
        number, loop, loop.extents, tuple(uses), tuple(memory), trip_count, renamed=renamed
    )


def _whole(
    program: Program,
    number: int,
    operation: Reduce | CumSum,
    trip_count: int,
    indices: tuple[Number, ...],
    views: Views,
) -> WorkItem:
    """A reduction: the elements of the source are its iterations."""
    source, target = program.buffers[operation.source], program.buffers[operation.target]
    at = variables_of_box(len(source.shape))
    read = Access(source.name, at, AccessKind.READ, operation.location)
    write = Access(target.name, indices, AccessKind.WRITE, operation.location)
    uses: list[FragmentUse] = []
    memory: list[MemoryUse] = []
    combines = isinstance(operation, Reduce)
    for access, buffer in ((read, source), (write, target)):
        if buffer.scope is Scope.FRAGMENT:
            result = combines and access is write
            seen, storage = views.access(access), views.storage_of(buffer.name)
            uses.append(FragmentUse(seen, storage, source.shape, combines=result))
        else:
            memory.append(MemoryUse(access, buffer, source.shape))
    follows = views.first[source.name] if source.scope is Scope.FRAGMENT else None
    return WorkItem(
        number, operation, source.shape, tuple(uses), tuple(memory), trip_count, follows
    )
