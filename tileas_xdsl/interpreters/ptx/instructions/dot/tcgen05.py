"""Tensor memory (sm_100a): allocation, commit and fences.  Source: PTX ISA 9.7.16."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.reports.findings import Severity
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import warps_of
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Cta
from tileas_xdsl.interpreters.ptx.execution.waits import TmemAllocationWait, reconverge
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import lane_value
from tileas_xdsl.interpreters.ptx.instructions.synchronisation.barrier_addresses import (
    lane_addresses,
    lane_name,
    shared_space,
)
from tileas_xdsl.interpreters.ptx.matrix.tmem_access import (
    split,
)
from tileas_xdsl.interpreters.ptx.memory.shared_memory import (
    OFFSET_MASK,
    RANK_SHIFT,
    TENSOR_COLUMNS,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier_arrivals import (
    arrive,
    barrier_at,
    check_fenced,
    check_initialised,
)
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import get_target

BLACKWELL = get_target("sm_100a")

B32, U16, U32 = TYPES["b32"], TYPES["u16"], TYPES["u32"]


def group_of(site: Site) -> int:
    """Return the number of CTAs of `.cta_group`, 1 or 2, which a function may not mix."""
    group = int(site.choose(("cta_group::1", "cta_group::2"))[-1])
    if (others := site.program.cta_group(group)) != group:
        site.fail(
            f"cta_group::{group} stands beside cta_group::{others}, "
            "and all tcgen05 instructions of a kernel have the same"
        )
    return group


def tensor_pipe(cta: Cta, group: int) -> tuple[str, int]:
    """Return what the operations of a CTA, or of a pair of them, are queued in: they run in the
    order of their issue.

    Threads that fences put in order have no completion between them (PTX ISA 9.7.16.6.4), so that
    what one issued runs before what the next does; those in no order are a race.
    """
    return "tensor", cta.rank & ~(group - 1)


# Allocation


def build_alloc(site: Site) -> Step:
    """`tcgen05.alloc`: allocate columns and write their address to shared memory."""
    group_of(site)
    site.ignore(("sync", "aligned"))
    space = shared_space(site)
    site.type(("b32",))
    site.no_more()
    site.count(2)
    slot, offset = site.address(0)
    columns = site.source(1, U32)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "tcgen05.alloc"):
            return STOP
        count = _columns(f.value(columns))
        cta, cluster = f.warpgroup.cta, f.warpgroup.cta.cluster
        if cta.tensor.relinquished:
            raise Fault("tensor-memory", f"{cta.name} allocates after it gave up the permit")
        lane, address = lane_addresses(f, slot, offset, space)[0]
        _check_order(f, cta, count)
        start = cta.tensor.allocate(count, f.pc + 1)
        if start is None:
            f.wait = TmemAllocationWait([cta], count)
            return STOP
        location = address & OFFSET_MASK
        cta.shared.check(location, 4, 4)
        cta.shared.views[4][location // 4] = start
        cta.shared.writes += 1
        if cluster.checker is not None:
            where, who = np.array([location]), np.array([lane])
            cluster.checker.lanes(cta, f.warpgroup, who, where, 4, f.pc, write=True)
        return None

    return step


def _check_order(f: ConvergenceGroup, cta: Cta, count: int) -> None:
    """Report an allocation that is larger than one before it in the CTA (9.7.16.7.1)."""
    checker = cta.cluster.checker
    if checker is not None and count > cta.tensor.allocated:
        checker.findings.add(
            "tensor-memory",
            f.pc,
            f"{cta.name} allocates {count} columns after {cta.tensor.allocated}: the number should "
            "not increase",
            severity=Severity.ISA,
        )
    cta.tensor.allocated = count


def _columns(count: int) -> int:
    if count not in (32, 64, 128, 256, 512):
        raise Fault("tensor-memory", f"{count} columns are no power of two in 32..512")
    return count


def build_dealloc(site: Site) -> Step:
    """`tcgen05.dealloc`."""
    group_of(site)
    site.ignore(("sync", "aligned"))
    site.type(("b32",))
    site.no_more()
    site.count(2)
    taddr, columns = site.source(0, B32), site.source(1, U32)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "tcgen05.dealloc"):
            return STOP
        count, start = _columns(f.value(columns)), split(f.value(taddr))[1]
        owners = f.warpgroup.cta.tensor.owners[start : start + count]
        if len(owners) < count or not owners.all() or (owners != owners[0]).any():
            raise Fault(
                "tensor-memory", f"columns {start}..{start + count - 1} are no allocation to free"
            )
        owners[:] = 0
        checker = f.warpgroup.cta.cluster.checker
        if checker is not None:
            locations = np.arange(8)[:, None] * TENSOR_COLUMNS + np.arange(start, start + count)
            agent = f.warpgroup.agents[warps_of(f.mask)[0]]
            checker.tensor_free(f.warpgroup.cta, agent, locations.ravel(), f.pc)
        f.warpgroup.cta.cluster.events += 1
        return None

    return step


def build_relinquish(site: Site) -> Step:
    """`tcgen05.relinquish_alloc_permit`."""
    group_of(site)
    site.ignore(("sync", "aligned"))
    site.no_more()

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "tcgen05.relinquish_alloc_permit"):
            return STOP
        f.warpgroup.cta.tensor.relinquished = True
        return None

    return step


# Commits and fences


def build_commit(site: Site) -> Step:
    """`tcgen05.commit`: arrive on an mbarrier once the thread's prior operations have completed."""
    group = group_of(site)
    site.choose(("mbarrier::arrive::one",))
    space = shared_space(site)
    multicast = site.flag("multicast::cluster")
    site.type(("b64",))
    site.no_more()
    site.count(1 + multicast)
    slot, offset = site.address(0)
    mask = site.source(1, U16) if multicast else None

    def step(f: ConvergenceGroup) -> None:
        for lane, address in lane_addresses(f, slot, offset, space):
            ranks = [address >> RANK_SHIFT]
            if mask is not None:
                bits = lane_value(f, mask, lane)
                ranks = [r for r in range(16) if bits >> r & 1]
            _commit(f, lane, address & OFFSET_MASK, ranks, group)

    return step


