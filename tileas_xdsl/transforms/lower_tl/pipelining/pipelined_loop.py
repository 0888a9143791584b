"""`tl.pipelined`: copies into shared memory are prefetched some iterations ahead.

A buffer has `stages` copies, of which iteration n uses number n mod `stages`.  Before the loop the
copies of the first `stages` - 1 iterations start.  Each iteration waits for its own copies, passes
a barrier, starts those of `stages` - 1 iterations later, in the stage that the iteration before has
read, and goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import CpAsyncCommitOp, CpAsyncWaitOp
from tileas_xdsl.dialects.tl.loops import PipelinedOp
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    index_constant,
    is_less,
    multiply,
)
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.index.thread_affine import of_scalar
from tileas_xdsl.threads.pipeline.mbarriers import next_stage
from tileas_xdsl.transforms.lower_tl.buffer_locations import SharedLocation
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State
from tileas_xdsl.transforms.lower_tl.pipelining.cp_async_prefetch import start
from tileas_xdsl.transforms.lower_tl.pipelining.prefetchable_copies import (
    PrefetchableCopies,
    staged_in,
)
from tileas_xdsl.transforms.lower_tl.structured_control_flow import (
    INDEX,
    loop,
    range_of,
    register_picks,
    serial,
)


def pipelined(state: State, op: PipelinedOp) -> None:
    """Lower a loop with prefetched copies where there are some; else as `tl.serial`."""
    staged = staged_in(op)
    if not staged.copies or register_picks(op.variable):
        serial(state, op)
        return
    e, stages = state.e, op.stages.value.data
    lower, upper = state.scalar(op.lower), state.scalar(op.upper)
    step = index_constant(e, 1) if op.step is None else state.scalar(op.step)
    limits = range_of(state, op.lower, op.upper)
    ahead = _Prefetch(state, op, staged, upper, limits)
    synchronize_agent(e)
    for round_ in range(stages - 1):
        number = add(e, lower, multiply(e, step, round_)) if round_ else lower
        ahead.start(number, index_constant(e, round_))
    types: list[Attribute] = [INDEX, INDEX]
    variables = Block(arg_types=types).args

    def body() -> Sequence[SSAValue]:
        read, write = (state.scalar(value) for value in variables)
        now = state.values[op.variable]
        number = state.scalar(op.variable)
        e.insert(CpAsyncWaitOp(stages - 2))
        synchronize_agent(e)
        ahead.start(add(e, number, multiply(e, step, stages - 1)), write)
        state.values[op.variable] = now
        ahead.take(read)
        for each in op.body.block.ops:
            if each not in staged.copies:
                state.lower(each)
        return [next_stage(e, stage, stages)[0] for stage in (read, write)]

    carried = [index_constant(e, 0), index_constant(e, stages - 1)]
    loop(state, op, (lower, upper, step), op.variable, limits, carried, body, variables)


@dataclass
class _Prefetch:
    """The prefetched copies of a loop."""

    state: State
    op: PipelinedOp
    staged: PrefetchableCopies
    upper: SSAValue
    limits: tuple[int, int] | None

    def start(self, number: SSAValue, stage: SSAValue) -> None:
        """Start the copies of an iteration, if there is such an iteration.

        They are a group of `cp.async`, an empty one behind the last iteration.
        """
        state, e = self.state, self.state.e
        if self.limits is not None:
            state.ranges[number] = self.limits
        with predicated(e, is_less(e, number, self.upper)):
            state.values[self.op.variable] = of_scalar(number)
            for each in self.staged.indices:
                state.lower(each)
            self.take(stage)
            for copy in self.staged.copies:
                outer, e.source = e.source, copy
                start(state, copy)
                e.source = outer
        e.insert(CpAsyncCommitOp())

    def take(self, stage: SSAValue) -> None:
        """The buffers are now those of a stage."""
        for copy in self.staged.copies:
            location = self.state.locations[copy.target]
            assert isinstance(location, SharedLocation)
            self.state.locations[copy.target] = location.at(stage)


_TABLE: Any = {PipelinedOp: pipelined}

PIPELINED: Mapping[type[Operation], Handler] = _TABLE
"""Pipelined loops."""
