"""Row reductions of MMA accumulators, in the registers where the instruction left them.

Each thread combines its elements of a row, then the lanes that share the row exchange partial
results by shuffles, then warps through shared memory.  All other tiles take `warp_reduce`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.layout.register_layout import LANES, RegisterLayout
from tileas_xdsl.layout.row_values import row_sharers, row_values
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    divide,
    i32_constant,
    is_equal,
    logical_and,
    modulo,
    multiply,
)
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.index.per_thread_tables import Table, number_of
from tileas_xdsl.threads.reduce.combiner import Combiner
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element, filled
from tileas_xdsl.threads.smem.scratch_buffer import scratch


@dataclass(frozen=True)
class Spread:
    """A matrix in accumulator registers, and its rows."""

    source: RegisterLayout
    values: RegisterLayout
    lanes: Sequence[int]
    """The xor distances of lanes that share a row."""
    warps: Sequence[int]
    """The xor distances of warps that share a row, in threads."""

    @staticmethod
    def of(layout: RegisterLayout) -> Spread | None:
        """None where threads have no whole pieces of the same rows, as many of each."""
        rows = row_values(layout.layout)
        if rows is None:
            return None
        sharers = row_sharers(layout.layout)
        if any(step & (step - 1) or extent & (extent - 1) for extent, step in sharers):
            return None
        apart = [step << bit for extent, step in sharers for bit in range(extent.bit_length() - 1)]
        lanes = [distance for distance in apart if distance < LANES]
        warps = [distance for distance in apart if distance >= LANES]
        values = RegisterLayout(rows, layout.shape[:1], layout.threads)
        spread = Spread(layout, values, lanes, warps)
        return spread if spread.is_whole else None

    @cached_property
    def is_whole(self) -> bool:
        """Return whether all threads hold the same number of elements of every row they have."""
        rows, columns = self.source.shape
        share = columns >> (len(self.lanes) + len(self.warps))
        everywhere = (self.source.held >= 0).all() and (self._rows >= 0).all()
        return bool(everywhere) and rows > 0 and all(len(r) == share for r in self.registers)

    @property
    def _rows(self) -> Table:
        """`(threads, rows of a thread)`: the row that each value is of."""
        return self.values.held

    @cached_property
    def registers(self) -> Sequence[Sequence[int]]:
        """By the number of a value, the registers that are combined in it."""
        rows = self.source.held % self.source.shape[0]
        return [
            [k for k in range(rows.shape[1]) if (rows[:, k] == self._rows[:, value]).all()]
            for value in range(self._rows.shape[1])
        ]

    def row(self, e: ThreadBuilder, value: int) -> SSAValue:
        """The row that a value of this thread is of, `i32`."""
        return number_of(e, self._rows[:, value], self.values.thread_digits)


def reduce_spread_rows(
    c: Combiner, op: Operation, tile: RegisterTile, spread: Spread
) -> RegisterTile:
    part = c.widened(tile.parts[0])
    values: list[SSAValue] = []
    for registers in spread.registers:
        value = c.all_of([element(c.e, part, k) for k in registers])
        for distance in spread.lanes:
            value = c.across(value, distance)
        values.append(value)
    if spread.warps:
        values = _between_warps(c, op, values, spread)
    narrow = {k: c.narrowed(value) for k, value in enumerate(values)}
    part = filled(c.e, narrow, vectors_of(spread.values).length, c.element)
    return RegisterTile(spread.values, c.element, (part,))


def _between_warps(
    c: Combiner, op: Operation, values: Sequence[SSAValue], spread: Spread
) -> list[SSAValue]:
    """Combine over the warps that share rows, through one line of shared memory per warp."""
    e, height = c.e, spread.source.shape[0]
    count = 1 << len(spread.warps)
    room = scratch(e, op, count * height, c.wide)
    line = i32_constant(e, 0)
    for k, distance in enumerate(spread.warps):
        bit = modulo(e, divide(e, warp_id(e), distance // LANES), 2)
        line = add(e, line, multiply(e, bit, 1 << k))
    first = None
    for distance in spread.lanes:
        is_lower = is_equal(e, modulo(e, divide(e, lane_id(e), distance), 2), 0)
        first = logical_and(e, first, is_lower)
    rows = [spread.row(e, value) for value in range(len(values))]
    for row, value in zip(rows, values, strict=True):
        place = add(e, multiply(e, line, height), row)
        e.insert(StoreOp(value, advance(e, room.pointer, place), first))
    synchronize_agent(e)
    return [
        c.all_of(
            [
                e.insert(LoadOp(advance(e, room.pointer, row), c.wide, offset=k * height)).result
                for k in range(count)
            ]
        )
        for row in rows
    ]
