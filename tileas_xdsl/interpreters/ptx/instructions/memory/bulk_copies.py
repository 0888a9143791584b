"""Bulk copies, which count as the asynchronous proxy.  Source: PTX ISA 9.7.9.25."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import (
    Array,
    bools,
    lane_list,
)
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Cta
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step, build_no_operation
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import lane_value
from tileas_xdsl.interpreters.ptx.instructions.synchronisation.barrier_addresses import lane_name
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK, RANK_SHIFT
from tileas_xdsl.interpreters.ptx.numerics.memory_reductions import REDUCTIONS, reduce_bytes
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier_arrivals import (
    arrive,
    barrier_at,
    check_fenced,
    check_initialised,
)
from tileas_xdsl.interpreters.ptx.tma import bulk_groups as bulk

U32 = TYPES["u32"]


def build_bulk(site: Site) -> Step:
    """`cp.async.bulk` and `cp.reduce.async.bulk`: contiguous bytes between two memory spaces.

    Those of `multimem` reach each device of a team, of which there is one.
    """
    reduces = "reduce" in site.name.split(".")
    to, source = _spaces(site)
    by_barrier = site.flag("mbarrier::complete_tx::bytes")
    if not by_barrier:
        site.choose(("bulk_group",))
    multicast = site.flag("multicast::cluster")
    hint = site.flag("L2::cache_hint")
    masked = site.flag("cp_mask")
    how = _reduction(site) if reduces else None
    site.no_more()
    if (to == "global") == by_barrier or (to == "global" and source == "global"):
        site.fail(f"no copy from .{source} to .{to} completes that way")
    site.count(3 + by_barrier + multicast + hint + masked)
    slots = [site.address(0), site.address(1)]
    size = site.source(2, U32)
    barrier = site.address(3) if by_barrier else None
    mask = site.source(4, TYPES["u16"]) if multicast else None
    byte_mask = site.source(3 + hint, TYPES["u16"]) if masked else None

    def step(f: ConvergenceGroup) -> None:
        for lane in lane_list(f.mask):
            addresses = [lane_value(f, s, lane) + o for s, o in slots]
            amount = lane_value(f, size, lane)
            if amount % 16 or any(a % 16 for a in addresses):
                raise Fault(
                    "misaligned-address", f"{site.name}: {amount} bytes and both addresses must "
                    "be multiples of 16"
                )  # fmt: skip
            if (counter := f.warpgroup.cta.cluster.accesses) is not None:
                counter.bulk_bytes[f.pc] += amount
            if barrier is None:
                copied = _copied(f, lane, byte_mask, amount)
                _bulk_store(f, lane, addresses[0], addresses[1], copied, how)
                continue
            address = lane_value(f, barrier[0], lane) + barrier[1]
            ranks = _ranks(f, mask, lane, addresses[0])
            _bulk_load(f, lane, ranks, addresses, (source, amount), address, how)

    return step


def _spaces(site: Site) -> tuple[str, str]:
    """Return the state spaces of the target and of the source."""
    to = next((m for m in site.modifiers if m in ("shared::cluster", "shared::cta", "global")), "")
    if not site.flag(to):
        site.fail("the space of the target is missing")
    source = next((m for m in site.modifiers if m in ("global", "shared::cta")), "")
    if not site.flag(source):
        site.fail("the space of the source is missing")
    return to, source


def _copied(f: ConvergenceGroup, lane: int, mask: int | None, size: int) -> Array:
    """Return which bytes a bulk store copies: those of each 16 that the mask of a lane names."""
    if mask is None:
        return np.ones(size, np.bool_)
    return np.resize(bools(lane_value(f, mask, lane), 16), size)


def _reduction(site: Site) -> Callable[[Array, Array], Array]:
    names = ("f16", "bf16", "b32", "b64", "u32", "s32", "u64", "s64", "f32", "f64")
    type_ = site.type(names)
    site.flag("noftz")
    operation = site.choose(REDUCTIONS)
    return reduce_bytes(operation, type_.name)


def _ranks(f: ConvergenceGroup, mask: int | None, lane: int, target: int) -> list[int]:
    if mask is None:
        return [(target & 0xFFFF_FFFF) >> RANK_SHIFT]
    bits = lane_value(f, mask, lane)
    ranks = [r for r in range(16) if bits >> r & 1]
    count = len(f.warpgroup.cta.cluster.ctas)
    if not ranks or ranks[-1] >= count:
        raise Fault("invalid", f"the multicast mask {bits:#x} names CTAs beyond the {count}")
    return ranks


def granules(offset: int, size: int) -> slice:
    """Return the shadow-memory granules of a byte range."""
    return slice(offset >> 4, (offset + size) >> 4)


def _bulk_store(
    f: ConvergenceGroup,
    lane: int,
    target: int,
    source: int,
    copied: Array,
    how: Callable[[Array, Array], Array] | None,
) -> None:
    """Issue a bulk copy or reduction of the bytes that are `copied` to global memory."""
    size, whole = len(copied), bool(copied.all())
    cta, cluster = f.warpgroup.cta, f.warpgroup.cta.cluster
    offset = source & OFFSET_MASK
    cta.shared.check(offset, size, 16)
    started = None
    if cluster.checker is not None:
        started = cluster.checker.clocks.start_copy(f.warpgroup.agent(lane), f.pc)
        cluster.checker.copy(cta, granules(offset, size), started, f.pc, write=False)
    rows, length = (np.array([0]), size) if whole else (np.flatnonzero(copied), 1)
    written = bulk.start_write(f, lane, target + rows, length, atomic=how is not None)

    def run() -> None:
        data = cta.shared.data[offset : offset + size].copy()
        if how is not None or not whole:
            old = np.frombuffer(cluster.memory.read(target, size), np.uint8)
            data = np.where(copied, data, old) if how is None else how(old, data)
        cluster.memory.write(target, data.tobytes())

    operation = cluster.queue.add(run, f.pc, lane=("bulk", f.warpgroup.agent(lane)))
    bulk.add(f, lane, bulk.BulkCopy(operation, started, written))


def _bulk_load(
    f: ConvergenceGroup,
    lane: int,
    ranks: list[int],
    addresses: list[int],
    source: tuple[str, int],
    barrier: int,
    how: Callable[[Array, Array], Array] | None,
) -> None:
    """Issue a bulk copy from global or own shared memory to the shared memory of CTAs."""
    space, size = source
    cta, cluster = f.warpgroup.cta, f.warpgroup.cta.cluster
    offset, origin = addresses[0] & OFFSET_MASK, addresses[1]
    checker, at = cluster.checker, f.pc
    writes: Mapping[int, AsyncEvent] = {}
    if checker is not None:
        agent = f.warpgroup.agent(lane)
        started, writes = checker.clocks.start_multicast(agent, at, barrier, ranks)
        if space != "global":
            checker.copy(cta, granules(origin & OFFSET_MASK, size), started, at, write=False)
        elif cluster.races is not None:
            row = np.array([origin]), size, started, agent, at
            cluster.races.copy_rows(*row, write=False)
    for rank in ranks:
        target = cluster.cta_of(rank << RANK_SHIFT)
        target.shared.check(offset, size, 16)
        if checker is not None:
            checker.copy(target, granules(offset, size), writes[rank], at, write=True)
    who = f"a bulk copy of {lane_name(f, lane)}"

    def run() -> None:
        data = _bytes(cluster, cta, space, origin, size)
        for rank in ranks:
            target = cluster.cta_of(rank << RANK_SHIFT)
            location = target.shared.data[offset : offset + size]
            location[:] = data if how is None else how(location.copy(), data)
            target.shared.writes += 1
            complete(cluster, rank, barrier, at, who, size, writes.get(rank))

    cluster.queue.add(run, f.pc)


def _bytes(cluster: Any, cta: Cta, space: str, origin: int, size: int) -> Array:
    if space == "global":
        return np.frombuffer(cluster.memory.read(origin, size), np.uint8)
    location = origin & OFFSET_MASK
    return cta.shared.data[location : location + size].copy()


def complete(
    cluster: Any, rank: int, barrier: int, at: int, who: str, size: int, started: AsyncEvent | None
) -> None:
    """Complete the transaction bytes of a copy on the mbarrier of the CTA of this rank."""
    address = barrier & OFFSET_MASK | rank << RANK_SHIFT
    _, found = barrier_at(cluster, address)
    if len(cluster.ctas) > 1:
        check_fenced(cluster, found, at, who)
    known = None
    if cluster.checker is not None and started is not None:
        warp, _ = cluster.checker.clocks.describe(started.agent)
        check_initialised(cluster, found, warp, at, started.limits)
        known = cluster.checker.clocks.completion_snapshot(started)
    arrive(cluster, found, at, who, delivered=size, snapshot=known)


def build_bulk_commit(site: Site) -> Step:
    """`cp.async.bulk.commit_group`."""
    site.no_more()
    site.count(0)
    return bulk.commit


def build_bulk_wait(site: Site) -> Step:
    """`cp.async.bulk.wait_group`, with .read."""
    only_read = site.flag("read")
    site.no_more()
    site.count(1)
    newest = site.immediate(0)
    return lambda f: bulk.wait(f, newest, only_read=only_read)


TABLE = (
    Semantics("cp.async.bulk", build_bulk),
    Semantics("multimem.cp.async.bulk", build_bulk),
    Semantics("multimem.cp.reduce.async.bulk", build_bulk),
    Semantics("cp.reduce.async.bulk", build_bulk),
    Semantics("cp.async.bulk.commit_group", build_bulk_commit),
    Semantics("cp.async.bulk.wait_group", build_bulk_wait),
    Semantics("cp.async.bulk.prefetch", build_no_operation),
)
