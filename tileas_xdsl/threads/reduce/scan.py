"""Scans along any dimension, of several tiles, by any body, forward or from the last element.

Each thread scans the neighbours that it has; what is before them, in lanes and in warps, is
combined with all of them afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    i32_constant,
    is_equal,
    is_less,
    modulo,
    subtract,
)
from tileas_xdsl.threads.codegen.thread_ids import lane_id
from tileas_xdsl.threads.reduce.ordered_combiner import OrderedCombiner, Row
from tileas_xdsl.threads.smem.scratch_buffer import Scratch


def scan_in_thread(work: OrderedCombiner, run: Sequence[Row], backward: bool) -> list[Row]:
    """The running combinations of neighbours, in the order of the scan."""
    first, *others = reversed(run) if backward else run
    found = [first]
    for row in others:
        found.append(work.combine(found[-1], row))
    return found


class ExclusivePrefix:
    """The exclusive prefix of a thread's elements."""

    def __init__(self, work: OrderedCombiner, backward: bool) -> None:
        self.work = work
        self.backward = backward
        e, split = work.e, work.split
        self.lane = self._in_order(work.lane_along(), split.lanes) if split.lanes > 1 else None
        self.warp = self._in_order(work.warp_along(), split.warps) if split.warps > 1 else None
        self.has_lane = None if self.lane is None else is_less(e, i32_constant(e, 0), self.lane)
        self.has_warp = None if self.warp is None else is_less(e, i32_constant(e, 0), self.warp)

    def _in_order(self, number: SSAValue, count: int) -> SSAValue:
        e = self.work.e
        return subtract(e, i32_constant(e, count - 1), number) if self.backward else number

    def of_lanes(self, total: Row) -> tuple[Row, Row | None]:
        """The total up to this lane, itself included, and that of the lanes before."""
        work, e, split = self.work, self.work.e, self.work.split
        if self.lane is None:
            return total, None
        distance = 1
        while distance < split.lanes:
            other = work.of_lane(total, self._earlier(distance * split.line_lanes))
            reaches = is_less(e, i32_constant(e, distance - 1), self.lane)
            total = work.chosen(reaches, work.combine(other, total), total)
            distance *= 2
        return total, work.of_lane(total, self._earlier(split.line_lanes))

    def _earlier(self, distance: int) -> SSAValue:
        """The number of a lane that comes before; any where there is none."""
        e = self.work.e
        moved = add(e, lane_id(e), distance if self.backward else -distance)
        return modulo(e, moved, 32)

    def of_warps(self, totals: Sequence[Row]) -> list[Row | None]:
        """By line, the total of the warps before this one."""
        work, e, split = self.work, self.work.e, self.work.split
        if self.warp is None:
            return [None] * len(totals)
        scratch_buffers = work.scratch_buffers()
        last = None if self.lane is None else is_equal(e, self.lane, split.lanes - 1)
        for line, row in enumerate(totals):
            work.leave(scratch_buffers, line, row, last)
        synchronize_agent(e)
        return [self._of_earlier_warps(scratch_buffers, line) for line in range(len(totals))]

    def _of_earlier_warps(self, scratch_buffers: Sequence[Scratch], line: int) -> Row:
        work, e = self.work, self.work.e
        assert self.warp is not None
        order = list(range(work.split.warps))
        if self.backward:
            order.reverse()
        running = found = work.left_by(scratch_buffers, line, order[0])
        for position, warp in enumerate(order[1:-1], 2):
            running = work.combine(running, work.left_by(scratch_buffers, line, warp))
            found = work.chosen(is_equal(e, self.warp, position), running, found)
        return found

    def behind(self, run: Sequence[Row], lane: Row | None, warp: Row | None) -> list[Row]:
        """The running combinations of a thread behind all that comes before."""
        work, has = self.work, self.has_lane
        prefix = lane
        if warp is not None:
            prefix, has = warp, self.has_warp
        if lane is not None and warp is not None:
            assert self.has_lane is not None
            assert self.has_warp is not None
            both = work.chosen(self.has_warp, work.combine(warp, lane), lane)
            prefix = work.chosen(self.has_lane, both, warp)
            has = work.e.insert(arith.OrIOp(self.has_lane, self.has_warp)).result
        if prefix is None or has is None:
            return list(run)
        return [work.chosen(has, work.combine(prefix, row), row) for row in run]
