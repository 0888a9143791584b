"""Waits for a phase of an mbarrier: `test_wait` and `try_wait`."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.reports.diagnosis import barrier_trace
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import warps_of
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.waits import PhaseWait
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.synchronisation.barrier_addresses import (
    lane_addresses,
    lane_name,
    shared_address,
    shared_space,
)
from tileas_xdsl.interpreters.ptx.instructions.synchronisation.mbarrier import (
    B64,
    PRED,
    SCOPES,
    U32,
    scope_of_all,
)
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import MBarrier
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier_arrivals import (
    barrier_at,
    check_initialised,
)
from tileas_xdsl.layout.units import WARP

IMPATIENCE = 0.5
"""Probability that a `try_wait` times out at once under the random order."""


def build_wait(site: Site) -> Step:
    """`mbarrier.try_wait` and `.test_wait`, by parity or state.

    Both block until the phase completes, or until nothing else can run: then they time out, as
    the hardware does after a while.
    """
    parity = site.flag("parity")
    relaxed = site.flag("relaxed")
    site.ignore(SCOPES)
    space = shared_space(site)
    if site.modifiers and site.modifiers[-1] == "b64":
        site.modifiers.pop()
    site.no_more()
    site.count(3, 4)
    dest = site.destination(0, PRED)
    slot, offset = site.address(1)
    wanted = site.source(2, U32 if parity else B64)

    def step(f: ConvergenceGroup) -> int | None:
        groups = _by_barrier(f, slot, offset, space, wanted)
        (address, value), f.mask = groups.popitem()
        for (other, phase), mask in groups.items():
            left = f.part(mask, f.pc)
            _, barrier = barrier_at(f.warpgroup.cta.cluster, other)
            left.wait = _wait_for(barrier, phase, parity)
            f.warpgroup.convergence_groups.append(left)
        cta, barrier = barrier_at(f.warpgroup.cta.cluster, address)
        wait = _wait_for(barrier, value, parity)
        if not wait.ready():
            if f.timed_out or _gives_up(f, barrier):
                f.timed_out = False
                f.r[dest] = False
                return None
            f.wait = wait
            return STOP
        f.timed_out = False
        if cta is not f.warpgroup.cta:
            raise Fault("invalid", f"{barrier.name} is of another CTA: only its own may wait")
        _passed(f, barrier, value & 1 if parity else None, relaxed=relaxed)
        f.r[dest] = True
        return None

    return step


def _gives_up(f: ConvergenceGroup, barrier: MBarrier) -> bool:
    """Return whether a wait times out, so that programs must check it: by chance under the random
    order, the first time in each phase under the lazy one."""
    queue = f.warpgroup.cta.cluster.queue
    if queue.is_random:
        return queue.rng.random() < IMPATIENCE
    now = f.pc, barrier.name, barrier.phase
    if queue.order == "eager" or f.gave_up_at == now:
        return False
    f.gave_up_at = now
    return True


def _by_barrier(
    f: ConvergenceGroup, slot: int, offset: int, space: str, wanted: int
) -> dict[tuple[int, int], int]:
    """Group lanes by the barrier and the phase that they wait for; return active masks."""
    base, value = f.r[slot], f.r[wanted]
    if base.__class__ is not np.ndarray and value.__class__ is not np.ndarray:
        return {(shared_address(f, base + offset, space == "generic"), value): f.mask}
    found: dict[tuple[int, int], int] = {}
    for lane, address in lane_addresses(f, slot, offset, space):
        key = (address, int(value[lane]) if value.__class__ is np.ndarray else value)
        found[key] = found.get(key, 0) | 1 << lane
    return found


def _wait_for(barrier: MBarrier, value: int, parity: bool) -> PhaseWait:
    """Return the wait for a parity or state of a barrier."""
    return PhaseWait(barrier, value & 1) if parity else PhaseWait(barrier, 0, value >> 32)


def _passed(f: ConvergenceGroup, barrier: MBarrier, parity: int | None, *, relaxed: bool) -> None:
    cluster = f.warpgroup.cta.cluster
    checker = cluster.checker
    if checker is None:
        return
    warps = warps_of(f.mask)
    for warp in warps:
        agent = f.warpgroup.agents[warp]
        check_initialised(cluster, barrier, agent, f.pc)
        barrier.waited[agent] = checker.clocks.stamp(agent, f.pc)
    if not relaxed or cluster.races is None:
        checker.acquire(f.warpgroup, warps, barrier.ended)
    elif barrier.ended is not None:
        where, far = (f.warpgroup.cta.rank, barrier.offset), scope_of_all(cluster)
        for warp in warps:
            agent, patterns = f.warpgroup.agents[warp], cluster.races.patterns
            patterns.observe_barrier(agent, far, barrier.ended, where, f.pc)
    if parity is None:
        return
    ended = barrier.phase - 1
    for warp in warps:
        agent = f.warpgroup.agents[warp]
        last = barrier.acquired_phase.get(agent)
        if last is not None and (last & 1) != parity and ended >= last + 3:
            checker.findings.add(
                "phase-lap",
                f.pc,
                f"{lane_name(f, warp * WARP)} waits for phase {last + 1} of {barrier.name}, but "
                f"phase {ended} has ended: the parity is the same by chance",
                barrier_trace(cluster, barrier)[:-1],
            )
        barrier.acquired_phase[agent] = ended


TABLE = (
    Semantics("mbarrier.try_wait", build_wait, waits=True),
    Semantics("mbarrier.test_wait", build_wait, waits=True),
)
