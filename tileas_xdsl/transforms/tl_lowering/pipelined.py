"""`tl.pipelined`: copies into shared memory run rounds ahead of what reads them.

A buffer has `stages` places, of which round n uses number n mod `stages`.  Before the loop the
copies of the first `stages` - 1 rounds start.  Each round waits for its own copies, meets, starts
those of `stages` - 1 rounds later, in the place that the round before has read, and goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.dialects.cute_nvgpu import CpAsyncCommitOp, CpAsyncWaitOp, FenceProxyAsyncOp
from tileas_xdsl.dialects.tl.loops import PipelinedOp
from tileas_xdsl.transforms.tl_lowering import ahead
from tileas_xdsl.transforms.tl_lowering.control import (
    INDEX,
    loop,
    range_of,
    register_picks,
    serial,
)
from tileas_xdsl.transforms.tl_lowering.places import SharedPlace
from tileas_xdsl.transforms.tl_lowering.staging import Staged, staged_in
from tileas_xdsl.transforms.tl_lowering.state import Handler, State
from tileas_xdsl.transforms.tl_lowering.sums import Sum


def pipelined(state: State, op: PipelinedOp) -> None:
    """Rounds, with copies ahead where there are some; else as `tl.serial`."""
    staged = staged_in(op)
    if not staged.copies or register_picks(op.variable):
        serial(state, op)
        return
    e, stages = state.e, op.stages.value.data
    lower, upper = state.scalar(op.lower), state.scalar(op.upper)
    step = e.index(1) if op.step is None else state.scalar(op.step)
    limits = range_of(state, op.lower, op.upper)
    meet(state)
    for round_ in range(stages - 1):
        number = e.add(lower, e.multiply(step, round_)) if round_ else lower
        _start(state, op, staged, number, upper, e.index(round_), limits)
    variables = Block(arg_types=[INDEX, INDEX]).args

    def body() -> Sequence[SSAValue]:
        read, write = (state.scalar(value) for value in variables)
        now = state.values[op.variable]
        number = state.scalar(op.variable)
        e.insert(CpAsyncWaitOp(stages - 2))
        meet(state)
        later = e.add(number, e.multiply(step, stages - 1))
        _start(state, op, staged, later, upper, write, limits)
        state.values[op.variable] = now
        _take(state, staged, read)
        for each in op.body.block.ops:
            if each not in staged.copies:
                state.lower(each)
        return [_next(state, read, stages), _next(state, write, stages)]

    carried = [e.index(0), e.index(stages - 1)]
    bounds = (lower, upper, step)
    loop(state, op, bounds, op.variable, limits, carried, body, variables)


def meet(state: State) -> None:
    """All threads wait for one another; descriptors see what they have written."""
    if state.has_descriptors:
        state.e.insert(FenceProxyAsyncOp("shared::cta"))
    state.e.meet()


def _start(
    state: State,
    op: PipelinedOp,
    staged: Staged,
    number: SSAValue,
    upper: SSAValue,
    stage: SSAValue,
    limits: tuple[int, int] | None,
) -> None:
    """Start the copies of a round, if there is such a round, as a group of its own."""
    e = state.e
    if limits is not None:
        state.ranges[number] = limits
    with e.only(e.is_less(number, upper)):
        state.values[op.variable] = Sum.scalar(number)
        for each in staged.indices:
            state.lower(each)
        _take(state, staged, stage)
        for copy in staged.copies:
            outer, e.source = e.source, copy
            ahead.start(state, copy)
            e.source = outer
    e.insert(CpAsyncCommitOp())


def _take(state: State, staged: Staged, stage: SSAValue) -> None:
    """The buffers are now those of a stage."""
    for copy in staged.copies:
        place = state.places[copy.target]
        assert isinstance(place, SharedPlace)
        state.places[copy.target] = place.at(stage)


def _next(state: State, stage: SSAValue, stages: int) -> SSAValue:
    e = state.e
    following = e.add(stage, 1)
    is_last = e.is_equal(following, stages)
    return e.insert(arith.SelectOp(is_last, e.index(0), following)).result


_TABLE: Any = {PipelinedOp: pipelined}

PIPELINED: Mapping[type[Operation], Handler] = _TABLE
"""Pipelined loops."""
