"""Cumulative sums: one thread per line, in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, f32
from xdsl.ir import Block, Operation, Region

from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.compute import CumSumOp
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.integer_ops import index_constant
from tileas_xdsl.threads.convert.element_conversion import convert_float
from tileas_xdsl.threads.index.thread_affine import of_scalar, of_table, uniform
from tileas_xdsl.threads.registers.vector_values import zero
from tileas_xdsl.transforms.lower_tl.buffer_locations import FragmentLocation, SharedLocation
from tileas_xdsl.transforms.lower_tl.buffers import row_major
from tileas_xdsl.transforms.lower_tl.loops.iteration_assignment import ThreadIterations
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState
from tileas_xdsl.transforms.lower_tl.loops.thread_iterations import spread
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State
from tileas_xdsl.transforms.lower_tl.memory import vectorized_access as memory
from tileas_xdsl.transforms.lower_tl.memory.fragment_exchange import (
    scratch_offset,
    spilled,
    stored,
    taken,
)


def cumsum(state: State, op: CumSumOp) -> None:
    """Lower a cumulative sum; a fragment goes through shared memory, where lines are whole."""
    source, target = state.locations[op.source], state.locations[op.target]
    if isinstance(source, FragmentLocation):
        source = spilled(state, op, source)
        into = source if isinstance(target, FragmentLocation) else target
    else:
        into = _scratch_for(state, op, target) if isinstance(target, FragmentLocation) else target
    assert isinstance(source, SharedLocation)
    assert isinstance(into, SharedLocation)
    for work in _works(state, into.shape, op.axis.value.data):
        _line(work, op, source, into)
    if isinstance(target, FragmentLocation):
        synchronize_agent(state.e)
        state.hold(target, taken(state, op, into, target))


def _scratch_for(state: State, op: CumSumOp, target: FragmentLocation) -> SharedLocation:
    """Allocate a shared-memory buffer for a result that is a fragment."""
    shape, (kept, size) = target.layout.shape, stored(target.element)
    offset = scratch_offset(state, op, prod(shape) * size, "sums")
    return SharedLocation(offset, shape, row_major(shape, size), kept)


def _works(state: State, shape: tuple[int, ...], axis: int) -> Iterator[LoopBodyState]:
    """The lines of a buffer dealt out to threads, one for each thread at a time."""
    kept = (*shape[:axis], *shape[axis + 1 :])
    whole = ThreadIterations.of(spread((prod(kept),), state.threads, 1))
    for k in range(whole.count):
        lines = whole.iterations[:, k : k + 1]
        yield LoopBodyState(
            state, ThreadIterations(kept, lines, whole.first[:, k : k + 1], whole.digits)
        )


def _line(work: LoopBodyState, op: CumSumOp, source: SharedLocation, into: SharedLocation) -> None:
    """The elements of a line, one after another."""
    state, e = work.state, work.e
    axis, element = op.axis.value.data, source.element
    extent = source.shape[axis]
    wide = f32 if isinstance(element, AnyFloat) and bits_of(element) < WORD_BITS else element
    block = Block(arg_types=[IndexType(), wide])
    number, before = block.args
    state.ranges[number] = (0, extent - 1)
    along = of_scalar(number)
    if op.reverse is not None:
        along = uniform(extent - 1).plus(along.times(-1))
    indices = [of_table(table) for table in work.iterations.coordinates]
    indices.insert(axis, along)
    with e.within(block):
        value = memory.load(memory.Access.of(work, op, source, indices, work.active))
        add = arith.AddfOp if isinstance(wide, AnyFloat) else arith.AddiOp
        total = e.insert(add(before, convert_float(e, value, wide))).result
        sums = memory.Access.of(work, op, into, indices, work.active)
        memory.store(sums, convert_float(e, total, element))
        e.insert(scf.YieldOp(total))
    bounds = index_constant(e, 0), index_constant(e, extent), index_constant(e, 1)
    e.insert(scf.ForOp(*bounds, [zero(e, wide)], Region(block)))


_TABLE: Any = {CumSumOp: cumsum}

SCANS: Mapping[type[Operation], Handler] = _TABLE
"""Handlers of cumulative sums."""
