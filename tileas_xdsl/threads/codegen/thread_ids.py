"""Which thread this is, and whether it is the one that acts for its warp, agent or CTA pair."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cute_nvgpu import (
    ClusterRankOp,
    ElectOneOp,
    LaneIdxOp,
    ThreadIdxOp,
    WarpIdxOp,
)
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, is_equal, logical_and


def compute_thread_ids(e: ThreadBuilder) -> None:
    """Compute thread, lane and warp ids at the entry of the agent, before any control flow."""
    e.at_entry["thread"] = e.insert(ThreadIdxOp("x")).result
    e.at_entry["lane"] = e.insert(LaneIdxOp()).result
    e.at_entry["warp"] = add(e, e.insert(WarpIdxOp()).result, -e.agent.first_warp)


def thread_id(e: ThreadBuilder) -> SSAValue:
    """Return the id of the thread in the block."""
    return e.at_entry["thread"]


def lane_id(e: ThreadBuilder) -> SSAValue:
    """Return the id of the thread in its warp."""
    return e.at_entry["lane"]


def warp_id(e: ThreadBuilder) -> SSAValue:
    """Return the id of the warp in its agent, uniform over the warp."""
    return e.at_entry["warp"]


def is_elected_in_agent(e: ThreadBuilder) -> SSAValue | None:
    """Return whether this thread acts for its agent; None if no other thread runs the code."""
    if e.by_one_thread:
        return None
    first = is_equal(e, warp_id(e), 0)
    return logical_and(e, first, is_elected_in_warp(e))


def is_elected_in_warp(e: ThreadBuilder) -> SSAValue | None:
    """Return whether this thread acts for its warp; None if no other thread runs the code."""
    if e.by_one_thread:
        return None
    return e.insert(ElectOneOp()).result


def is_leader_cta(e: ThreadBuilder) -> SSAValue | None:
    """Return whether this block issues the products of its CTA pair; None without pairs."""
    if not e.plan.is_of_pair:
        return None
    return e.once("leader", lambda: is_equal(e, e.insert(ClusterRankOp()).result, 0))


def is_mma_warp(e: ThreadBuilder) -> SSAValue | None:
    """Return whether this warp issues tcgen05 products; None if no other warp runs the code."""
    if e.by_one_warp:
        return None
    return logical_and(e, is_leader_cta(e), is_equal(e, warp_id(e), 0))


def is_mma_lane(e: ThreadBuilder) -> SSAValue:
    """Return whether this lane issues the tcgen05 products of its warp; elected once."""
    return e.once("mma_lane", lambda: e.insert(ElectOneOp()).result)


def is_mma_issuer(e: ThreadBuilder) -> SSAValue:
    """Return whether this is the one thread that issues tcgen05 products."""
    found = logical_and(e, is_mma_warp(e), is_mma_lane(e))
    assert found is not None
    return found


def is_first_thread(e: ThreadBuilder) -> SSAValue | None:
    """Whether this is the first thread of the agent; None if only one is here."""
    if e.by_one_thread:
        return None
    first = is_equal(e, lane_id(e), 0)
    return first if e.agent.warps == 1 else logical_and(e, first, is_equal(e, warp_id(e), 0))