def _commit(f: ConvergenceGroup, lane: int, offset: int, ranks: list[int], group: int) -> None:
    cluster, agent, pc = f.warpgroup.cta.cluster, f.warpgroup.agent(lane), f.pc
    checker = cluster.checker
    known = None
    if checker is not None:
        issued = f.warpgroup.warp_states[lane // WARP].tensor_issued
        started = issued[-1] if issued else checker.clocks.start_tensor(agent, pc)
        known = checker.clocks.tensor_completion_snapshot(started, agent)
    who = f"tcgen05.commit of {lane_name(f, lane)}"

    def run() -> None:
        for rank in ranks:
            cta, barrier = barrier_at(cluster, rank << RANK_SHIFT | offset)
            if cta is not f.warpgroup.cta:
                check_fenced(cluster, barrier, pc, who)
            check_initialised(cluster, barrier, agent, pc, None if known is None else known.ordered)
            arrive(cluster, barrier, pc, who, count=1, snapshot=known)

    cluster.queue.add(run, pc, lane=tensor_pipe(f.warpgroup.cta, group))


def build_fence(site: Site) -> Step:
    """`tcgen05.fence::before_thread_sync` and `::after_thread_sync`."""
    before = site.name.endswith("before_thread_sync")
    site.no_more()
    site.count(0)

    def step(f: ConvergenceGroup) -> None:
        checker = f.warpgroup.cta.cluster.checker
        if checker is None:
            return
        for warp in warps_of(f.mask):
            agent = f.warpgroup.agents[warp]
            if before:
                checker.clocks.fence_tensor_before(agent)
            else:
                checker.clocks.fence_tensor_after(agent)

    return step


TABLE = (
    Semantics("tcgen05.alloc", build_alloc, waits=True),
    Semantics("tcgen05.dealloc", build_dealloc, waits=True),
    Semantics("tcgen05.relinquish_alloc_permit", build_relinquish, waits=True),
    Semantics("tcgen05.commit", build_commit),
    Semantics("tcgen05.fence::before_thread_sync", build_fence),
    Semantics("tcgen05.fence::after_thread_sync", build_fence),
)
