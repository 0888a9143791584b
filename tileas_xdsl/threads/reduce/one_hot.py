"""Reductions of which each line has one element that counts: its owner hands it to the others.

    layout  (8,32):(1@value,1@thread), axis 1, position %k
    each of 8 rows: shfl.idx from lane %k            a sum takes 5 shuffles and additions

Where warps share lines, the one with the position stores its elements, and all load them: one for
each line, not one for each warp.  A position outside of the tile has an owner, too, whose element
is what all others are.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.values.one_hot import OneHot, Position
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.layout.registers.row_values import line_digits
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    divide,
    i32_constant,
    logical_and,
    modulo,
    multiply,
)
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import lane_id
from tileas_xdsl.threads.codegen.warp_shuffle import of_lane
from tileas_xdsl.threads.index.per_thread_tables import holds, number_of
from tileas_xdsl.threads.reduce.axis_reduce import fragment_of_rows
from tileas_xdsl.threads.reduce.combiner import Combiner
from tileas_xdsl.threads.reduce.spread_lines import (
    SpreadLines,
    first_of_groups,
    groups,
    registers_of_lines,
)
from tileas_xdsl.threads.smem.scratch_buffer import scratch


def choose_lines(
    c: Combiner, op: Operation, tile: RegisterTile, spread: SpreadLines, hot: OneHot
) -> RegisterTile:
    """Return the element of each line at the position, in all threads that share the line."""
    e = c.e
    values = [c.all_of(line) for line in registers_of_lines(c, tile, spread)]
    position = _as_word(e, hot.position)
    if spread.lanes:
        lane = _owner_lane(e, spread, position)
        values = [of_lane(e, value, lane) for value in values]
    if spread.warps:
        values = _from_owner_warp(c, op, spread, values, position)
    if len(spread.registers[0]) == 1 and (spread.lanes or spread.warps):
        # What the others are counts once: the sum of -0.0 and 0.0 is 0.0.
        other = c.widened(e.insert(arith.ConstantOp(hot.other)).result)
        values = [c.combine(value, other) for value in values]
    return fragment_of_rows(e, tile, spread.values, [c.narrowed(value) for value in values])


def _as_word(e: ThreadBuilder, position: Position) -> SSAValue:
    """Return the low 32 bits of a position: digits of it below the extent of the axis matter."""
    if isinstance(position, int):
        return i32_constant(e, position)
    return cast_index(e, e.scalar(position), i32)


def _owner_lane(e: ThreadBuilder, spread: SpreadLines, position: SSAValue) -> SSAValue:
    """Return the lane of the position among those that share this thread's lines."""
    others = WARP - 1 - sum(spread.lanes)
    own = e.insert(arith.AndIOp(lane_id(e), i32_constant(e, others))).result if others else None
    digits = [d for d in line_digits(spread.source.layout, spread.axis) if d[2] < WARP]
    lane = own
    for before, extent, step in digits:
        digit = modulo(e, divide(e, position, before), min(extent, WARP // step))
        part = multiply(e, digit, step)
        lane = part if lane is None else add(e, lane, part)
    assert lane is not None
    return lane


def _owner_group(e: ThreadBuilder, spread: SpreadLines, position: SSAValue) -> SSAValue:
    """Return the number of the warp of the position among those that share lines."""
    group: SSAValue | None = None
    for before, extent, step in line_digits(spread.source.layout, spread.axis):
        for bit in range(extent.bit_length() - 1):
            if (distance := step << bit) < WARP:
                continue
            found = modulo(e, divide(e, position, before << bit), 2)
            part = multiply(e, found, 1 << list(spread.warps).index(distance))
            group = part if group is None else add(e, group, part)
    assert group is not None
    return group


def _from_owner_warp(
    c: Combiner,
    op: Operation,
    spread: SpreadLines,
    values: Sequence[SSAValue],
    position: SSAValue,
) -> list[SSAValue]:
    """Hand the elements of the warp that has the position to the others, through shared memory."""
    e = c.e
    buffer = scratch(e, op, spread.values.elements, c.wide)
    own, owner = number_of(e, groups(spread)), _owner_group(e, spread, position)
    is_owner = e.insert(arith.CmpiOp(own, owner, "eq")).result
    first = holds(e, first_of_groups(spread), spread.values.thread_digits)
    stores = logical_and(e, is_owner, first)
    slots = [advance(e, buffer.pointer, spread.line(e, k)) for k in range(len(values))]
    for slot, value in zip(slots, values, strict=True):
        e.insert(StoreOp(value, slot, stores))
    synchronize_agent(e)
    return [e.insert(LoadOp(slot, buffer.element)).result for slot in slots]
