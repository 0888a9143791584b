"""Asynchronous copies by threads, which count as the generic proxy.  Source: PTX ISA 9.7.9.25."""

from __future__ import annotations

from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import (
    Array,
    Value,
    warps_of,
)
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Operation
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.synchronisation.barrier_addresses import (
    lane_addresses,
    lane_name,
)
from tileas_xdsl.interpreters.ptx.memory.generic_access import Group, addresses_of
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier_arrivals import (
    arrive,
    barrier_at,
    check_initialised,
)
from tileas_xdsl.layout.units import WARP

HINTS = ("L2::cache_hint", "L2::64B", "L2::128B", "L2::256B", "ca", "cg")
U32 = TYPES["u32"]


def build_cp_async(site: Site) -> Step:
    """`cp.async`: 4, 8 or 16 bytes a lane from global to shared memory, zeros beyond `src-size`."""
    hint = "L2::cache_hint" in site.modifiers
    site.ignore(HINTS)
    site.choose(("shared::cta", "shared"))
    site.choose(("global",))
    site.no_more()
    extra = site.count(3, 5) - hint
    dst, dst_offset = site.address(0)
    src, src_offset = site.address(1)
    size = site.immediate(2)
    if size not in (4, 8, 16):
        site.fail(f"{size} bytes are not 4, 8 or 16")
    ignored = None
    source_size = None
    if extra == 4:
        slot = site.operands[3]
        is_predicate = getattr(getattr(slot, "type", None), "name", "") == "pred"
        if is_predicate:
            ignored = site.predicate(3)
        else:
            source_size = site.source(3, U32)

    def step(f: ConvergenceGroup) -> None:
        lanes, targets = addresses_of(f, f.r[dst], dst_offset)
        _, sources = addresses_of(f, f.r[src], src_offset)
        amounts = np.full(len(lanes), size)
        if source_size is not None:
            amounts = _of_lanes(f.r[source_size], lanes).astype(np.int64)
            if int(amounts.max()) > size:
                raise Fault("invalid", f"src-size {int(amounts.max())} is more than {size}")
        elif ignored is not None:
            off = _of_lanes(f.r[ignored[0]], lanes).astype(bool) ^ ignored[1]
            amounts = np.where(off, 0, amounts)
        targets &= OFFSET_MASK
        if (counter := f.warpgroup.cta.cluster.accesses) is not None:
            read = amounts > 0
            counter.add(f.pc, "shared", Group("shared", slice(None), lanes, targets), size)
            if read.any():
                group = Group("global", slice(None), lanes[read], sources[read])
                counter.add(f.pc, "global", group, size)
        _copy_lanes(f, lanes, targets, sources, amounts, size)

    return step


def _of_lanes(value: Value, lanes: Array) -> Array:
    return value[lanes] if value.__class__ is np.ndarray else np.full(len(lanes), value)


