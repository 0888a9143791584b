"""Lazy accumulators of wgmma: matrices until an ordinary instruction reads their registers.

A chain of wgmma on one accumulator would convert 64xN matrices to registers and back at every step.
A slot therefore may hold an `AccumulatorRegister`, a reference to element `index` of a matrix that
only wgmma and plain `mov` pass on; before any other instruction it is materialized:

    wgmma d, a, b        slots of d = AccumulatorRegister(acc, 0..n), acc.matrix = a @ b
    wgmma d, a2, b2      acc.matrix += a2 @ b2
    add.f32 x, d0, d1    materialize: all slots of acc become arrays of 128 words
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Protocol

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value, spread
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Warpgroup

ROWS = 64
THREADS = 128


@lru_cache(maxsize=64)
def register_coordinates(columns: int) -> tuple[Array, Array]:
    """Row and column of each 32-bit element (element of a thread, thread).

    Source: PTX ISA 9.7.15.5.1, register fragments of wgmma.
    """
    element = np.arange(columns // 2)[:, None]
    thread = np.arange(THREADS)[None, :]
    lane, warp = thread % 32, thread // 32
    row = 16 * warp + lane // 4 + 8 * (element // 2 % 2)
    column = 8 * (element // 4) + 2 * (lane % 4) + element % 2
    return row, column


@dataclass(eq=False)
class Accumulator:
    """The accumulator D (64, N) of a warpgroup and the slots of its registers."""

    matrix: Array
    kind: str
    """f32, f16 or s32."""
    d_registers: tuple[int, ...]
    pending: int = 0
    """Issued wgmmas that have not been waited for."""
    shared: bool = False
    """Whether `mov` has copied registers of it."""
    intact: bool = True
    """Whether all of its registers still hold it."""
    values: list[Array] | None = None

    def registers(self) -> list[Array]:
        """Return the values of all registers, an array of 128 threads each."""
        if self.values is None:
            self.values = to_registers(self.matrix, self.kind)
        return self.values


@dataclass(slots=True, eq=False)
class AccumulatorRegister:
    """The lazy value of register `index` of an accumulator."""

    accumulator: Accumulator
    index: int


def to_registers(matrix: Array, kind: str) -> list[Array]:
    """Return the registers of a matrix, 32-bit words of 128 threads each."""
    row, column = register_coordinates(matrix.shape[1])
    cells = matrix[row, column]
    if kind == "f16":
        halves = cells.astype(np.float16).view(np.uint16).astype(np.uint32)
        return list(halves[0::2] | halves[1::2] << np.uint32(16))
    if kind == "s32":
        return list(wrap_int32(cells))
    return list(cells.astype(np.float32).view(np.uint32))


def wrap_int32(cells: Array) -> Array:
    """Return integral doubles as 32-bit words, modulo 2**32."""
    return (cells.astype(np.int64) & 0xFFFF_FFFF).astype(np.uint32)


def from_registers(values: list[Value], columns: int, kind: str) -> Array:
    """Return the matrix (64, columns) that registers hold."""
    words = np.stack([spread(v, THREADS, np.dtype(np.uint32)) for v in values])
    row, column = register_coordinates(columns)
    if kind == "f16":
        low, high = words & np.uint32(0xFFFF), words >> np.uint32(16)
        cells = np.empty((2 * len(words), THREADS), np.float32)
        for half, part in enumerate((low, high)):
            cells[half::2] = part.astype(np.uint16).view(np.float16)
    elif kind == "s32":
        cells = words.view(np.int32).astype(np.float64)
    else:
        cells = words.view(np.float32)
    matrix = np.empty((ROWS, columns), cells.dtype)
    matrix[row, column] = cells
    return matrix


class Computation(Protocol):
    """The arithmetic of a wgmma."""

    def continues(self, before: Computation) -> bool:
        """Return whether this adds to the result of another one, so that both may be one."""
        ...

    def run(self, accumulator: Accumulator, more: Sequence[Computation]) -> None:
        """Compute this, and `more` that continue it, into an accumulator."""
        ...


@dataclass(eq=False)
class PendingMma:
    """An issued wgmma: its computation, and the registers of A that it reads until it is waited
    for."""

    computation: Computation
    accumulator: Accumulator
    started: AsyncEvent | None
    group: list[PendingMma]
    """Those that are committed together, this one among them."""
    operands: tuple[int, ...] = ()
    done: bool = False


@dataclass(eq=False)
class WgmmaState:
    """The wgmmas in flight of a warpgroup: computed in order, committed in groups."""

    fenced: bool = False
    """Whether wgmma.fence followed the last ordinary access to registers of wgmma."""
    last_access: int = -1
    """The instruction that accessed them last."""
    undone: deque[PendingMma] = field(default_factory=deque[PendingMma])
    open: list[PendingMma] = field(default_factory=list[PendingMma])
    groups: list[list[PendingMma]] = field(default_factory=list[list[PendingMma]])
    reading: dict[int, PendingMma] = field(default_factory=dict[int, PendingMma])
    """Slots of A that wgmmas in flight read."""

    def compute(self) -> None:
        """Compute the oldest wgmma, and those of its group behind it that continue it.

        Never less and never more: sums are rounded once for each chain, and must be the same
        bits whenever an order of completion has them computed.
        """
        item = self.undone.popleft()
        item.done = True
        chain = [item]
        while self.undone:
            following = self.undone[0]
            if following.group is not item.group or following.accumulator is not item.accumulator:
                break
            if not following.computation.continues(item.computation):
                break
            following.done = True
            chain.append(self.undone.popleft())
        item.computation.run(item.accumulator, [one.computation for one in chain[1:]])

    def compute_all(self) -> None:
        """Compute all that have been issued."""
        while self.undone:
            self.compute()

    def compute_committed(self) -> None:
        """Compute all of the groups that are complete."""
        while self.undone and self.undone[0].group is not self.open:
            self.compute()

    def force(self, item: PendingMma) -> None:
        """Compute a wgmma and all before it."""
        while not item.done:
            self.compute()


def state_of(warpgroup: Warpgroup) -> WgmmaState:
    """Return the wgmma state of a warpgroup."""
    if warpgroup.wgmma is None:
        warpgroup.wgmma = WgmmaState()
    return warpgroup.wgmma


def materialize(f: ConvergenceGroup, slot: int, report: Callable[[ConvergenceGroup], None]) -> None:
    """Compute a lazy register's value; call `report` if its wgmma was not waited for."""
    held = f.r[slot]
    accumulator = held.accumulator
    if accumulator.pending:
        report(f)
    state = state_of(f.warpgroup)
    while state.undone and accumulator.pending:
        state.compute()
    values = accumulator.registers()
    accumulator.intact = False
    for d_registers in accumulator.d_registers:
        mine = f.r[d_registers]
        if mine.__class__ is AccumulatorRegister and mine.accumulator is accumulator:
            f.r[d_registers] = values[mine.index]
    if f.r[slot].__class__ is AccumulatorRegister:
        f.r[slot] = values[held.index]


def materialize_all(f: ConvergenceGroup) -> None:
    """Materialize all registers of a group before groups are merged."""
    for slot, value in enumerate(f.r):
        if value.__class__ is AccumulatorRegister:
            materialize(f, slot, lambda _: None)
