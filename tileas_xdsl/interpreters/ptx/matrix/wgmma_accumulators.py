"""Accumulators of wgmma that stay matrices while nobody looks at their registers.

A register of the table may hold a `Held`: a part of an accumulator.  Instructions other than wgmma
and plain moves never see one; the program turns them into values first (`settle`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import Started
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value, spread
from tileas_xdsl.interpreters.ptx.execution.state import Fragment, Gang

ROWS = 64
THREADS = 128


@cache
def register_places(columns: int) -> tuple[Array, Array]:
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
    """The matrix D (64, N) of a warpgroup and the registers that are its home."""

    matrix: Array
    kind: str
    """f32, f16 or s32."""
    home: tuple[int, ...]
    pending: int = 0
    """Instructions that were issued and not waited for."""
    shared: bool = False
    """Whether moves have copied registers of it."""
    intact: bool = True
    """Whether all registers of its home still hold it."""
    values: list[Array] | None = None

    def registers(self) -> list[Array]:
        """The values of all registers, one array of 128 threads each."""
        if self.values is None:
            self.values = to_registers(self.matrix, self.kind)
        return self.values


@dataclass(frozen=True, slots=True)
class Held:
    """Register `index` of an accumulator."""

    accumulator: Accumulator
    index: int


def to_registers(matrix: Array, kind: str) -> list[Array]:
    """A matrix as registers."""
    row, column = register_places(matrix.shape[1])
    cells = matrix[row, column]
    if kind == "f16":
        halves = cells.astype(np.float16).view(np.uint16).astype(np.uint32)
        return list(halves[0::2] | halves[1::2] << np.uint32(16))
    if kind == "s32":
        return list(wrapped(cells))
    return list(cells.astype(np.float32).view(np.uint32))


def wrapped(cells: Array) -> Array:
    """Doubles of whole numbers as 32-bit words that wrap."""
    return (cells.astype(np.int64) & 0xFFFF_FFFF).astype(np.uint32)


def from_registers(values: list[Value], columns: int, kind: str) -> Array:
    """Registers as a matrix."""
    words = np.stack([spread(v, THREADS, np.dtype(np.uint32)) for v in values])
    row, column = register_places(columns)
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


@dataclass(eq=False)
class Issued:
    """One wgmma that was issued: what computes it, and the registers of A that it still reads."""

    run: Callable[[], None]
    accumulator: Accumulator
    started: Started | None
    operands: tuple[int, ...] = ()
    done: bool = False


@dataclass(eq=False)
class WgmmaState:
    """What a warpgroup has in flight."""

    fenced: bool = False
    """Whether wgmma.fence came after the last ordinary access to registers of wgmma."""
    touched: int = -1
    """The instruction that touched them last."""
    undone: deque[Issued] = field(default_factory=deque[Issued])
    open: list[Issued] = field(default_factory=list[Issued])
    groups: list[list[Issued]] = field(default_factory=list[list[Issued]])
    reading: dict[int, Issued] = field(default_factory=dict[int, Issued])
    """Registers of A that instructions in flight read."""

    def compute(self) -> None:
        """Do the oldest instruction."""
        item = self.undone.popleft()
        item.done = True
        item.run()

    def force(self, item: Issued) -> None:
        """Do an instruction and all before it."""
        while not item.done:
            self.compute()


def state_of(gang: Gang) -> WgmmaState:
    """The state of a gang, made at its first use."""
    if gang.wgmma is None:
        gang.wgmma = WgmmaState()
    return gang.wgmma


def settle(f: Fragment, slot: int, report: Callable[[Fragment], None]) -> None:
    """Turn a register into its value; `report` is told if it is not there yet."""
    held = f.r[slot]
    accumulator = held.accumulator
    if accumulator.pending:
        report(f)
    state = state_of(f.gang)
    while state.undone and accumulator.pending:
        state.compute()
    values = accumulator.registers()
    accumulator.intact = False
    for home in accumulator.home:
        mine = f.r[home]
        if mine.__class__ is Held and mine.accumulator is accumulator:
            f.r[home] = values[mine.index]
    if f.r[slot].__class__ is Held:
        f.r[slot] = values[held.index]


def settle_all(f: Fragment) -> None:
    """Turn all registers of a fragment into values, before fragments are merged."""
    for slot, value in enumerate(f.r):
        if value.__class__ is Held:
            settle(f, slot, lambda _: None)
