"""Arrivals of threads and of copies on mbarriers, and their checks."""

from __future__ import annotations

from functools import lru_cache

from tileas_xdsl.interpreters.ptx.checking.reports.diagnosis import barrier_trace
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK, ClockSnapshot
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, Cta
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import MAX_COUNT, MBarrier


def barrier_at(cluster: Cluster, address: int) -> tuple[Cta, MBarrier]:
    """Return the mbarrier at a `.shared::cluster` address, and its CTA."""
    cta = cluster.cta_of(address)
    offset = address & OFFSET_MASK
    if offset % 8:
        raise Fault("misaligned-address", f"mbarrier address {address:#x} is not aligned to 8")
    return cta, cta.mbarrier(offset)


def arrive(
    cluster: Cluster,
    barrier: MBarrier,
    at: int,
    who: str,
    *,
    count: int = 0,
    expect: int = 0,
    delivered: int = 0,
    snapshot: ClockSnapshot | None = None,
    drop: bool = False,
) -> None:
    """Execute `expect_tx(expect)`, `complete_tx(delivered)`, then `count` arrivals."""
    if drop:
        barrier.next_count -= count
    barrier.pending -= count
    barrier.bytes += expect - delivered
    barrier.join(snapshot)
    cluster.events += 1
    barrier.note(who, at, _what(count, expect, delivered))
    if barrier.pending < 0:
        _report(cluster, barrier, at, "barrier-arrivals", "gets more arrivals than its count")
        barrier.pending = 0
    if abs(barrier.bytes) > MAX_COUNT:
        _report(
            cluster,
            barrier,
            at,
            "barrier-bytes",
            f"has {barrier.bytes} bytes outstanding, beyond {MAX_COUNT}",
        )
    barrier.try_complete_phase()


@lru_cache(maxsize=1024)
def _what(count: int, expect: int, delivered: int) -> str:
    parts: list[str] = []
    if expect:
        parts.append(f"expects {expect} bytes")
    if delivered:
        parts.append(f"delivers {delivered} bytes")
    if count:
        parts.append(f"arrives {count} times" if count > 1 else "arrives")
    return ", ".join(parts) or "touches it"


def _report(cluster: Cluster, barrier: MBarrier, at: int, kind: str, what: str) -> None:
    message = f"{barrier.name} (count {barrier.count}) {what}"
    if cluster.checker is None:
        raise Fault(kind, message)
    cluster.checker.findings.add(kind, at, message, barrier_trace(cluster, barrier)[:-1])


def check_fenced(cluster: Cluster, barrier: MBarrier, at: int, who: str) -> None:
    """Report a use by another CTA or the async proxy before `fence.mbarrier_init`."""
    checker = cluster.checker
    if checker is None or barrier.fenced:
        return
    checker.findings.add(
        "barrier-init",
        at,
        f"{who} uses {barrier.name}, whose initialisation no fence has made visible to it",
        ["hint: fence.mbarrier_init.release.cluster after mbarrier.init, then a barrier"],
    )
    barrier.fenced = True


def check_initialised(
    cluster: Cluster, barrier: MBarrier, agent: int, at: int, limits: Array | None = None
) -> None:
    """Report a use by a warp, or by an operation that it started with the clock `limits`, that is
    not ordered after the initialisation of the mbarrier."""
    checker, made = cluster.checker, barrier.initialised_by
    if checker is None or made is None or (limits is None and agent in barrier.initialised_before):
        return
    known = checker.clocks.ordered[agent] if limits is None else limits
    published = barrier.published
    if published is not None and cluster.barrier.passed.get(agent, -1) >= published:
        return
    if made[1] < known[made[0]]:
        if limits is None:
            barrier.initialised_before.add(agent)
        return
    barrier.initialised_by = None
    checker.findings.add(
        "barrier-init",
        at,
        f"{cluster.warp_name(agent)} uses {barrier.name} while {cluster.warp_name(made[0])} may "
        "still initialise it",
        [
            f"initialised at {checker.findings.line_of(made[1] % TICK)}",
            "hint: a barrier of the block or cluster comes between",
        ],
    )


def check_unused(cluster: Cluster, barrier: MBarrier, agent: int, at: int) -> None:
    """Report an end of the life of an mbarrier that is not ordered after all waits of others."""
    checker = cluster.checker
    if checker is None:
        return
    known = checker.clocks.ordered[agent]
    other = next((a for a, s in barrier.waited.items() if a != agent and s >= known[a]), None)
    if other is None:
        return
    checker.findings.add(
        "barrier-init",
        at,
        f"{cluster.warp_name(agent)} invalidates {barrier.name} while {cluster.warp_name(other)} "
        "may still wait for it",
        [
            f"waited for at {checker.findings.line_of(barrier.waited[other] % TICK)}",
            "hint: a barrier of the block or cluster comes between",
        ],
    )
