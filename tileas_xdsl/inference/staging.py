"""Make staging explicit: copies of fragments through shared memory, as loops of the program.

Where no layout serves both a loop and a fragment that it accesses, inference decides to stage the
fragment: the loop accesses a copy in shared memory, where any thread reaches any element. Lowering
knows no staging, so it becomes ordinary loops:

    loop: y[i] = f[perm[i]]             copy f -> f'      (owners of f store)
    (f staged for it)             ->    loop: y[i] = f'[perm[i]]
                                        copy f' -> f      only if the loop writes f

Operations after are renumbered. A copy to shared memory is done by one replica; the copy back by
all, since every replica has registers to update.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from tileas_xdsl.inference.decisions import Decisions, LoopDecision, Staging
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import (
    Access,
    AccessKind,
    Buffer,
    Loop,
    LoopKind,
    Operation,
    Program,
    Scope,
)
from tileas_xdsl.layout.expr.expression import dimension
from tileas_xdsl.layout.layout import Layout


def spelled_out(program: Program, decisions: Decisions) -> tuple[Program, Decisions]:
    """Expand stagings into explicit buffers and loops, in program and decisions.

    Operations after a staged one are renumbered.
    """
    if not decisions.staged:
        return program, decisions
    buffers = dict(program.buffers)
    operations: list[Operation] = []
    trip_counts: list[int] = []
    loops: dict[int, LoopDecision] = {}
    numbers: dict[int, int] = {}
    for index, operation in enumerate(program.operations):
        staged = [one for one in decisions.staged if one.operation == index]
        for one in staged:
            buffers[name_of(one)] = _copy_of(one, program)
        rewritten = _staged(operation, staged)
        for is_center, each, decision in _around(program, decisions, index, rewritten, staged):
            if is_center:
                numbers[index] = len(operations)
            if decision is not None:
                loops[len(operations)] = decision
            operations.append(each)
            trip_counts.append(program.trip_counts[index] if program.trip_counts else 1)
    conversions = tuple(
        replace(one, operation=numbers[one.operation]) for one in decisions.conversions
    )
    return (
        replace(
            program, buffers=buffers, operations=tuple(operations), trip_counts=tuple(trip_counts)
        ),
        replace(decisions, loops=loops, conversions=conversions, staged=()),
    )


def name_of(staging: Staging) -> str:
    """Return the name of the copy in shared memory."""
    return f"{staging.buffer} staged for {staging.operation}"


def row_major(buffer: Buffer) -> Layout:
    """Return the row-major layout of a buffer, in bytes."""
    size = max(1, buffer.bits // 8)
    strides = [prod(buffer.shape[k + 1 :]) * size for k in range(len(buffer.shape))]
    return Layout(tuple(buffer.shape), tuple(strides))


def changes(operation: Operation, buffer: str) -> bool:
    """Whether a loop writes elements of a buffer, which must then be copied back."""
    return isinstance(operation, Loop) and any(
        access.buffer == buffer and access.kind is not AccessKind.READ
        for access in operation.accesses
    )


def copy_decision(layout: FragmentMap) -> LoopDecision:
    """Return the decision of a loop that copies a whole fragment, each element by its owners."""
    busy = (layout.held >= 0).any(axis=1)
    owners = np.sort(layout.thread_table.reshape(layout.replicas, -1), axis=0)
    is_copied = bool((owners[1:] != owners[:-1]).any())
    return LoopDecision(layout, 1, is_copied, bool((layout.held[busy] < 0).any()))


def _copy_of(staging: Staging, program: Program) -> Buffer:
    source = program.buffers[staging.buffer]
    return replace(source, name=name_of(staging), scope=Scope.SHARED, storage="")


def _staged(operation: Operation, staged: Sequence[Staging]) -> Operation:
    if not isinstance(operation, Loop) or not staged:
        return operation
    names = {one.buffer: name_of(one) for one in staged}
    accesses = tuple(
        replace(access, buffer=names.get(access.buffer, access.buffer))
        for access in operation.accesses
    )
    return replace(operation, accesses=accesses)


def _around(
    program: Program,
    decisions: Decisions,
    number: int,
    rewritten: Operation,
    staged: Sequence[Staging],
) -> Iterator[tuple[bool, Operation, LoopDecision | None]]:
    """Yield the copies before an operation, the operation itself (True), and those after it."""
    for one in staged:
        layout = decisions.fragments[one.buffer]
        yield False, _copy(program, one.buffer, name_of(one)), copy_decision(layout)
    yield True, rewritten, decisions.loops.get(number)
    for one in staged:
        if changes(program.operations[number], one.buffer):
            layout = decisions.fragments[one.buffer]
            yield False, _copy(program, name_of(one), one.buffer), _undone(copy_decision(layout))


def _undone(decision: LoopDecision) -> LoopDecision:
    """Return the decision of the copy back: every replica of an element is written."""
    return replace(decision, runs_once=False)


def _copy(program: Program, source: str, target: str) -> Loop:
    name = source if source in program.buffers else target
    shape = program.buffers[name].shape
    here = tuple(dimension(k) for k in range(len(shape)))
    location = program.buffers[name].location
    accesses = (
        Access(source, here, AccessKind.READ, location),
        Access(target, here, AccessKind.WRITE, location),
    )
    return Loop(shape, accesses, LoopKind.COPY, location=location)
