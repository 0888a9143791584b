"""MMA operands that are exchanged one range of K at a time, where shared memory is scarce.

Operands in registers of other threads go through scratch memory.  Where that does not hold a whole
operand, converting it in chunks would leave all steps of K in registers: B of 256x128 tf32, 32
columns a warp, is 256 registers a thread.  So the exchange and the product take turns:

    K = 256 in ranges of 64, steps of 8:
    4 rounds of   bar; store A[:, k:k+64] and B[k:k+64, :]; bar; 8 x (load a step of both; mma)

The threads that hold elements of a range store them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TypeVar

from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.convert.buffers import Buffer, candidates
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS, warps_of
from tileas_xdsl.layout.convert.transfers import side_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.convert.chunked_conversion import vector_accesses, within
from tileas_xdsl.threads.convert.register_conversion import converted
from tileas_xdsl.threads.dot.operands.fragments import (
    SMEM_ALIGNMENT,
    Operand,
    Side,
    Slice,
    operand_in_registers,
)
from tileas_xdsl.threads.smem.scratch_allocation import allocate_scratch
from tileas_xdsl.threads.smem.table_driven_copy import (
    Moves,
    digits_of,
    load_elements,
    moves_of_buffer,
    store_by_table,
)

Other = TypeVar("Other")


@dataclass(frozen=True)
class Ranged:
    """An operand in registers of other threads that scratch memory does not hold as a whole."""

    tile: RegisterTile
    side: Side

    def buffer(self, count: int, limit: int) -> _RangeBuffer | None:
        """Return the cheapest buffer of one of `count` ranges within `limit` bytes, if any is."""
        return _buffer(self.tile.layout, self.side, count, bits_of(self.tile.element), limit)


@dataclass(frozen=True, eq=False)
class _RangeBuffer:
    """Where the elements of all ranges are, one behind the other; memory holds one of them."""

    whole: Buffer
    bytes: int
    """The size of a range."""
    store: Moves

    def step(self, side: Side, shape: Sequence[int], k: int) -> Moves:
        """Return the loads of a step along K, relative to its range."""
        bits = (self.whole.bits % (8 * self.bytes)).reshape(shape, order="F")
        addresses = side.part(bits, k).ravel(order="F")
        of_step = Buffer("a step of K", addresses, self.whole.elem_bits)
        return moves_of_buffer("load", side.step, of_step)


@dataclass
class _Turns:
    """The exchange of operands in turn with their product."""

    e: ThreadBuilder
    steps: int
    """Steps along K of a range."""
    operands: Sequence[tuple[Ranged, _RangeBuffer, SSAValue]]
    stored: int | None = None
    """The range that is in memory."""

    def slice(self, index: int, k: int) -> Slice:
        """Return the registers of a step of an operand, whose range is stored first."""
        self._store(k // self.steps)
        ranged, buffer, pointer = self.operands[index]
        moves = buffer.step(ranged.side, ranged.tile.layout.shape, k)
        digits = digits_of(ranged.side.step)
        return load_elements(self.e, pointer, moves, ranged.tile.element, digits)

    def _store(self, number: int) -> None:
        if self.stored == number:
            return
        if self.stored is not None:
            synchronize_agent(self.e)
        for ranged, buffer, pointer in self.operands:
            store_by_table(self.e, pointer, within(buffer.store, buffer.bytes, number), ranged.tile)
        synchronize_agent(self.e)
        self.stored = number


def exchanged_by_ranges(
    e: ThreadBuilder, op: DotOp | AsyncDotOp, operands: Sequence[Operand | Other | Ranged]
) -> list[Operand | Other]:
    """Replace operands to be exchanged by ranges; the others are returned as they are."""
    ranged = [one for one in operands if isinstance(one, Ranged)]
    turns = _turns(e, op, ranged) if ranged else None
    found: list[Operand | Other] = []
    for one in operands:
        if not isinstance(one, Ranged):
            found.append(one)
        elif turns is None:
            found.append(_converted(e, op, one))
        else:
            found.append(Operand(one.tile.element, partial(turns.slice, ranged.index(one))))
    return found


def _turns(e: ThreadBuilder, op: DotOp | AsyncDotOp, ranged: Sequence[Ranged]) -> _Turns | None:
    """Allocate the longest ranges that memory holds; None where it holds no step."""
    limit = e.plan.exchange_limit
    assert limit is not None, "without a limit, every operand is exchanged as a whole"
    limit //= len(ranged)
    steps = ranged[0].side.tiling.steps
    for count in (n for n in range(2, steps + 1) if steps % n == 0):
        buffers = [buffer for one in ranged if (buffer := one.buffer(count, limit)) is not None]
        if len(buffers) == len(ranged):
            break
    else:
        return None
    offset = allocate_scratch(e, op, sum(one.bytes for one in buffers), SMEM_ALIGNMENT)
    pointers: list[SSAValue] = []
    for one in buffers:
        pointers.append(e.insert(GetDynSmemOp(offset, i8, SMEM_ALIGNMENT)).result)
        offset += one.bytes
    return _Turns(e, steps // count, list(zip(ranged, buffers, pointers, strict=True)))


def _converted(e: ThreadBuilder, op: DotOp | AsyncDotOp, one: Ranged) -> Operand:
    """Return an operand that is in registers as a whole."""
    tiling = one.side.tiling
    whole = converted(e, op, one.tile, one.side.layout(tiling.extents.k))
    return operand_in_registers(e, whole, tiling.steps)


@lru_cache(maxsize=64)
def _buffer(
    source: RegisterLayout, side: Side, count: int, bits: int, limit: int
) -> _RangeBuffer | None:
    steps = side.tiling.steps // count
    part = side.layout(steps * side.tiling.step)
    if part.elements * bits > 8 * limit:
        return None
    found: list[tuple[float, _RangeBuffer]] = []
    for candidate in candidates(part, part, bits):
        size = align_up(candidate.bytes, SMEM_ALIGNMENT)
        table = candidate.bits.reshape(part.shape, order="F")
        whole = side.ranges(table, count, 8 * size).ravel(order="F")
        buffer = Buffer(candidate.name, whole, candidate.elem_bits)
        storing = side_of("store", source, buffer.elem_bits, DEFAULT_WEIGHTS)
        store = vector_accesses(storing, buffer)
        if size > limit or store is None:
            continue
        made = _RangeBuffer(buffer, size, Moves(store, storing.alias.tolist()))
        load = made.step(side, source.shape, 0).transfer
        warps = warps_of(source)
        loads = side.tiling.steps * load.cycles(warps, DEFAULT_WEIGHTS)
        found.append((store.cycles(warps, DEFAULT_WEIGHTS) + loads, made))
    return min(found, key=lambda one: one[0])[1] if found else None
