"""Blocks that take over others which have not started.  Source: PTX ISA 9.7.13.17.

A response of 16 bytes, opaque to programs, has the index of the first CTA of the cancelled cluster
in three words, and in the fourth whether there is one.  Its write is one of the asynchronous proxy.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value, lane_list
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import lane_value
from tileas_xdsl.interpreters.ptx.instructions.memory.bulk_copies import complete, granules
from tileas_xdsl.interpreters.ptx.instructions.synchronisation.barrier_addresses import (
    lane_name,
    shared_address,
)
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK, RANK_SHIFT
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Vector

RESPONSE = 16
"""Bytes of a response."""
CANCELLED = 1
REFUSAL = 0.125
"""Probability that a cluster is not cancelled although it has not started, under the random order:
hardware may start something else instead."""

B32, B64, PRED = TYPES["b32"], TYPES["b64"], TYPES["pred"]


def build_try_cancel(site: Site) -> Step:
    """`clusterlaunchcontrol.try_cancel`: ask for a cluster that has not started."""
    generic = not site.flag("shared::cta")
    every = site.flag("multicast::cluster::all")
    site.ignore(("async", "mbarrier::complete_tx::bytes", "b128"))
    site.no_more()
    site.count(2)
    response, barrier = site.address(0), site.address(1)

    def step(f: ConvergenceGroup) -> None:
        for lane in lane_list(f.mask):
            target, signal = (
                shared_address(f, lane_value(f, slot, lane) + offset, generic)
                for slot, offset in (response, barrier)
            )
            _check_asked(f)
            _ask(f, lane, target, signal, every=every)

    return step


def _check_asked(f: ConvergenceGroup) -> None:
    cluster = f.warpgroup.cta.cluster
    if cluster.checker is None or not cluster.seen_refusal:
        return
    cluster.checker.findings.add(
        "invalid",
        f.pc,
        "a launch is asked for after a request has failed",
        ["hint: once is_canceled is false, a block finishes its work and ends"],
    )


def _ask(f: ConvergenceGroup, lane: int, target: int, signal: int, *, every: bool) -> None:
    """Issue a request, whose response goes to the own CTA, or to `every` one of the cluster."""
    cta, cluster, at = f.warpgroup.cta, f.warpgroup.cta.cluster, f.pc
    offset = target & OFFSET_MASK
    ranks = range(len(cluster.ctas)) if every else [cta.rank]
    writes: Mapping[int, AsyncEvent] = {}
    if cluster.checker is not None:
        agent = f.warpgroup.agent(lane)
        _, writes = cluster.checker.clocks.start_multicast(agent, at, signal, ranks)
    for rank in ranks:
        asked = cluster.cta_of(rank << RANK_SHIFT)
        asked.shared.check(offset, RESPONSE, RESPONSE)
        if cluster.checker is not None:
            written = granules(offset, RESPONSE)
            cluster.checker.copy(asked, written, writes[rank], at, write=True)
    who = f"a request of {lane_name(f, lane)}"

    def run() -> None:
        words = np.array(_response(cluster), np.uint32)
        for rank in ranks:
            shared = cluster.cta_of(rank << RANK_SHIFT).shared
            shared.data[offset : offset + RESPONSE] = words.view(np.uint8)
            shared.writes += 1
            complete(cluster, rank, signal, at, who, RESPONSE, writes.get(rank))

    cluster.queue.add(run, at)


def _response(cluster: Cluster) -> tuple[int, int, int, int]:
    refused = cluster.queue.is_random and cluster.rng.random() < REFUSAL
    found = None if refused or cluster.pending is None else cluster.pending.cancel()
    return (0, 0, 0, 0) if found is None else (*found, CANCELLED)


def build_query_cancel(site: Site) -> Step:
    """`clusterlaunchcontrol.query_cancel`: whether a request was granted, or what it gave."""
    site.ignore(("b128",))
    site.count(2)
    low, high = (site.source(half, B64) for half in site.halves(1))
    if site.flag("is_canceled"):
        site.ignore(("pred",))
        site.no_more()
        dest = site.destination(0, PRED)
        return _is_cancelled(dest, high)
    site.ignore(("b32",))
    axes = [axis for axis in range(3) if site.flag(f"get_first_ctaid::{'xyz'[axis]}")]
    operand = site.operands[0]
    parts = operand.parts if isinstance(operand, Vector) else (operand,)
    if not axes:
        site.ignore(("get_first_ctaid", "v4"))
        axes = [0, 1, 2]
        parts = site.vector(0, (4,))[:3]
    site.no_more()
    dests = [site.destination(part, B32) for part in parts]

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        _check_granted(f, r[high])
        for axis, dest in zip(axes, dests, strict=True):
            r[dest] = _word(r[high] if axis == 2 else r[low], axis % 2)

    return step


def _is_cancelled(dest: int, high: int) -> Step:
    def step(f: ConvergenceGroup) -> None:
        granted = _word(f.r[high], 1)
        found = granted != 0
        f.r[dest] = found if found.__class__ is np.ndarray else bool(found)
        if not bool(_of_lanes(f, granted).all()):
            f.warpgroup.cta.cluster.seen_refusal = True

    return step


def _check_granted(f: ConvergenceGroup, high: Value) -> None:
    checker = f.warpgroup.cta.cluster.checker
    if checker is None or bool(_of_lanes(f, _word(high, 1)).all()):
        return
    checker.findings.add(
        "invalid",
        f.pc,
        "the first CTA of a launch that was not cancelled is asked for",
        ["hint: only where clusterlaunchcontrol.query_cancel.is_canceled is true"],
    )


def _of_lanes(f: ConvergenceGroup, value: Value) -> Array:
    """Return the values of the active lanes."""
    return value[lane_list(f.mask)] if value.__class__ is np.ndarray else np.array([value])


def _word(value: Value, index: int) -> Value:
    """Return the low or high word of registers of 64 bits."""
    if value.__class__ is np.ndarray:
        return (value >> np.uint64(32 * index)).astype(np.uint32)
    return int(value) >> 32 * index & 0xFFFF_FFFF


TABLE = (
    Semantics("clusterlaunchcontrol.try_cancel", build_try_cancel),
    Semantics("clusterlaunchcontrol.query_cancel", build_query_cancel),
)
