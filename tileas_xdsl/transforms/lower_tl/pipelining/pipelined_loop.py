"""`tl.pipelined`: copies into shared memory are prefetched some iterations ahead.

A buffer has `stages` copies, of which iteration n uses number n mod `stages`.  Before the loop the
copies of the first `stages` - 1 iterations start.  Each iteration waits for its own copies, passes
a barrier, starts those of `stages` - 1 iterations later, in the stage that the iteration before has
read, and goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import FenceProxyAsyncOp
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.loops import PipelinedOp
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    i32_constant,
    index_constant,
    is_less,
    logical_and,
    multiply,
    xor,
)
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.index.thread_affine import of_scalar
from tileas_xdsl.threads.pipeline.mbarriers import next_stage
from tileas_xdsl.transforms.lower_tl.buffer_locations import SharedLocation
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State
from tileas_xdsl.transforms.lower_tl.pipelining.cp_async_prefetch import AsyncCopies
from tileas_xdsl.transforms.lower_tl.pipelining.prefetchable_copies import (
    PrefetchableCopies,
    staged_in,
)
from tileas_xdsl.transforms.lower_tl.pipelining.tma_copies import transfers_of
from tileas_xdsl.transforms.lower_tl.pipelining.tma_prefetch import BulkCopies
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
    ahead = _Prefetch(state, op, staged, upper, limits, _copies(state, op, staged))
    ahead.way.begin()
    synchronize_block(state)
    for round_ in range(stages - 1):
        number = add(e, lower, multiply(e, step, round_)) if round_ else lower
        ahead.start(number, index_constant(e, round_))
    types: list[Attribute] = [INDEX, INDEX, i32]
    variables = Block(arg_types=types).args

    def body() -> Sequence[SSAValue]:
        read, write, parity = (state.scalar(value) for value in variables)
        now = state.values[op.variable]
        number = state.scalar(op.variable)
        ahead.way.wait(read, parity)
        synchronize_block(state, is_filled_by_tma=isinstance(ahead.way, BulkCopies))
        ahead.start(add(e, number, multiply(e, step, stages - 1)), write)
        state.values[op.variable] = now
        ahead.take(read)
        for each in op.body.block.ops:
            if each not in staged.copies:
                state.lower(each)
        following, is_first = next_stage(e, read, stages)
        flips = xor(e, parity, i32_constant(e, 1))
        transposed = e.insert(arith.SelectOp(is_first, flips, parity)).result
        return [following, next_stage(e, write, stages)[0], transposed]

    carried = [index_constant(e, 0), index_constant(e, stages - 1), i32_constant(e, 0)]
    loop(state, op, (lower, upper, step), op.variable, limits, carried, body, variables)


def _copies(state: State, op: PipelinedOp, staged: PrefetchableCopies) -> AsyncCopies | BulkCopies:
    """By TMA in a loop that runs once, if all copies can go so; else by the threads."""
    is_once = isinstance(op.parent_op(), KernelOp)
    transfers = transfers_of(state, staged.copies) if is_once else None
    if transfers is None:
        return AsyncCopies(state, staged.copies, op.stages.value.data)
    return BulkCopies.of(state, op, transfers, op.stages.value.data)


def synchronize_block(state: State, *, is_filled_by_tma: bool = False) -> None:
    """Synchronise the block; the async proxy comes behind what threads have written and read."""
    if state.has_descriptors or is_filled_by_tma:
        state.e.insert(FenceProxyAsyncOp("shared::cta"))
    synchronize_agent(state.e)


@dataclass
class _Prefetch:
    """The prefetched copies of a loop."""

    state: State
    op: PipelinedOp
    staged: PrefetchableCopies
    upper: SSAValue
    limits: tuple[int, int] | None
    way: AsyncCopies | BulkCopies

    def start(self, number: SSAValue, stage: SSAValue) -> None:
        """Start the copies of an iteration, if there is such an iteration."""
        state, e = self.state, self.state.e
        if self.limits is not None:
            state.ranges[number] = self.limits
        with predicated(e, logical_and(e, is_less(e, number, self.upper), self.way.starter())):
            state.values[self.op.variable] = of_scalar(number)
            for each in self.staged.indices:
                state.lower(each)
            self.take(stage)
            self.way.start(stage)
        self.way.commit()

    def take(self, stage: SSAValue) -> None:
        """The buffers are now those of a stage."""
        for copy in self.staged.copies:
            place = self.state.places[copy.target]
            assert isinstance(place, SharedLocation)
            self.state.places[copy.target] = place.at(stage)


_TABLE: Any = {PipelinedOp: pipelined}

PIPELINED: Mapping[type[Operation], Handler] = _TABLE
"""Pipelined loops."""
