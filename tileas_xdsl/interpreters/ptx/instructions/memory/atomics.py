"""Atomics and reductions in memory.  Source: PTX ISA 9.7.13.5 atom, 9.7.13.6 red."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Cta
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.elementwise.move import gathered
from tileas_xdsl.interpreters.ptx.instructions.memory.load_store import (
    memory_modifiers,
    put_rows,
    vector_length,
)
from tileas_xdsl.interpreters.ptx.instructions.synchronisation.barrier_addresses import (
    lane_addresses,
    lane_name,
)
from tileas_xdsl.interpreters.ptx.memory.generic_access import (
    Group,
    groups,
    load,
    store,
    strong_access,
)
from tileas_xdsl.interpreters.ptx.memory.memory_order import MemoryOrder, order_of_access
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK
from tileas_xdsl.interpreters.ptx.numerics.memory_reductions import (
    Combine,
    combine,
    combine_in_global_memory,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED, ScalarType
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier_arrivals import (
    arrive,
    barrier_at,
    check_initialised,
)

OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")

TYPES_OF_ATOMICS = ("b16", "b32", "b64", "u32", "u64", "s32", "s64", "f16", "bf16", "f16x2",
                    "bf16x2", "f32", "f64", "b128")  # fmt: skip

PREEMPTION = 0.25
"""Probability that other clusters run after an atomic, under the random order."""

PACKED = {"f16x2": "f16", "bf16x2": "bf16"}


def build_atom(site: Site) -> Step:
    """`atom` and `red`: lanes execute one after the other, in ascending order."""
    returns = site.name == "atom"
    type_ = site.type(TYPES_OF_ATOMICS)
    operation = site.choose(OPERATIONS)
    site.ignore(("noftz",))
    order = order_of_access(site.modifiers, atomic=True)
    space = memory_modifiers(site)
    count = vector_length(site)
    site.no_more()
    first = int(returns)
    values = 2 if operation == "cas" else 1
    site.count(first + 1 + values, first + 2 + values)
    indices = range(first + 1, first + 1 + values)
    words = [site.words(site.vector(i, (count,)), type_)[0] for i in indices]
    results, type_ = site.words(site.vector(0, (count,)) if returns else (), type_)
    dests = [(site.destination(part, type_), type_.bits) for part in results]
    slot, offset = site.address(first)
    slots = [[site.source(part, type_) for part in parts] for parts in words]
    count = len(slots[0])
    functions = {
        location: _function(operation, type_, location) for location in ("global", "shared")
    }
    size, dtype = type_.size, UNSIGNED[type_.bits]

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        columns = [gathered([r[s] for s in row], f.warpgroup.lanes, dtype) for row in slots]
        old = np.zeros((f.mask.bit_count(), count), dtype)
        for group in groups(f, r[slot], offset, space):
            now = [c[group.lanes] for c in columns]
            rows = _apply(f, group, now, size, functions)
            expected = now[0] if operation == "cas" else None
            _check(f, group, rows, expected, order, reads=operation != "exch")
            old[group.rows] = rows
        cluster = f.warpgroup.cta.cluster
        cluster.preempted = cluster.queue.is_random and cluster.rng.random() < PREEMPTION
        if dests:
            put_rows(f, old, type_, dests)

    return step


Update = tuple[str, Combine | None]


def _function(operation: str, type_: ScalarType, location: str) -> Update:
    if operation in ("cas", "exch"):
        return operation, None
    if type_.name in PACKED:
        part = combine(operation, PACKED[type_.name])
        half = np.dtype(np.uint16)
        return operation, lambda a, b: part(a.view(half), b.view(half)).view(np.uint32)
    name = type_.name
    if name.startswith("b") and name != "bf16" and operation in ("min", "max", "add"):
        name = f"u{type_.bits}"
    make = combine if location == "shared" else combine_in_global_memory
    return operation, make(operation, name)


def _apply(
    f: ConvergenceGroup,
    group: Group,
    operands: list[Array],
    size: int,
    updates: Mapping[str, Update],
) -> Array:
    """Update memory and return the old values per lane; lanes of one address run in order."""
    operation, function = updates["shared" if group.space == "shared" else "global"]
    addresses = group.addresses
    old = np.zeros_like(operands[0])
    for now in _rounds(addresses):
        part = Group(group.space, slice(None), group.lanes[now], addresses[now], group.cta)
        found = load(f, part, size, old.shape[1], check=False)
        old[now] = found
        if operation == "cas":
            same = (found == operands[0][now]).all(1, keepdims=True)
            new = np.where(same, operands[1][now], found)
        elif function is None:
            new = operands[0][now]
        else:
            new = function(np.ascontiguousarray(found), np.ascontiguousarray(operands[0][now]))
        if not np.array_equal(new.reshape(found.shape), found):
            _store_atomically(f, part, new.reshape(found.shape), size)
    return old


def _check(
    f: ConvergenceGroup,
    group: Group,
    old: Array,
    expected: Array | None,
    order: MemoryOrder,
    *,
    reads: bool,
) -> None:
    """Check atomics; a compare-and-swap that fails only reads."""
    cluster = f.warpgroup.cta.cluster
    size = old.shape[1] * old.itemsize
    if group.space == "shared":
        strong_access(f, group, size, order, reads=reads, writes=True)
    if group.space != "global" or cluster.races is None:
        return
    wrote = np.ones(len(old), np.bool_) if expected is None else (old == expected).all(1)
    cluster.races.update(f.warpgroup, group.lanes, group.addresses, size, f.pc, order, wrote)


def _rounds(addresses: Array) -> list[Array]:
    """Partition lanes into groups without duplicate addresses, in lane order per address."""
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    begin = np.maximum.accumulate(np.where(first, np.arange(len(ordered)), 0))
    turn = np.empty(len(ordered), np.int64)
    turn[order] = np.arange(len(ordered)) - begin
    return [np.flatnonzero(turn == i) for i in range(int(turn.max()) + 1)]


def _store_atomically(f: ConvergenceGroup, group: Group, values: Array, size: int) -> None:
    """Store values; `_check` records the access."""
    if group.space != "shared":
        store(f, group, values, size, check=False)
        return
    cta = group.cta
    assert cta is not None
    cta.shared.views[size][cta.shared.locations(group.addresses, size, values.shape[1])] = values
    cta.shared.writes += 1
    cta.cluster.events += 1


def build_st_async(site: Site) -> Step:
    """`st.async`: a store to shared memory of the cluster that completes bytes on an mbarrier."""
    type_ = site.type(("b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64"))
    count = vector_length(site)
    site.ignore(("weak", "shared::cluster", "mbarrier::complete_tx::bytes"))
    site.no_more()
    site.count(3)
    slot, offset = site.address(0)
    slots = [site.source(p, type_) for p in site.vector(1, (count,))]
    bar, bar_offset = site.address(2)
    size, dtype = type_.size, UNSIGNED[type_.bits]

    def step(f: ConvergenceGroup) -> None:
        columns = gathered([f.r[s] for s in slots], f.warpgroup.lanes, dtype)
        barriers = dict(lane_addresses(f, bar, bar_offset, "shared::cluster"))
        for lane, address in lane_addresses(f, slot, offset, "shared::cluster"):
            cta, location = f.warpgroup.cta.cluster.cta_of(address), address & OFFSET_MASK
            cta.shared.check(location, size * count, size * count)
            _send(f, lane, cta, location, columns[lane], barriers[lane])

    return step


def build_red_async(site: Site) -> Step:
    """`red.async`: a reduction in shared memory of the cluster that completes bytes on an
    mbarrier."""
    type_ = site.type(("u32", "s32", "u64", "s64", "b32"))
    operation = site.choose(OPERATIONS)
    site.ignore(("relaxed", "cluster", "shared::cluster", "mbarrier::complete_tx::bytes"))
    site.no_more()
    site.count(3)
    slot, offset = site.address(0)
    value = site.source(1, type_)
    bar, bar_offset = site.address(2)
    size, dtype = type_.size, UNSIGNED[type_.bits]
    _, function = _function(operation, type_, "shared")
    assert function is not None

    def step(f: ConvergenceGroup) -> None:
        columns = gathered([f.r[value]], f.warpgroup.lanes, dtype)
        barriers = dict(lane_addresses(f, bar, bar_offset, "shared::cluster"))
        for lane, address in lane_addresses(f, slot, offset, "shared::cluster"):
            cta, location = f.warpgroup.cta.cluster.cta_of(address), address & OFFSET_MASK
            cta.shared.check(location, size, size)
            _send(f, lane, cta, location, columns[lane], barriers[lane], function)

    return step


def _send(
    f: ConvergenceGroup,
    lane: int,
    cta: Cta,
    location: int,
    values: Array,
    signal: int,
    how: Combine | None = None,
) -> None:
    """Store values, or combine them with what is there, and complete their bytes, later."""
    size = values.nbytes
    cluster, at = f.warpgroup.cta.cluster, f.pc
    checker = cluster.checker
    started: AsyncEvent | None = None
    if checker is not None:
        started = checker.clocks.start_copy(f.warpgroup.agent(lane), at, signal)
        if how is None:
            checker.copy_generic(cta, np.array([location]), size, started, at)
        else:
            checker.reduce(cta, location, size, started, at)
    who = f"{'st' if how is None else 'red'}.async of {lane_name(f, lane)}"

    def run() -> None:
        cells = cta.shared.data[location : location + size].view(values.dtype)
        cells[:] = values if how is None else how(cells.copy(), values)
        cta.shared.writes += 1
        _, barrier = barrier_at(cluster, signal)
        known = None
        if checker is not None and started is not None:
            check_initialised(cluster, barrier, f.warpgroup.agent(lane), at, started.limits)
            known = checker.clocks.completion_snapshot(started)
        arrive(cluster, barrier, at, who, delivered=size, snapshot=known)

    cluster.queue.add(run, at)


TABLE = (
    Semantics("atom", build_atom),
    Semantics("red", build_atom),
    Semantics("st.async", build_st_async),
    Semantics("red.async", build_red_async),
)
