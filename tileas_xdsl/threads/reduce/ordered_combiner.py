"""The body of a reduction or a scan on scalars, with the order of operands kept.

Each thread has runs of adjacent elements of a line (`AxisSplit`), so that neighbours combine:

    elements     a b | c d | e f | g h         of lanes 0 to 3
    run          ab    cd    ef    gh          within a thread
    exchanged    abcd        efgh              with the lane at distance 1, then 2, ...
    leave        one row for each warp, in shared memory; left_by reads them in order
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from tileas_xdsl.analysis.layouts.axis_layouts import AxisSplit
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    divide,
    i32_constant,
    is_less,
    logical_and,
    modulo,
    multiply,
)
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile, Scalar
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.codegen.warp_shuffle import across, of_lane
from tileas_xdsl.threads.convert.element_conversion import CARRIERS, storage_type
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element
from tileas_xdsl.threads.smem.scratch_buffer import Scratch, scratch

Row: TypeAlias = Sequence[SSAValue]
"""One scalar of each tile that is combined."""


@dataclass(frozen=True)
class OrderedCombiner:
    """An order-preserving reduction or scan, as code of an agent's threads."""

    e: ThreadBuilder
    op: ReduceOp | ScanOp
    split: AxisSplit
    tiles: Sequence[RegisterTile]

    @staticmethod
    def of(e: ThreadBuilder, op: ReduceOp | ScanOp) -> OrderedCombiner:
        """Return the combiner of an operation, its tiles in the layout that it combines in."""
        shape = tuple(op.source.type.get_shape())
        e.tiles.layout(op, shape, e.agent)
        split = AxisSplit.of(shape, op.axis.value.data, e.agent.warps)
        tiles = [in_registers(e, op, source, split.layout) for source in op.sources]
        return OrderedCombiner(e, op, split, tiles)

    def run(self, line: int) -> list[Row]:
        """Combine the adjacent elements that a thread has of one of its lines."""
        run, size = self.split.run, vectors_of(self.split.layout).length
        positions = [divmod(line * run + k, size) for k in range(run)]
        return [
            [element(self.e, tile.parts[part], position) for tile in self.tiles]
            for part, position in positions
        ]

    def combine(self, first: Row, second: Row) -> Row:
        """Emit the body for an earlier and a later operand."""
        e, block = self.e, self.op.body.block
        e.values.update(zip(block.args, map(Scalar, (*first, *second)), strict=True))
        last = block.last_op
        assert last is not None
        for inner in block.ops:
            if inner is not last:
                e.lower(inner)
        return [e.scalar(value) for value in last.operands]

    def all_of(self, rows: Sequence[Row]) -> Row:
        """Combine adjacent rows in pairs until one is left."""
        left = list(rows)
        while len(left) > 1:
            pairs = [self.combine(left[k], left[k + 1]) for k in range(0, len(left) - 1, 2)]
            left = [*pairs, *left[len(left) // 2 * 2 :]]
        return left[0]

    def chosen(self, condition: SSAValue, first: Row, second: Row) -> Row:
        """The first row where a condition holds, else the second."""
        pairs = zip(first, second, strict=True)
        return [self.e.insert(selection(condition, a, b)).result for a, b in pairs]

    def lane_along(self) -> SSAValue:
        """Return the index of the lane along its line."""
        return self._along(lane_id(self.e), self.split.line_lanes, self.split.lanes)

    def warp_along(self) -> SSAValue:
        """Return the index of the warp along its line."""
        return self._along(warp_id(self.e), self.split.line_warps, self.split.warps)

    def _along(self, number: SSAValue, step: int, extent: int) -> SSAValue:
        return modulo(self.e, divide(self.e, number, step), extent)

    def exchanged(self, row: Row, distance: int) -> Row:
        """Return the row of the lane whose id differs in the bits of `distance`."""
        return [across(self.e, value, distance) for value in row]

    def of_lane(self, row: Row, lane: SSAValue) -> Row:
        """The row of a lane."""
        return [of_lane(self.e, value, lane) for value in row]

    # between warps

    def scratch_buffers(self) -> Sequence[Scratch]:
        """Allocate scratch for one row per warp and line, by tile."""
        count = self.split.warps * self.split.all_lines
        return [
            scratch(self.e, self.op, count, storage_type(t))
            for t in (tile.element for tile in self.tiles)
        ]

    def leave(
        self, scratch_buffers: Sequence[Scratch], line: int, row: Row, last: SSAValue | None
    ) -> None:
        """Store a row where all warps can read it, in the lane with `last`."""
        e = self.e
        guard = logical_and(e, last, self._holds_first())
        slot = add(e, multiply(e, self.warp_along(), self.split.all_lines), self._line(line))
        for buffer, value, tile in zip(scratch_buffers, row, self.tiles, strict=True):
            carrier = CARRIERS.get(tile.element)
            if carrier is not None:
                value = e.insert(carrier.there(value, carrier.type)).result
            e.insert(StoreOp(value, advance(e, buffer.pointer, slot), guard))

    def left_by(self, scratch_buffers: Sequence[Scratch], line: int, warp: int) -> Row:
        """Load the row that a warp along the line has stored."""
        e, found = self.e, list[SSAValue]()
        slot = add(e, self._line(line), warp * self.split.all_lines)
        for buffer, tile in zip(scratch_buffers, self.tiles, strict=True):
            value = e.insert(LoadOp(advance(e, buffer.pointer, slot), buffer.element)).result
            carrier = CARRIERS.get(tile.element)
            if carrier is not None:
                value = e.insert(carrier.back(value, tile.element)).result
            found.append(value)
        return found

    def _line(self, line: int) -> SSAValue:
        """Return the index of one of a thread's lines."""
        e, split = self.e, self.split
        warp = (
            modulo(e, warp_id(e), split.line_warps) if split.line_warps > 1 else i32_constant(e, 0)
        )
        lane = (
            modulo(e, lane_id(e), split.line_lanes) if split.line_lanes > 1 else i32_constant(e, 0)
        )
        number = add(e, multiply(e, warp, split.line_lanes), lane)
        return add(e, number, line * split.line_lanes * split.line_warps)

    def _holds_first(self) -> SSAValue | None:
        """Return an `i1`: this thread is the first replica of its elements; None if all are."""
        e, split = self.e, self.split
        lanes, warps = split.lanes * split.line_lanes, split.warps * split.line_warps
        lane = None if lanes == WARP else is_less(e, lane_id(e), i32_constant(e, lanes))
        warp = None if warps == e.agent.warps else is_less(e, warp_id(e), i32_constant(e, warps))
        return logical_and(e, lane, warp)
