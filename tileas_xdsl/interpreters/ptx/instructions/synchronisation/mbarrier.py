"""The mbarrier instructions.  Source: PTX ISA 9.7.13.15."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.reports.diagnosis import barrier_trace
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import ClockSnapshot
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import warps_of
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.synchronisation.barrier_addresses import (
    lane_addresses,
    lane_name,
    shared_space,
)
from tileas_xdsl.interpreters.ptx.memory.generic_access import record_remote_access
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

SCOPES = ("release", "acquire", "cta", "cluster")

U32, B64, PRED = TYPES["u32"], TYPES["b64"], TYPES["pred"]


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
        scope = scope_of_all(f.warpgroup.cta.cluster)
        return [races.patterns.fenced(f.warpgroup.agent(lane), scope) for lane, _ in lanes]
    (_, address), *_ = lanes
    _, barrier = barrier_at(f.warpgroup.cta.cluster, address)
    together = all(other == address for _, other in lanes)
    if together and barrier.pending >= arrivals:
        return [None] * (len(lanes) - 1) + [checker.release(f.warpgroup, warps_of(f.mask))]
    agents = [f.warpgroup.agent(lane) for lane, _ in lanes]
    of_warp = {agent: checker.clocks.release(agent) for agent in dict.fromkeys(agents)}
    return [of_warp[agent] for agent in agents]


def scope_of_all(cluster: Cluster) -> int:
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
    Semantics("mbarrier.pending_count", build_pending),
)
