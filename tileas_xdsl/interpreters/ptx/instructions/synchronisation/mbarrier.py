"""The mbarrier instructions.  Source: PTX ISA 9.7.13.15."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.reports.diagnosis import barrier_trace
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Severity
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import ClockSnapshot
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import lane_list, warps_of
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.waits import PhaseWait
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.memory.generic_access import record_remote_access
from tileas_xdsl.interpreters.ptx.memory.global_memory import SHARED_WINDOW, WINDOW_SIZE
from tileas_xdsl.interpreters.ptx.memory.memory_order import SCOPES as MEMORY_SCOPES
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Address, Sink
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import MAX_COUNT, MBarrier
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier_arrivals import (
    arrive,
    barrier_at,
    check_fenced,
    check_initialised,
    check_unused,
)
from tileas_xdsl.layout.units import WARP

SCOPES = ("release", "acquire", "cta", "cluster")
IMPATIENCE = 0.5
"""Probability that a `try_wait` times out at once under the random order."""

U32, B64, PRED = TYPES["u32"], TYPES["b64"], TYPES["pred"]


def shared_space(site: Site) -> str:
    """Return the state space of a barrier's address; generic without a qualifier."""
    return site.choose(("shared::cta", "shared::cluster", "shared"), "generic")


def lane_addresses(
    f: ConvergenceGroup, slot: int, offset: int, space: str
) -> list[tuple[int, int]]:
    """Yield each active lane and the `.shared::cluster` address of its operand."""
    base = f.r[slot]
    generic = space == "generic"
    lanes = lane_list(f.mask)
    if base.__class__ is np.ndarray:
        return [(lane, shared_address(f, int(base[lane]) + offset, generic)) for lane in lanes]
    address = shared_address(f, base + offset, generic)
    return [(lane, address) for lane in lanes]


def shared_address(f: ConvergenceGroup, address: int, generic: bool) -> int:
    """Convert a generic address to `.shared::cluster`; return others unchanged.

    A `.shared` address that was zero-extended, as in Triton's tcgen05.commit, is no generic address
    by the PTX ISA.  Triton's kernels need the low 32 bits to be taken, so that is what is done.
    """
    if not generic or SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_SIZE:
        return address & 0xFFFF_FFFF
    if not 0 <= address < WINDOW_SIZE:
        raise Fault("illegal-address", f"generic address {address:#x} is not in shared memory")
    checker = f.warpgroup.cta.cluster.checker
    if checker is not None:
        checker.findings.add(
            "illegal-address",
            f.pc,
            f"{address:#x} is a .shared address, where the instruction takes a generic one",
            ["hint: say .shared::cluster, or convert it by cvta.shared.u64"],
            severity=Severity.ISA,
        )
    return address