def _copy_lanes(
    f: ConvergenceGroup, lanes: Array, targets: Array, sources: Array, amounts: Array, size: int
) -> None:
    warpgroup, cta = f.warpgroup, f.warpgroup.cta
    cluster = cta.cluster
    locations = cta.shared.locations(targets, 1, size)
    if bool((targets % size).any()):
        raise Fault("misaligned-address", f"cp.async writes are aligned to {size} bytes")
    started: dict[int, AsyncEvent] = {}
    if cluster.checker is not None:
        for warp in warps_of(f.mask):
            begun = cluster.checker.clocks.start_copy(warpgroup.agents[warp], f.pc)
            mine = targets[lanes // WARP == warp]
            cluster.checker.copy_generic(cta, mine, size, begun, f.pc)
            _check_sources(
                f, warp, sources[(amounts == size) & (lanes // WARP == warp)], size, begun
            )
            started[warp] = begun
    full = amounts == size

    def run() -> None:
        data = np.zeros((len(lanes), size), np.uint8)
        if full.any():
            data[full] = cluster.memory.load(sources[full], 1, size)
        for row in np.flatnonzero(~full & (amounts > 0)).tolist():
            part = cluster.memory.read(int(sources[row]), int(amounts[row]))
            data[row, : len(part)] = np.frombuffer(part, np.uint8)
        cta.shared.data[locations] = data
        cta.shared.writes += 1

    operation = cluster.queue.add(run, f.pc)
    for warp in warps_of(f.mask):
        warpgroup.warp_states[warp].copies_open.append((operation, started.get(warp)))


def _check_sources(
    f: ConvergenceGroup, warp: int, sources: Array, size: int, begun: AsyncEvent
) -> None:
    races = f.warpgroup.cta.cluster.races
    if races is not None and sources.size:
        races.copy_lanes(sources, size, begun, f.warpgroup.agents[warp], f.pc)


def build_commit(site: Site) -> Step:
    """`cp.async.commit_group`."""
    site.no_more()
    site.count(0)

    def step(f: ConvergenceGroup) -> None:
        for warp in warps_of(f.mask):
            state = f.warpgroup.warp_states[warp]
            state.copies.append(state.copies_open)
            state.copies_open = []

    return step


def build_wait(site: Site) -> Step:
    """`cp.async.wait_group` and `.wait_all`."""
    every = site.name.endswith("wait_all")
    site.no_more()
    site.count(0 if every else 1)
    newest = 0 if every else site.immediate(0)

    def step(f: ConvergenceGroup) -> None:
        for warp in warps_of(f.mask):
            state = f.warpgroup.warp_states[warp]
            if every:
                state.copies.append(state.copies_open)
                state.copies_open = []
            done = state.copies[: max(len(state.copies) - newest, 0)]
            state.copies = state.copies[len(done) :]
            _finish(f, warp, [copy for group in done for copy in group])

    return step


def _finish(
    f: ConvergenceGroup, warp: int, copies: list[tuple[Operation, AsyncEvent | None]]
) -> None:
    cluster = f.warpgroup.cta.cluster
    for operation, started in copies:
        cluster.queue.force(operation)
        if cluster.checker is not None and started is not None:
            cluster.checker.clocks.join_own(f.warpgroup.agents[warp], started.done())


def build_arrive(site: Site) -> Step:
    """`cp.async.mbarrier.arrive`: arrive once all prior `cp.async` of the thread have completed."""
    uncounted = site.flag("noinc")
    space = site.choose(("shared::cta", "shared"), "generic")
    site.type(("b64",))
    site.no_more()
    site.count(1)
    slot, offset = site.address(0)

    def step(f: ConvergenceGroup) -> None:
        cluster = f.warpgroup.cta.cluster
        at = f.pc
        for lane, address in lane_addresses(f, slot, offset, space):
            _, barrier = barrier_at(cluster, address)
            check_initialised(cluster, barrier, f.warpgroup.agent(lane), at)
            if not uncounted:
                barrier.pending += 1
            state = f.warpgroup.warp_states[lane // WARP]
            copies = [c for group in state.copies for c in group] + state.copies_open
            who = lane_name(f, lane)

            def run(barrier: Any = barrier, copies: Any = copies, who: str = who) -> None:
                known = None
                for operation, started in copies:
                    cluster.queue.force(operation)
                    if cluster.checker is not None and started is not None:
                        more = cluster.checker.clocks.completion_snapshot(started)
                        known = more if known is None else known
                        known.join(more)
                arrive(cluster, barrier, at, f"copies of {who}", count=1, snapshot=known)

            cluster.queue.add(run, f.pc)

    return step


TABLE = (
    Semantics("cp.async", build_cp_async),
    Semantics("cp.async.commit_group", build_commit),
    Semantics("cp.async.wait_group", build_wait),
    Semantics("cp.async.wait_all", build_wait),
    Semantics("cp.async.mbarrier.arrive", build_arrive),
)
