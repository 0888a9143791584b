"""Bulk groups of a thread: `cp.async.bulk.commit_group` and `.wait_group`."""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import GLOBAL_WRITES, AsyncEvent
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, lane_list
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Operation
from tileas_xdsl.layout.units import WARP


@dataclass(slots=True)
class BulkCopy:
    """A bulk copy that reads shared memory and belongs to a bulk group."""

    operation: Operation
    started: AsyncEvent | None
    written: AsyncEvent | None
    """Its write to global memory, which `wait_group.read` does not wait for."""


def add(f: ConvergenceGroup, lane: int, copy: BulkCopy) -> None:
    """Add a copy of a lane to its open group."""
    f.warpgroup.bulk_open.setdefault(lane, []).append(copy)


def start_write(
    f: ConvergenceGroup, lane: int, starts: Array, size: int, *, atomic: bool
) -> AsyncEvent | None:
    """Start and check the writes of a bulk copy to rows of `size` bytes of global memory."""
    cluster, warp = f.warpgroup.cta.cluster, f.warpgroup.agent(lane)
    if cluster.checker is None or cluster.races is None:
        return None
    written = cluster.checker.clocks.start_copy(warp, f.pc, GLOBAL_WRITES)
    if atomic:
        cluster.races.reduce_rows(starts, size, written, warp, f.pc)
    else:
        cluster.races.copy_rows(starts, size, written, warp, f.pc, write=True)
    return written


def commit(f: ConvergenceGroup) -> None:
    """Execute `cp.async.bulk.commit_group` in each lane."""
    warpgroup = f.warpgroup
    for lane in lane_list(f.mask):
        group = warpgroup.bulk_open.pop(lane, [])
        if group or lane in warpgroup.bulk_groups:
            warpgroup.bulk_groups.setdefault(lane, []).append(group)


def wait(f: ConvergenceGroup, newest: int, *, only_read: bool) -> None:
    """Execute `cp.async.bulk.wait_group`: complete all but the `newest` groups of each lane.

    With `.read` the writes to global memory stay in flight (`only_read`), for a wait without it
    that comes later.
    """
    warpgroup = f.warpgroup
    for lane in [lane for lane in warpgroup.bulk_groups if f.mask >> lane & 1]:
        groups = warpgroup.bulk_groups[lane]
        read = groups[: max(len(groups) - newest, 0)]
        warpgroup.bulk_groups[lane] = unread = groups[len(read) :]
        copies = [copy for group in read for copy in group]
        for copy in copies:
            warpgroup.cta.cluster.queue.force(copy.operation)
        _join(f, lane, [copy.started for copy in copies])
        writing = warpgroup.bulk_writes.setdefault(lane, [])
        writing += [[copy.written for copy in group] for group in read]
        if not only_read:
            written = writing[: max(len(writing) + len(unread) - newest, 0)]
            warpgroup.bulk_writes[lane] = writing[len(written) :]
            _join(f, lane, [event for group in written for event in group])


def _join(f: ConvergenceGroup, lane: int, events: Sequence[AsyncEvent | None]) -> None:
    """Order what bulk copies of a lane did before the next accesses of its warp."""
    checker = f.warpgroup.cta.cluster.checker
    if checker is None:
        return
    for event in events:
        if event is not None:
            checker.clocks.join_own(f.warpgroup.agents[lane // WARP], event.done())
