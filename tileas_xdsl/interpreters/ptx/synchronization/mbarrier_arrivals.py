"""What happens to mbarriers: arrivals of threads and of copies, and the checks of both."""

from __future__ import annotations

from tileas_xdsl.interpreters.ptx.checking.diagnosis import barrier_story
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK, Knowledge
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, Cta
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import MAX_COUNT, MBarrier


def barrier_at(cluster: Cluster, address: int) -> tuple[Cta, MBarrier]:
    """The barrier at a `.shared::cluster` address."""
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
    known: Knowledge | None = None,
    drop: bool = False,
) -> None:
    """Announce `expect` bytes, deliver `delivered`, then arrive `count` times."""
    if drop:
        barrier.next_count -= count
    barrier.pending -= count
    barrier.bytes += expect - delivered
    barrier.hand_on(known)
    cluster.events += 1
    barrier.note(who, at, _what(count, expect, delivered))
    if barrier.pending < 0:
        _tell(cluster, barrier, at, "barrier-arrivals", "gets more arrivals than its count")
        barrier.pending = 0
    if abs(barrier.bytes) > MAX_COUNT:
        _tell(
            cluster,
            barrier,
            at,
            "barrier-bytes",
            f"has {barrier.bytes} bytes outstanding, beyond {MAX_COUNT}",
        )
    barrier.settle()


def _what(count: int, expect: int, delivered: int) -> str:
    parts: list[str] = []
    if expect:
        parts.append(f"expects {expect} bytes")
    if delivered:
        parts.append(f"delivers {delivered} bytes")
    if count:
        parts.append(f"arrives {count} times" if count > 1 else "arrives")
    return ", ".join(parts) or "touches it"


def _tell(cluster: Cluster, barrier: MBarrier, at: int, kind: str, what: str) -> None:
    message = f"{barrier.name} (count {barrier.count}) {what}"
    if cluster.checker is None:
        raise Fault(kind, message)
    cluster.checker.findings.add(kind, at, message, barrier_story(cluster, barrier)[:-1])


def check_fenced(cluster: Cluster, barrier: MBarrier, at: int, who: str) -> None:
    """Whether other CTAs and the asynchronous proxy may use a barrier yet."""
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


def check_made(cluster: Cluster, barrier: MBarrier, agent: int, at: int) -> None:
    """Whether a warp knows that a barrier has been initialised."""
    checker, made = cluster.checker, barrier.made_by
    if checker is None or made is None:
        return
    if made[1] < checker.clocks.seen[agent, made[0]]:
        return
    barrier.made_by = None
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
