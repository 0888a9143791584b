"""Diagnoses of findings: the conflicting accesses, event traces of barriers, and hints."""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.interpreters.ptx.checking.shadow_memory import Conflict
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, ConvergenceGroup, Cta
from tileas_xdsl.interpreters.ptx.execution.waits import (
    NamedBarrierWait,
    PhaseWait,
    ReconvergenceWait,
)
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import Event, MBarrier

CONFLICTS: Mapping[str, tuple[str, str, str]] = {
    "RAW": (
        "race-RAW",
        "{what} reads {where} while the write by {other} may still be under way",
        "nothing orders the write before the read: wait for the barrier that the writer signals",
    ),
    "WAW": (
        "race-WAW",
        "{what} writes {where} while the write by {other} may still be under way",
        "nothing orders the two writes",
    ),
    "WAR": (
        "race-WAR",
        "{what} overwrites {where} while {other} may still read it",
        "the reader has to signal that it is done, and the writer to wait for that",
    ),
    "uninitialised": (
        "uninitialised",
        "{what} reads {where}, which nothing has written",
        "the copy that should fill it was not waited for, or goes elsewhere",
    ),
    "unfenced": (
        "missing-proxy-fence",
        "{what} accesses {where}, written through the generic proxy by {other}, with no "
        "fence.proxy.async in between",
        "the writers need fence.proxy.async before the barrier, or the issuing thread after it",
    ),
    "unreleased": (
        "missing-tcgen05-fence",
        "{what} reaches {where} without tcgen05.fence::before_thread_sync after {other}",
        "the thread that used tensor memory last has to fence before it synchronises",
    ),
    "unacquired": (
        "missing-tcgen05-fence",
        "{what} reaches {where} without tcgen05.fence::after_thread_sync since {other}",
        "a thread that takes over tensor memory has to fence after it synchronises",
    ),
}
"""By kind of conflict: the kind of finding, its message and its hint."""


def agent_name(cluster: Cluster, agent: int) -> str:
    """Return the name of an agent in diagnostics."""
    checker = cluster.checker
    assert checker is not None
    warp, prefix = checker.clocks.describe(agent)
    return f"{prefix}{cluster.warp_name(warp)}"


def shared_location(cta: Cta, conflict: Conflict) -> str:
    """Return a granule or byte of shared memory as a variable and an offset in it."""
    offset = conflict.location if conflict.is_byte else conflict.location * 16
    return f"{cta.cluster.program.shared_name(offset)} of {cta.name}"


def tensor_location(cta: Cta, conflict: Conflict) -> str:
    """Return the lanes and the column of tensor memory of a conflict."""
    group, column = divmod(conflict.location, 512)
    return f"tensor memory of {cta.name}, lanes {16 * group}..{16 * group + 15}, column {column}"


def conflict_finding(
    cta: Cta, conflict: Conflict, what: str, where: str
) -> tuple[str, str, list[str]]:
    """Return kind, message and notes of a conflict."""
    kind, message, hint = CONFLICTS[conflict.kind]
    checker = cta.cluster.checker
    assert checker is not None
    notes: list[str] = []
    other = "nobody"
    if conflict.other != checker.clocks.no_agent:
        other = agent_name(cta.cluster, conflict.other)
        line = checker.findings.line_of(conflict.stamp % TICK)
        notes.append(f"{other} was there at {line}")
    notes.append(f"hint: {hint}")
    return kind, message.format(what=what, where=where, other=other), notes


def barrier_trace(cluster: Cluster, barrier: MBarrier) -> list[str]:
    """Return the state of an mbarrier, its last events, and a hint."""
    lines = [f"{barrier.name}: {barrier.state()}"]
    lines += [_event(cluster, event) for event in list(barrier.events)[-5:]]
    lines.append(f"hint: {barrier.missing()}")
    return lines


def _event(cluster: Cluster, event: Event) -> str:
    location = cluster.program.code[event.at].location
    return (
        f"{event.who}: {event.what} at line {location.line} -> phase {event.phase}, "
        f"{event.pending} pending, {event.bytes} bytes"
    )


MAX_WAITS = 8
MAX_BARRIERS = 4
"""Limits of the diagnosis of a deadlock."""


def diagnose_deadlock(
    cluster: Cluster, stuck: list[ConvergenceGroup]
) -> tuple[str, list[str], int]:
    """Return message, notes and instruction of a run in which nothing can make progress.

    Groups that only wait for lanes of their own warp are left out if others wait: they are not
    the cause.
    """
    causes = [f for f in stuck if f.wait is not None and not isinstance(f.wait, ReconvergenceWait)]
    causes.sort(key=lambda f: not isinstance(f.wait, PhaseWait))
    shown = causes or stuck
    lines: list[str] = []
    described: set[int] = set()
    for group in shown[:MAX_WAITS]:
        lines += _wait_trace(cluster, group, described)
    if len(shown) > MAX_WAITS:
        lines.append(f"... and {len(shown) - MAX_WAITS} more wait")
    names = [*dict.fromkeys(describe_warps(f) for f in shown)]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"deadlock: {', '.join(names[:4])}{more} wait forever", lines, shown[0].pc


def _wait_trace(cluster: Cluster, group: ConvergenceGroup, described: set[int]) -> list[str]:
    """Return why a group waits, with the event trace of its mbarrier, once for each mbarrier."""
    block = group.wait
    if block is None:
        return []
    at = group.pc - isinstance(block, NamedBarrierWait)
    location = cluster.program.code[at].location
    lines = [f"{describe_warps(group)} waits at line {location.line} {block.why()}"]
    if (
        isinstance(block, PhaseWait)
        and id(block.barrier) not in described
        and len(described) < MAX_BARRIERS
    ):
        described.add(id(block.barrier))
        lines += barrier_trace(cluster, block.barrier)
    return lines


def describe_warps(group: ConvergenceGroup) -> str:
    """Return the names of the warps of a group in diagnostics."""
    warpgroup = group.warpgroup
    warps = [w for w in range(warpgroup.warps) if group.mask >> 32 * w & 0xFFFF_FFFF]
    first = warpgroup.first_warp + warps[0]
    if len(warps) == 1:
        return f"{warpgroup.cta.name} warp {first}"
    if len(warps) == warpgroup.warps:
        return f"{warpgroup.cta.name} warps {first}..{warpgroup.first_warp + warps[-1]}"
    listed = ",".join(str(warpgroup.first_warp + w) for w in warps)
    return f"{warpgroup.cta.name} warps {listed}"
