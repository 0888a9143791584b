"""Findings in words: who met whom, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.interpreters.ptx.checking.shadow_memory import Conflict
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, Cta, Fragment
from tileas_xdsl.interpreters.ptx.execution.waits import NamedWait, PhaseWait, Together
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
        "{what} meets {where}, written through the generic proxy by {other}, with no "
        "fence.proxy.async in between",
        "the writers need fence.proxy.async before the barrier, or the issuing thread after it",
    ),
    "untold": (
        "missing-tcgen05-fence",
        "{what} reaches {where} without tcgen05.fence::before_thread_sync after {other}",
        "the thread that used tensor memory last has to fence before it synchronises",
    ),
    "unheard": (
        "missing-tcgen05-fence",
        "{what} reaches {where} without tcgen05.fence::after_thread_sync since {other}",
        "a thread that takes over tensor memory has to fence after it synchronises",
    ),
}
"""By kind of conflict: the kind of finding, its message and its hint."""


def agent_name(cluster: Cluster, agent: int) -> str:
    """An agent as a story calls it."""
    checker = cluster.checker
    assert checker is not None
    warp, prefix = checker.clocks.describe(agent)
    return f"{prefix}{cluster.warp_name(warp)}"


def shared_place(cta: Cta, conflict: Conflict) -> str:
    """A granule or byte of shared memory, by the variable that holds it."""
    offset = conflict.place if conflict.is_byte else conflict.place * 16
    return f"{cta.cluster.program.shared_name(offset)} of {cta.name}"


def tensor_place(cta: Cta, conflict: Conflict) -> str:
    """A part of tensor memory."""
    group, column = divmod(conflict.place, 512)
    return f"tensor memory of {cta.name}, lanes {16 * group}..{16 * group + 15}, column {column}"


def conflict_finding(
    cta: Cta, conflict: Conflict, what: str, where: str
) -> tuple[str, str, list[str]]:
    """Kind, message and story of a conflict."""
    kind, message, hint = CONFLICTS[conflict.kind]
    checker = cta.cluster.checker
    assert checker is not None
    story: list[str] = []
    other = "nobody"
    if conflict.other != checker.clocks.nobody:
        other = agent_name(cta.cluster, conflict.other)
        line = checker.findings.line_of(conflict.stamp % TICK)
        story.append(f"{other} was there at {line}")
    story.append(f"hint: {hint}")
    return kind, message.format(what=what, where=where, other=other), story


def barrier_story(cluster: Cluster, barrier: MBarrier) -> list[str]:
    """The state of an mbarrier and what happened to it last."""
    lines = [f"{barrier.name}: {barrier.state()}"]
    lines += [_event(cluster, event) for event in list(barrier.events)[-5:]]
    lines.append(f"hint: {barrier.missing()}")
    return lines


def _event(cluster: Cluster, event: Event) -> str:
    place = cluster.program.code[event.at].place
    return (
        f"{event.who}: {event.what} at line {place.line} -> phase {event.phase}, "
        f"{event.pending} pending, {event.bytes} bytes"
    )


MAX_WAITS = 8
MAX_BARRIERS = 4
"""How much of a deadlock is told."""


def deadlock_story(cluster: Cluster, stuck: list[Fragment]) -> tuple[str, list[str], int]:
    """Message, story and instruction of a run in which nobody can go on.

    Those who only wait for lanes of their own warp are told last: they are not the cause.
    """
    causes = [f for f in stuck if f.block is not None and not isinstance(f.block, Together)]
    causes.sort(key=lambda f: not isinstance(f.block, PhaseWait))
    told = causes or stuck
    lines: list[str] = []
    seen: set[int] = set()
    for fragment in told[:MAX_WAITS]:
        lines += _wait_story(cluster, fragment, seen)
    if len(told) > MAX_WAITS:
        lines.append(f"... and {len(told) - MAX_WAITS} more wait")
    names = [*dict.fromkeys(who(f) for f in told)]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"deadlock: {', '.join(names[:4])}{more} wait forever", lines, told[0].pc


def _wait_story(cluster: Cluster, fragment: Fragment, seen: set[int]) -> list[str]:
    """Why a fragment waits, and what became of its barrier, once for each barrier."""
    block = fragment.block
    if block is None:
        return []
    at = fragment.pc - isinstance(block, NamedWait)
    place = cluster.program.code[at].place
    lines = [f"{who(fragment)} waits at line {place.line} {block.why()}"]
    if isinstance(block, PhaseWait) and id(block.barrier) not in seen and len(seen) < MAX_BARRIERS:
        seen.add(id(block.barrier))
        lines += barrier_story(cluster, block.barrier)
    return lines


def who(fragment: Fragment) -> str:
    """The warps of a fragment as a story calls them."""
    gang = fragment.gang
    warps = [w for w in range(gang.warps) if fragment.mask >> 32 * w & 0xFFFF_FFFF]
    first = gang.first_warp + warps[0]
    if len(warps) == 1:
        return f"{gang.cta.name} warp {first}"
    if len(warps) == gang.warps:
        return f"{gang.cta.name} warps {first}..{gang.first_warp + warps[-1]}"
    listed = ",".join(str(gang.first_warp + w) for w in warps)
    return f"{gang.cta.name} warps {listed}"
