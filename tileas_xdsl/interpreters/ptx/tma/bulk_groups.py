"""Bulk copies in flight: those that a thread commits in groups, and those that barriers count."""

from __future__ import annotations

from dataclasses import dataclass

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import Started
from tileas_xdsl.interpreters.ptx.execution.lane_mask import WARP, lane_list
from tileas_xdsl.interpreters.ptx.execution.state import Fragment, Operation


@dataclass(slots=True)
class BulkCopy:
    """A copy out of shared memory, which its thread waits for."""

    operation: Operation
    started: Started | None


def add(f: Fragment, lane: int, copy: BulkCopy) -> None:
    """A copy of a lane that is not committed yet."""
    f.gang.bulk_open.setdefault(lane, []).append(copy)


def commit(f: Fragment) -> None:
    """`cp.async.bulk.commit_group` for each lane."""
    gang = f.gang
    for lane in lane_list(f.mask):
        group = gang.bulk_open.pop(lane, [])
        if group or lane in gang.bulk_groups:
            gang.bulk_groups.setdefault(lane, []).append(group)


def wait(f: Fragment, newest: int) -> None:
    """`cp.async.bulk.wait_group`: all but the newest groups of each lane are done."""
    gang = f.gang
    cluster = gang.cta.cluster
    for lane in [lane for lane in gang.bulk_groups if f.mask >> lane & 1]:
        groups = gang.bulk_groups[lane]
        done = groups[: max(len(groups) - newest, 0)]
        gang.bulk_groups[lane] = groups[len(done) :]
        for copy in (copy for group in done for copy in group):
            cluster.queue.force(copy.operation)
            if cluster.checker is not None and copy.started is not None:
                cluster.checker.clocks.learn(gang.agents[lane // WARP], copy.started.done)
