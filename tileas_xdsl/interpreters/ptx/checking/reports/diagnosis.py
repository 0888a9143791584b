"""Diagnoses of barriers and deadlocks: event traces of mbarriers, and who waits for what."""

from __future__ import annotations

from tileas_xdsl.interpreters.ptx.execution.lane_mask import warps_of
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.waits import (
    NamedBarrierWait,
    PhaseWait,
    ReconvergenceWait,
)
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import Event, MBarrier


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

    Groups that missed a phase come first, those that only wait for lanes of their own warp last:
    they may not be the cause.
    """
    causes = [f for f in stuck if f.wait is not None and not isinstance(f.wait, ReconvergenceWait)]
    causes.sort(key=lambda f: (not missed_phases(f), not isinstance(f.wait, PhaseWait)))
    shown = [*causes, *(f for f in stuck if f not in causes)]
    lines: list[str] = []
    described: set[int] = set()
    for group in shown[:MAX_WAITS]:
        lines += _wait_trace(cluster, group, described)
    if len(shown) > MAX_WAITS:
        lines.append(f"... and {len(shown) - MAX_WAITS} more wait")
    names = [*dict.fromkeys(describe_warps(f) for f in causes or stuck)]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"deadlock: {', '.join(names[:4])}{more} wait forever", lines, shown[0].pc


def diagnose_endless_run(cluster: Cluster) -> tuple[list[str], int | None]:
    """Return what each group does in a run past its limit, and the instruction of the first loop.

    Groups that run are in loops; the others wait, maybe for those.
    """
    groups = [f for g in cluster.live_warpgroups for f in g.convergence_groups]
    running = [f for f in groups if f.wait is None or f.wait.ready()]
    lines = [f"{describe_warps(f)} {_loop_around(cluster, f.pc)}" for f in running[:MAX_WAITS]]
    for group in [f for f in groups if f not in running][: MAX_WAITS - len(lines)]:
        lines += _wait_trace(cluster, group, set())
    lines.append(
        "hint: a loop ends when the values that its condition reads change; a larger limit lets a "
        "long run finish"
    )
    return lines, running[0].pc if running else None


def _loop_around(cluster: Cluster, at: int) -> str:
    """Return the lines of the innermost loop (a jump back over an instruction) around it."""
    code, labels = cluster.program.code, cluster.program.labels
    loops = [
        (end - start, start, end)
        for end, instruction in enumerate(code)
        if end >= at and instruction.parts[0] == "bra" and instruction.operands
        for start in [labels.get(getattr(instruction.operands[0], "name", ""), end + 1)]
        if start <= at
    ]
    if not loops:
        return f"is at line {code[at].location.line}, in no loop"
    _, start, end = min(loops)
    first, last = code[start].location.line, code[end].location.line
    return f"is still in the loop of lines {first} to {last}"


def _wait_trace(cluster: Cluster, group: ConvergenceGroup, described: set[int]) -> list[str]:
    """Return why a group waits, with the event trace of its mbarrier, once for each mbarrier."""
    block = group.wait
    if block is None:
        return []
    at = group.pc - isinstance(block, NamedBarrierWait)
    location = cluster.program.code[at].location
    lines = [f"{describe_warps(group)} waits at line {location.line} {block.why()}"]
    lines += missed_phases(group)
    if (
        isinstance(block, PhaseWait)
        and id(block.barrier) not in described
        and len(described) < MAX_BARRIERS
    ):
        described.add(id(block.barrier))
        lines += barrier_trace(cluster, block.barrier)
    return lines


def missed_phases(group: ConvergenceGroup) -> list[str]:
    """Return which warps of a group came when the phase behind theirs had ended, too.

    They wait for the phase after the one that they have seen the end of; by the parity alone that
    looks like the one two phases on, which still runs.
    """
    wait = group.wait
    if not isinstance(wait, PhaseWait) or wait.phase is not None:
        return []
    lines: list[str] = []
    for warp in warps_of(group.mask):
        seen = wait.barrier.acquired_phase.get(group.warpgroup.agents[warp], -1 - wait.parity)
        wanted = seen + 1
        if wanted & 1 == wait.parity and wait.barrier.phase > wanted + 1:
            lines.append(
                f"{group.warpgroup.warp_names[warp]} missed the end of phase {wanted}: before it "
                f"looked, phase {wanted + 1} had ended, too"
            )
    return lines and [*lines, "hint: a phase must not end twice while a warp waits for it"]


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
