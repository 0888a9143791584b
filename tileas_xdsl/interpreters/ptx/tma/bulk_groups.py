"""Bulk groups of a thread: `cp.async.bulk.commit_group` and `.wait_group`."""

from __future__ import annotations

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

    With `.read` the writes to global memory stay in flight (`only_read`).
    """
    warpgroup = f.warpgroup
    cluster = warpgroup.cta.cluster
    for lane in [lane for lane in warpgroup.bulk_groups if f.mask >> lane & 1]:
        groups = warpgroup.bulk_groups[lane]
        done = groups[: max(len(groups) - newest, 0)]
        warpgroup.bulk_groups[lane] = groups[len(done) :]
        for copy in (copy for group in done for copy in group):
            cluster.queue.force(copy.operation)
            if cluster.checker is None:
                continue
            for event in (copy.started, None if only_read else copy.written):
                if event is not None:
                    cluster.checker.clocks.join_own(warpgroup.agents[lane // WARP], event.done())