def lane_name(f: ConvergenceGroup, lane: int) -> str:
    """Return the name of a thread in event traces."""
    return f.warpgroup.warp_names[lane // WARP]


def build_init(site: Site) -> Step:
    """`mbarrier.init`."""
    space = shared_space(site)
    site.type(("b64",))
    site.no_more()
    site.count(2)
    slot, offset = site.address(0)
    count = site.source(1, U32)

    def step(f: ConvergenceGroup) -> None:
        cluster = f.warpgroup.cta.cluster
        for lane, address in lane_addresses(f, slot, offset, space):
            cta, location = cluster.cta_of(address), address & OFFSET_MASK
            value = f.r[count]
            number = int(value[lane]) if value.__class__ is np.ndarray else value
            if not 1 <= number <= MAX_COUNT:
                raise Fault(
                    "invalid", f"the count {number} of an mbarrier is not in 1..{MAX_COUNT}"
                )
            cta.shared.check(location, 8, 8)
            name = f"mbarrier {cluster.program.shared_name(location)} of {cta.name}"
            old = cta.mbarriers.get(location)
            if old is not None and cluster.checker is not None:
                cluster.checker.findings.add(
                    "barrier-init",
                    f.pc,
                    f"{name} is initialised again without mbarrier.inval",
                    barrier_trace(cluster, old)[:-1],
                )
            barrier = cta.mbarriers[location] = MBarrier(name, location, number)
            barrier.note(lane_name(f, lane), f.pc, "init")
            if cluster.checker is not None:
                agent = f.warpgroup.agent(lane)
                barrier.initialised_by = (agent, cluster.checker.clocks.stamp(agent, f.pc))

    return step


def build_inval(site: Site) -> Step:
    """`mbarrier.inval`."""
    space = shared_space(site)
    site.type(("b64",))
    site.no_more()
    site.count(1)
    slot, offset = site.address(0)

    def step(f: ConvergenceGroup) -> None:
        cluster = f.warpgroup.cta.cluster
        for lane, address in lane_addresses(f, slot, offset, space):
            cta, barrier = barrier_at(cluster, address)
            check_unused(cluster, barrier, f.warpgroup.agent(lane), f.pc)
            del cta.mbarriers[barrier.offset]

    return step


# Arriving


def _released(
    f: ConvergenceGroup, lanes: Sequence[tuple[int, int]], arrivals: int, *, relaxed: bool
) -> Sequence[ClockSnapshot | None]:
    """Return what each lane, of some with their addresses, passes on by its share of `arrivals`;
    with `.relaxed` that is what fences have released before.

    Lanes that arrive in one phase of one barrier pass on together what their warps know, by the
    last of them: nobody acquires it before.
    """
    checker = f.warpgroup.cta.cluster.checker
    if checker is None:
        return [None] * len(lanes)
    races = f.warpgroup.cta.cluster.races
    if relaxed and races is not None:
        scope = _scope_of_all(f.warpgroup.cta.cluster)
        return [races.patterns.fenced(f.warpgroup.agent(lane), scope) for lane, _ in lanes]
    (_, address), *_ = lanes
    _, barrier = barrier_at(f.warpgroup.cta.cluster, address)
    together = all(other == address for _, other in lanes)
    if together and barrier.pending >= arrivals:
        return [None] * (len(lanes) - 1) + [checker.release(f.warpgroup, warps_of(f.mask))]
    agents = [f.warpgroup.agent(lane) for lane, _ in lanes]
    of_warp = {agent: checker.clocks.release(agent) for agent in dict.fromkeys(agents)}
    return [of_warp[agent] for agent in agents]


def _scope_of_all(cluster: Cluster) -> int:
    """Return the scope that includes all threads which may use an mbarrier."""
    return MEMORY_SCOPES["cluster" if len(cluster.ctas) > 1 else "cta"]


def build_arrive(site: Site) -> Step:
    """`mbarrier.arrive` and `.arrive_drop`, with .expect_tx and .noComplete."""
    drop = site.name.endswith("drop")
    expects = site.flag("expect_tx")
    no_complete = site.flag("noComplete")
    relaxed = site.flag("relaxed")
    site.ignore(SCOPES)
    space = shared_space(site)
    site.type(("b64",))
    site.no_more()
    first = int(bool(site.operands) and not isinstance(site.operands[0], Address))
    site.count(first + 1, first + 2)
    given = [target for target in site.operands[:first] if not isinstance(target, Sink)]
    state = site.destination(given[0], B64) if given else None
    slot, offset = site.address(first)
    amount = site.source(first + 1, U32) if len(site.operands) > first + 1 else None
    if amount is None and (expects or no_complete):
        site.fail("the number of bytes or arrivals is missing")

    def step(f: ConvergenceGroup) -> None:
        cluster = f.warpgroup.cta.cluster
        lanes = lane_addresses(f, slot, offset, space)
        numbers = [_amount(f, amount, lane) for lane, _ in lanes]
        arrivals = len(lanes) if expects else sum(numbers)
        released = _released(f, lanes, arrivals, relaxed=relaxed)
        token = 0
        for (lane, address), number, snapshot in zip(lanes, numbers, released, strict=True):
            cta, barrier = barrier_at(cluster, address)
            who = lane_name(f, lane)
            check_initialised(cluster, barrier, f.warpgroup.agent(lane), f.pc)
            if cta is not f.warpgroup.cta:
                check_fenced(cluster, barrier, f.pc, who)
                record_remote_access(f, cta)
            token = barrier.phase << 32 | barrier.pending
            if not expects and not 1 <= number <= MAX_COUNT:
                raise Fault("invalid", f"{number} arrivals are not in 1..{MAX_COUNT}")
            arrive(
                cluster,
                barrier,
                f.pc,
                who,
                count=1 if expects else number,
                expect=number if expects else 0,
                snapshot=snapshot,
                drop=drop,
            )
        if state is not None:
            f.r[state] = token

    return step


def _amount(f: ConvergenceGroup, slot: int | None, lane: int) -> int:
    if slot is None:
        return 1
    value = f.r[slot]
    return int(value[lane]) if value.__class__ is np.ndarray else value


def build_transaction(site: Site) -> Step:
    """`mbarrier.expect_tx` and `mbarrier.complete_tx`."""
    expects = site.name.endswith("expect_tx")
    site.ignore((*SCOPES, "relaxed"))
    space = shared_space(site)
    site.type(("b64",))
    site.no_more()
    site.count(2)
    slot, offset = site.address(0)
    amount = site.source(1, U32)

    def step(f: ConvergenceGroup) -> None:
        cluster = f.warpgroup.cta.cluster
        for lane, address in lane_addresses(f, slot, offset, space):
            _, barrier = barrier_at(cluster, address)
            check_initialised(cluster, barrier, f.warpgroup.agent(lane), f.pc)
            number = _amount(f, amount, lane)
            arrive(
                cluster,
                barrier,
                f.pc,
                lane_name(f, lane),
                expect=number if expects else 0,
                delivered=0 if expects else number,
            )

    return step


# Waiting


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
        where, far = (f.warpgroup.cta.rank, barrier.offset), _scope_of_all(cluster)
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


def build_pending(site: Site) -> Step:
    """`mbarrier.pending_count` of a state token."""
    site.type(("b64",))
    site.no_more()
    site.count(2)
    dest, state = site.destination(0, U32), site.source(1, B64)

    def step(f: ConvergenceGroup) -> None:
        value = f.r[state] & 0xFFFF_FFFF
        f.r[dest] = value.astype(np.uint32) if value.__class__ is np.ndarray else value

    return step


TABLE = (
    Semantics("mbarrier.init", build_init),
    Semantics("mbarrier.inval", build_inval),
    Semantics("mbarrier.arrive", build_arrive),
    Semantics("mbarrier.arrive_drop", build_arrive),
    Semantics("mbarrier.expect_tx", build_transaction),
    Semantics("mbarrier.complete_tx", build_transaction),
    Semantics("mbarrier.try_wait", build_wait, waits=True),
    Semantics("mbarrier.test_wait", build_wait, waits=True),
    Semantics("mbarrier.pending_count", build_pending),
)
