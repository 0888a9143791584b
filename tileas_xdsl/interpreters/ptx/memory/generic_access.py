"""Generic memory accesses of a fragment: which space an address is in, and what is there.

Addresses of one instruction may be uniform or differ by lane; the lanes that execute it are those
of the fragment's mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value, indices
from tileas_xdsl.interpreters.ptx.execution.state import Cta, Fragment
from tileas_xdsl.interpreters.ptx.memory.global_memory import LOCAL_WINDOW, SHARED_WINDOW
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK, RANK_SHIFT
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
"""The kinds of addresses by the name of a state space."""


@dataclass(slots=True)
class Group:
    """Some lanes whose addresses are in one memory; `rows` are their places among all active."""

    space: Space
    rows: Array | slice
    lanes: Array
    addresses: Array
    cta: Cta | None = None


def addresses_of(f: Fragment, value: Value, offset: int) -> tuple[Array, Array]:
    """The active lanes and the address of each, as int64."""
    lanes = indices(f.mask)
    if value.__class__ is np.ndarray:
        found = value[lanes].astype(np.int64)
        return lanes, found + offset if offset else found
    return lanes, np.full(len(lanes), value + offset, np.int64)


def groups(f: Fragment, value: Value, offset: int, space: Space) -> Iterator[Group]:
    """The accesses of an instruction, by the memory that they are in."""
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


def _generic(f: Fragment, lanes: Array, addresses: Array) -> Iterator[Group]:
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


def _shared(f: Fragment, rows: Array | slice, lanes: Array, addresses: Array) -> Iterator[Group]:
    ranks = addresses >> RANK_SHIFT
    first = int(ranks[0])
    if bool((ranks == first).all()):
        yield Group("shared", rows, lanes, addresses & OFFSET_MASK, _touch(f, first, addresses))
        return
    places = np.arange(len(lanes)) if isinstance(rows, slice) else rows
    for rank in np.unique(ranks).tolist():
        mine = np.flatnonzero(ranks == rank)
        found = addresses[mine]
        cta = _touch(f, rank, found)
        yield Group("shared", places[mine], lanes[mine], found & OFFSET_MASK, cta)


def _touch(f: Fragment, rank: int, addresses: Array) -> Cta:
    cta = f.gang.cta
    if rank == cta.rank:
        return cta
    found = cta.cluster.cta_of(int(addresses[0]))
    note_remote(f, found)
    return found


def note_remote(f: Fragment, cta: Cta) -> None:
    """Remember that warps of a fragment reach into another CTA."""
    checker = f.gang.cta.cluster.checker
    if checker is None or cta is f.gang.cta:
        return
    seen = checker.clocks.seen
    for agent in {f.gang.agent(int(lane)) for lane in indices(f.mask)}:
        cta.remote_touch[agent] = int(seen[agent, agent])


def load(f: Fragment, group: Group, size: int, count: int, *, check: bool = True) -> Array:
    """Rows of `count` elements of `size` bytes, one a lane of the group."""
    cluster = f.gang.cta.cluster
    if group.space == "global":
        return cluster.memory.load(group.addresses, size, count)
    if group.space == "local":
        return _local(f, group, size, count)
    cta = group.cta
    assert cta is not None
    places = cta.shared.places(group.addresses, size, count)
    if cluster.checker is not None and check:
        cluster.checker.lanes(
            cta, f.gang, group.lanes, group.addresses, size * count, f.pc, write=False
        )
    return cta.shared.views[size][places]


def store(f: Fragment, group: Group, values: Array, size: int) -> None:
    """Put rows of elements of `size` bytes, one a lane of the group."""
    cluster = f.gang.cta.cluster
    cluster.events += 1
    if group.space == "global":
        cluster.memory.store(group.addresses, values, size)
        return
    if group.space == "local":
        _store_local(f, group, values, size)
        return
    cta = group.cta
    assert cta is not None
    count = values.shape[1]
    places = cta.shared.places(group.addresses, size, count)
    if cluster.checker is not None:
        cluster.checker.lanes(
            cta, f.gang, group.lanes, group.addresses, size * count, f.pc, write=True
        )
    cta.shared.views[size][places] = values
    cta.shared.writes += 1


def _local_places(f: Fragment, group: Group, size: int, count: int) -> tuple[Array, Array]:
    memory = f.gang.local
    low, high = int(group.addresses.min()), int(group.addresses.max())
    if memory is None or low < 0 or high + size * count > memory.shape[1]:
        limit = 0 if memory is None else memory.shape[1]
        raise Fault(
            "illegal-address",
            f"{size * count} bytes at local address {high:#x} are outside of the {limit} bytes "
            "that a thread has",
        )
    if bool((group.addresses % (size * count)).any()):
        raise Fault("misaligned-address", f"local address {low:#x} is misaligned")
    places = (group.addresses // size)[:, None] + np.arange(count)
    return memory.view(UNSIGNED[8 * size]), places


def _local(f: Fragment, group: Group, size: int, count: int) -> Array:
    view, places = _local_places(f, group, size, count)
    return view[group.lanes[:, None], places]


def _store_local(f: Fragment, group: Group, values: Array, size: int) -> None:
    view, places = _local_places(f, group, size, values.shape[1])
    view[group.lanes[:, None], places] = values
