"""Conversion plans through a buffer in shared memory: store all registers, barrier, load all.

Every candidate buffer (`buffers.py`: row-major and column-major tiles under swizzles and paddings)
is combined with the cheapest store and load instructions; wavefronts are counted on the actual
addresses. The search stops at a lower bound, the cost of both sides without any bank conflict.
From one row to one column per thread, 64x64 elements of 32 bits:

>>> from tileas_xdsl.layout.axes import E
>>> from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS
>>> from tileas_xdsl.layout.layout import Layout
>>> rows = RegisterLayout(Layout((64, 64), (E("thread"), E("value"))), (64, 64), 64)
>>> columns = RegisterLayout(Layout((64, 64), (E("value"), E("thread"))), (64, 64), 64)
>>> cost = plan_shared(rows, columns, 32, DEFAULT_WEIGHTS).cost
>>> cost.stores, cost.loads, cost.wavefronts_stored, cost.wavefronts_loaded, cost.barriers
(16, 16, 128, 128, 1)

4096 elements of 4 bytes are 128 wavefronts of 128 bytes each way: no conflict is left.

A line that all warps hold is exchanged by each warp in a copy of the buffer of its own, so that no
warp waits for another one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.convert.buffers import Buffer, candidates
from tileas_xdsl.layout.convert.plan import Cost, Kind, Plan, Registers, Weights, counted, warps_of
from tileas_xdsl.layout.convert.source_map import find_sources
from tileas_xdsl.layout.convert.transfers import Side, Transfer, side_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.registers.access import Ints
from tileas_xdsl.layout.registers.register_layout import RegisterContents, RegisterLayout
from tileas_xdsl.layout.units import BYTE_BITS, WARP

MAX_COPIED_BYTES = 4096
"""Bytes of all copies of a buffer together, of which each warp has one."""


@dataclass(frozen=True, eq=False)
class SharedPlan(Plan):
    """The buffer, how it is written and how it is read."""

    buffer: Buffer
    store: Transfer
    load: Transfer
    alias: Ints
    """`(values,)`: the loaded register that each target register equals in every thread."""
    tried: int
    """The number of buffers that were compared."""
    copies: int = 1
    """How many buffers there are: one, or one for each warp."""

    @property
    def bytes(self) -> int:
        """What all buffers take."""
        return self.copies * self.buffer.bytes

    @property
    def kind(self) -> Kind:
        """`shared`."""
        return "shared"

    def _moved(self, registers: Registers) -> Registers:
        memory = np.zeros(self.bytes * 8, dtype=registers.dtype)
        stored = self.store.bits >= 0
        memory[self.store.bits[stored]] = registers[:, self.store.register][stored]
        result = np.zeros((self.target.threads, self.target.values), dtype=registers.dtype)
        result[:, self.load.register] = memory[np.maximum(self.load.bits, 0)]
        return result[:, self.alias]

    def explain(self) -> str:
        """The plan and its cost in one sentence."""
        cost = self.cost
        barrier = counted(cost.barriers, "barrier") if cost.barriers else "only a warp barrier"
        packing = f" and {counted(cost.alu, 'byte permute')}" if cost.alu else ""
        return (
            f"shared memory: {cost.stores} x {self.store.instruction} and "
            f"{cost.loads} x {self.load.instruction}{packing} a thread through "
            f"{cost.shared_bytes} bytes, {self._buffers()}: {cost.wavefronts_stored} + "
            f"{cost.wavefronts_loaded} wavefronts, {barrier}, about {cost.cycles:g} cycles"
        )

    def _buffers(self) -> str:
        return f"{self.buffer.name}, {self.copies} times" if self.copies > 1 else self.buffer.name


def plan_shared(
    source: RegisterLayout,
    target: RegisterContents,
    elem_bits: int,
    weights: Weights,
    buffers: Iterable[Buffer] | None = None,
    *,
    copied: bool = False,
) -> SharedPlan:
    """Return the cheapest plan over the candidate buffers (or those given), the first of equals.

    With `copied` each warp may have a copy of a small buffer, where it holds all that it reads.
    Raises `LayoutError` where no buffer has an access of elements of `elem_bits`.
    """
    copies = _copies(source, target, elem_bits) if copied else 1
    sides = (
        side_of("store", source, elem_bits, weights, by_warp=copies > 1),
        side_of("load", target, elem_bits, weights),
    )
    lower_bound = sum(side.least_cycles for side in sides)
    best: tuple[Buffer, Transfer, Transfer] | None = None
    tried, cost = 0, float("inf")
    for buffer in buffers or candidates(source, target, elem_bits):
        tried += 1
        found = _cheaper_than(cost, sides, buffer, weights)
        if found is None:
            continue
        cost = sum(transfer.cycles(warps_of(target), weights) for transfer in found)
        best = (buffer, *found)
        if cost <= lower_bound:
            break
    if best is None:
        raise LayoutError(
            f"no buffer in shared memory serves {elem_bits}-bit elements: an access moves 8, 16, "
            f"32, 64 or 128 bits"
        )
    buffer, store, load = best
    if copies > 1:
        store, load = (each.apart(buffer.bytes) for each in (store, load))
    barriers = 0 if copies > 1 or _stays_in_warps(source, target) else 1
    counts = _counts(copies * buffer.bytes, store, load, barriers)
    counts = counts.estimated(warps_of(target), weights)
    alias = sides[1].alias
    return SharedPlan(source, target, elem_bits, counts, buffer, store, load, alias, tried, copies)


def _cheaper_than(
    cost: float, sides: tuple[Side, Side], buffer: Buffer, weights: Weights
) -> tuple[Transfer, Transfer] | None:
    """The best store and load through a buffer, if they cost less than `cost` together."""
    warps = warps_of(sides[0].fragment)
    store = sides[0].cheapest(buffer, weights)
    if store is None or store.cycles(warps, weights) + sides[1].least_cycles >= cost:
        return None
    load = sides[1].cheapest(buffer, weights)
    if load is None or store.cycles(warps, weights) + load.cycles(warps, weights) >= cost:
        return None
    return store, load


def _counts(size: int, store: Transfer, load: Transfer, barriers: int) -> Cost:
    return Cost(
        alu=store.alu + load.alu,
        stores=store.instructions,
        loads=load.instructions,
        wavefronts_stored=store.wavefronts,
        wavefronts_loaded=load.wavefronts,
        shared_bytes=size,
        barriers=barriers,
    )


def _copies(source: RegisterLayout, target: RegisterContents, elem_bits: int) -> int:
    """Return the warps, where each holds what it reads, and copies of the tile are small; else 1.

    One buffer serves warps that hold different elements, each of which stays in its warp.
    """
    warps, size = warps_of(target), ceil_div(source.elements * elem_bits, BYTE_BITS)
    if (
        target.threads % WARP
        or warps == 1
        or warps * size > MAX_COPIED_BYTES
        or _stays_in_warps(source, target)
    ):
        return 1
    return warps if find_sources(source, target).stays_in_warps else 1


def _stays_in_warps(source: RegisterLayout, target: RegisterContents) -> bool:
    """Return whether every warp reads only what it alone has written."""
    writer = source.thread_table // WARP
    if (writer != writer[0]).any():
        return False
    reader = np.arange(target.threads, dtype=np.int64)[:, None] // WARP
    return bool(((target.held < 0) | (writer[0][target.held] == reader)).all())
