"""Loads and stores of a convergence group, by the state space that each lane's address is in.

Addresses of an instruction may be uniform or differ by lane; the lanes that execute it are those
of the active mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.checker import Checker
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Severity
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value, indices
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Cta
from tileas_xdsl.interpreters.ptx.memory.global_memory import LOCAL_WINDOW, SHARED_WINDOW
from tileas_xdsl.interpreters.ptx.memory.memory_order import WEAK_ACCESS, MemoryOrder
from tileas_xdsl.interpreters.ptx.memory.shared_memory import (
    OFFSET_MASK,
    RANK_SHIFT,
    RESERVED,
    SharedMemory,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED

Space: TypeAlias = Literal["generic", "global", "shared", "local"]

SPACES: dict[str, Space] = {
    "": "generic",
    "global": "global",
    "const": "global",
    "param": "global",
    "param::entry": "global",
    "param::func": "local",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared",
    "local": "local",
}
"""The kind of address by the name of a state space."""


@dataclass(slots=True)
class Group:
    """Lanes whose addresses are in one memory; `rows` are their indices among the active lanes."""

    space: Space
    rows: Array | slice
    lanes: Array
    addresses: Array
    cta: Cta | None = None


POINTER = 8
"""Bytes of a generic address."""

HALF_RANGE = 1 << 63
"""Of integers of 64 bits: the numbers without a sign."""


def addresses_of(f: ConvergenceGroup, value: Value, offset: int) -> tuple[Array, Array]:
    """Return the active lanes and their addresses as int64."""
    lanes = indices(f.mask)
    if value.__class__ is np.ndarray:
        mine = value if len(lanes) == len(value) else value[lanes]
        found = mine.view(np.int64) if mine.itemsize == POINTER else mine.astype(np.int64)
        return lanes, found + offset if offset else found
    return lanes, np.full(len(lanes), as_signed(value + offset), np.int64)


def as_signed(address: int) -> int:
    """Return the lower 64 bits of an address as int64 has them."""
    return (address + HALF_RANGE) % (2 * HALF_RANGE) - HALF_RANGE


def groups(f: ConvergenceGroup, value: Value, offset: int, space: Space) -> Iterator[Group]:
    """Yield the accesses of an instruction, grouped by memory."""
    lanes, addresses = addresses_of(f, value, offset)
    if space == "global":
        yield Group("global", slice(None), lanes, addresses)
        return
    if space == "generic":
        yield from _generic(f, lanes, addresses)
    elif space == "shared":
        yield from _shared(f, slice(None), lanes, addresses & 0xFFFF_FFFF)
    else:
        yield Group("local", slice(None), lanes, addresses & 0xFFFF_FFFF)


def _generic(f: ConvergenceGroup, lanes: Array, addresses: Array) -> Iterator[Group]:
    low, high = int(addresses.min()), int(addresses.max())
    if high < LOCAL_WINDOW:
        yield Group("global", slice(None), lanes, addresses)
        return
    if low >= SHARED_WINDOW:
        yield from _shared(f, slice(None), lanes, addresses - SHARED_WINDOW)
        return
    kinds = (addresses >= LOCAL_WINDOW).astype(int) + (addresses >= SHARED_WINDOW)
    for kind in np.unique(kinds).tolist():
        rows = np.flatnonzero(kinds == kind)
        mine = addresses[rows]
        if kind == 2:
            yield from _shared(f, rows, lanes[rows], mine - SHARED_WINDOW)
        elif kind == 1:
            yield Group("local", rows, lanes[rows], mine - LOCAL_WINDOW)
        else:
            yield Group("global", rows, lanes[rows], mine)


def _shared(
    f: ConvergenceGroup, rows: Array | slice, lanes: Array, addresses: Array
) -> Iterator[Group]:
    ranks = addresses >> RANK_SHIFT
    first = int(ranks[0])
    if bool((ranks == first).all()):
        yield Group(
            "shared", rows, lanes, addresses & OFFSET_MASK, _cta_of_rank(f, first, addresses)
        )
        return
    locations = np.arange(len(lanes)) if isinstance(rows, slice) else rows
    for rank in np.unique(ranks).tolist():
        mine = np.flatnonzero(ranks == rank)
        found = addresses[mine]
        cta = _cta_of_rank(f, rank, found)
        yield Group("shared", locations[mine], lanes[mine], found & OFFSET_MASK, cta)


def _cta_of_rank(f: ConvergenceGroup, rank: int, addresses: Array) -> Cta:
    cta = f.warpgroup.cta
    if rank == cta.rank:
        return cta
    found = cta.cluster.cta_of(int(addresses[0]))
    record_remote_access(f, found)
    return found


def record_remote_access(f: ConvergenceGroup, cta: Cta) -> None:
    """Record an access to the shared memory of another CTA, to check that it has started, and does
    not exit before."""
    cluster = f.warpgroup.cta.cluster
    checker = cluster.checker
    if checker is None or cta is f.warpgroup.cta:
        return
    ordered = checker.clocks.ordered
    for agent in {f.warpgroup.agent(int(lane)) for lane in indices(f.mask)}:
        if agent not in cta.reached_by and not cluster.barrier.generation:
            checker.reach(cta, agent, f.pc)
        cta.reached_by.add(agent)
        cta.remote_access[agent] = int(ordered[agent, agent])


def load(
    f: ConvergenceGroup,
    group: Group,
    size: int,
    count: int,
    order: MemoryOrder = WEAK_ACCESS,
    *,
    check: bool = True,
) -> Array:
    """Return `count` elements of `size` bytes for each lane, an array (lanes, count)."""
    cluster = f.warpgroup.cta.cluster
    if cluster.accesses is not None and group.space in ("global", "shared"):
        cluster.accesses.add(f.pc, group.space, group, size * count)
    if group.space == "global":
        found = cluster.memory.load(group.addresses, size, count)
        if cluster.races is not None and check:
            cluster.races.read(f.warpgroup, group.lanes, group.addresses, size * count, f.pc, order)
        return found
    if group.space == "local":
        return _local(f, group, size, count)
    cta = group.cta
    assert cta is not None
    locations = cta.shared.locations(group.addresses, size, count)
    if cluster.checker is not None and check and order.scope:
        strong_access(f, group, size * count, order, reads=True, writes=False)
    elif cluster.checker is not None and check:
        cluster.checker.lanes(
            cta, f.warpgroup, group.lanes, group.addresses, size * count, f.pc, write=False
        )
    return cta.shared.views[size][locations]


def store(
    f: ConvergenceGroup,
    group: Group,
    values: Array,
    size: int,
    order: MemoryOrder = WEAK_ACCESS,
    *,
    check: bool = True,
) -> None:
    """Store `values` (lanes, count) as elements of `size` bytes."""
    cluster = f.warpgroup.cta.cluster
    cluster.events += 1
    if cluster.accesses is not None and check and group.space in ("global", "shared"):
        cluster.accesses.add(f.pc, group.space, group, size * values.shape[1])
    if group.space == "global":
        if cluster.races is not None and check:
            cluster.races.write(f.warpgroup, group.lanes, group.addresses, values, f.pc, order)
        cluster.memory.store(group.addresses, values, size)
        if cluster.races is not None and check:
            cluster.races.lanes_agree(group.addresses, values, f.pc, order)
        return
    if group.space == "local":
        _store_local(f, group, values, size)
        return
    cta = group.cta
    assert cta is not None
    count = values.shape[1]
    locations = cta.shared.locations(group.addresses, size, count)
    if cluster.checker is not None and order.scope:
        strong_access(f, group, size * count, order, reads=False, writes=True)
    elif cluster.checker is not None:
        cluster.checker.lanes(
            cta, f.warpgroup, group.lanes, group.addresses, size * count, f.pc, write=True
        )
    cta.shared.views[size][locations] = values
    cta.shared.writes += 1
    if cluster.checker is not None:
        if cta.shared.outside is not None:
            _check_inside(cta.shared, group.addresses, size * count, f.pc, cluster.checker)
        stored = cta.shared.views[size][locations]
        cluster.checker.lanes_agree(cta, group.addresses, stored, values, f.pc)


def strong_access(
    f: ConvergenceGroup, group: Group, size: int, order: MemoryOrder, *, reads: bool, writes: bool
) -> None:
    """Check strong accesses of shared memory, and what they acquire and release."""
    cluster, cta = f.warpgroup.cta.cluster, group.cta
    if cluster.checker is None or cluster.races is None or cta is None:
        return
    lanes, offsets = group.lanes, group.addresses
    what = cluster.checker.strong
    what(cta, f.warpgroup, lanes, offsets, size, f.pc, reads=reads, writes=writes)
    messages = cluster.races.shared
    messages.access(cta.rank, f.warpgroup, lanes, offsets, f.pc, order, reads=reads, writes=writes)


def _check_inside(
    shared: SharedMemory, addresses: Array, size: int, at: int, checker: Checker
) -> None:
    """Report a store to the padding between two variables."""
    assert shared.outside is not None
    last = np.minimum(addresses + size - 1, len(shared.outside) - 1)
    wrong = shared.outside[last] & (addresses + size <= len(shared.outside))
    if not wrong.any():
        return
    offset = int(addresses[wrong][0])
    checker.findings.add(
        "illegal-address",
        at,
        f"{size} bytes at shared offset {offset - RESERVED:#x} are past the end of a variable, and "
        "of no other",
        ["hint: a larger variable, or a smaller index"],
    )


def _local_places(f: ConvergenceGroup, group: Group, size: int, count: int) -> tuple[Array, Array]:
    memory = f.warpgroup.local
    low, high = int(group.addresses.min()), int(group.addresses.max())
    if memory is None or low < 0 or high + size * count > memory.shape[1]:
        limit = 0 if memory is None else memory.shape[1]
        raise Fault(
            "illegal-address",
            f"{size * count} bytes at local address {high:#x} are outside of the {limit} bytes "
            "that a thread has",
        )
    tops = f.warpgroup.stack_tops
    if tops is not None:
        beyond = group.addresses + size * count > tops[group.lanes]
        if beyond.any():
            raise Fault(
                "illegal-address",
                f"{size * count} bytes at local address {int(group.addresses[beyond][0]):#x} are "
                f"past the stack of lane {int(group.lanes[beyond][0]) % 32}: they were never "
                "allocated, or given back by stackrestore or at the end of a function",
            )
    if bool((group.addresses % (size * count)).any()):
        raise Fault("misaligned-address", f"local address {low:#x} is misaligned")
    locations = (group.addresses // size)[:, None] + np.arange(count)
    return memory.view(UNSIGNED[8 * size]), locations


def _local(f: ConvergenceGroup, group: Group, size: int, count: int) -> Array:
    view, locations = _local_places(f, group, size, count)
    checker = f.warpgroup.cta.cluster.checker
    if checker is not None:
        written = f.warpgroup.local_written.reshape(len(view), -1, size).any(2)
        fresh = ~written[group.lanes[:, None], locations]
        if fresh.any():
            _report_unwritten_local(f, group, fresh, checker)
    return view[group.lanes[:, None], locations]


def _report_unwritten_local(
    f: ConvergenceGroup, group: Group, fresh: Array, checker: Checker
) -> None:
    """Report elements that no store of the lane has written: a note if others of its vector are,
    since compilers copy structures with padding."""
    row, _ = (int(i[0]) for i in np.nonzero(fresh))
    checker.findings.add(
        "uninitialised",
        f.pc,
        f"lane {int(group.lanes[row]) % 32} reads local memory at {int(group.addresses[row]):#x}, "
        "which it has not written",
        ["hint: local variables hold whatever was there before"],
        severity=None if fresh.all(1).any() else Severity.NOTE,
    )


def _store_local(f: ConvergenceGroup, group: Group, values: Array, size: int) -> None:
    view, locations = _local_places(f, group, size, values.shape[1])
    view[group.lanes[:, None], locations] = values
    lanes, cells = f.warpgroup.lanes, np.repeat(locations, size, 1) * size
    cells += np.tile(np.arange(size), locations.shape[1])
    f.warpgroup.local_written.reshape(lanes, -1)[group.lanes[:, None], cells] = True
