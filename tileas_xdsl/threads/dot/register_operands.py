"""Operands of products that all threads read into registers, some of K at a time.

Tiles in shared memory are read where they are.  Tiles in registers go through shared memory, all of
them at once, unless registers of the same warps have what is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.analysis.dot_layouts import Tiling
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.dialects.nv_tileas.compute import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.tma_checks import bits_of
from tileas_xdsl.dialects.nv_tileas.transposed import is_transposed
from tileas_xdsl.layout.blocked import ACCESS_BYTES
from tileas_xdsl.layout.convert.buffers import Buffer
from tileas_xdsl.layout.convert.shared import SharedPlan
from tileas_xdsl.layout.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    PendingTile,
    RegisterTile,
    SharedTile,
    Splat,
)
from tileas_xdsl.threads.convert.register_conversion import converted, plan_of
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.threads.registers.register_array import Place, RegisterFile
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.smem.scratch_allocation import allocate_scratch
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.smem.smem_layout import SharedLayout
from tileas_xdsl.threads.smem.table_driven_copy import (
    Moves,
    digits_of,
    load_places,
    moves_of_buffer,
    store_by_table,
)

ROOM = 8 * ACCESS_BYTES
"""Bytes that operands in shared memory begin at multiples of: all banks once."""

SMALL_BITS = 1024
"""Of an operand in a thread, up to which it is read all at once."""

Ints = NDArray[np.int64]

Slice = Sequence[Place | None]
"""Where the registers are that a step multiplies."""


@dataclass(frozen=True)
class Side:
    """A or B of a product, as a tiling has it."""

    tiling: Tiling
    of_b: bool

    def layout(self, depth: int) -> RegisterLayout:
        """In registers, so many elements of K."""
        return self.tiling.right(depth) if self.of_b else self.tiling.left(depth)

    @property
    def step(self) -> RegisterLayout:
        """What is multiplied at once."""
        return self.layout(self.tiling.step)

    def part(self, bits: Ints, k: int) -> Ints:
        """What step `k` multiplies of a table of the whole tile."""
        depth = self.tiling.step
        mine = slice(k * depth, (k + 1) * depth)
        return bits[..., mine, :] if self.of_b else bits[..., mine]


@dataclass(frozen=True)
class Operand:
    """A or B of a product: what each step of K multiplies."""

    element: Attribute
    slice: Callable[[int], Slice]
    """The registers of a step, read now."""


@dataclass(frozen=True)
class Exchange:
    """An operand in registers of other threads, and how it gets to those that multiply."""

    tile: RegisterTile
    plan: SharedPlan
    side: Side

    @property
    def bytes(self) -> int:
        """Of the room that it takes, whole rows of banks."""
        return -(-self.plan.buffer.bytes // ROOM) * ROOM


def operands_of(
    e: ThreadBuilder, op: DotOp | AsyncDotOp, tiling: Tiling
) -> tuple[Operand, Operand]:
    """A and B of a product, which all threads may read when this returns."""
    found = [_operand(e, op, Side(tiling, of_b)) for of_b in (False, True)]
    exchanges = [one for one in found if isinstance(one, Exchange)]
    if not exchanges:
        left, right = (one for one in found if isinstance(one, Operand))
        return left, right
    offset = allocate_scratch(e, op, sum(one.bytes for one in exchanges), ROOM)
    operands: list[Operand] = []
    for one in found:
        operands.append(_exchanged(e, one, offset) if isinstance(one, Exchange) else one)
        offset += one.bytes if isinstance(one, Exchange) else 0
    synchronize_agent(e)
    left, right = operands
    return left, right


def _operand(e: ThreadBuilder, op: DotOp | AsyncDotOp, side: Side) -> Operand | Exchange:
    value = op.b if side.of_b else op.a
    found = e.get(value)
    if isinstance(found, PendingTile | SharedTile):
        return _in_memory(e, value, side)
    whole = side.layout(side.tiling.extents.k)
    if isinstance(found, Splat):
        return _in_registers(in_registers(e, op, value, whole), e, side.tiling.steps)
    tile = in_registers(e, op, value)
    plan = plan_of(tile.layout, whole, bits_of(tile.element))
    if isinstance(plan, SharedPlan):
        return Exchange(tile, plan, side)
    return _in_registers(converted(e, op, tile, whole), e, side.tiling.steps)


def _in_registers(tile: RegisterTile, e: ThreadBuilder, steps: int) -> Operand:
    """A tile that threads have already, step after step."""
    file, count = RegisterFile.of(e, tile), vectors_of(tile.layout).length // steps
    return Operand(
        tile.element, lambda k: [file.place(k * count + register) for register in range(count)]
    )


def _in_memory(e: ThreadBuilder, value: SSAValue, side: Side) -> Operand:
    """A tile in shared memory; other threads may have written one that is in no stage."""
    found = e.get(value)
    if isinstance(found, PendingTile) and found.visible_to != e.agent.number:
        synchronize_agent(e)
    tile = shared_tile(e, value)
    rows, turned = (tile.layout, tile.first_row, tile.height), is_transposed(value.type)
    moves = partial(_moves_of_tile, rows, turned, side, e.agent)
    return _read(e, tile.pointer, moves, side, tile.element)


def _exchanged(e: ThreadBuilder, one: Exchange, offset: int) -> Operand:
    """An operand that is put into shared memory, so that it can be read without conflicts.

    A small one is read all at once, as the plan has it.
    """
    tile, plan, side = one.tile, one.plan, one.side
    pointer = e.insert(GetDynSmemOp(offset, i8, ROOM)).result
    store_by_table(e, pointer, moves_of_buffer("store", tile.layout, plan.buffer), tile)
    if plan.target.values * plan.elem_bits > SMALL_BITS:
        moves = partial(_moves_of_exchange, plan.buffer, tile.layout.shape, side, e.agent)
        return _read(e, pointer, moves, side, tile.element)
    at_once = Moves(plan.load, plan.alias.tolist())
    digits = digits_of(side.layout(side.tiling.extents.k))

    @cache
    def whole() -> Slice:
        return load_places(e, pointer, at_once, tile.element, digits)

    count = side.step.values
    return Operand(tile.element, lambda k: whole()[k * count : (k + 1) * count])


def _read(
    e: ThreadBuilder,
    pointer: SSAValue,
    moves: Callable[[int], Moves],
    side: Side,
    element: Attribute,
) -> Operand:
    digits = digits_of(side.step)
    return Operand(element, lambda k: load_places(e, pointer, moves(k), element, digits))


@lru_cache(maxsize=512)
def _moves_of_tile(
    rows: tuple[SharedLayout, int, int], turned: bool, side: Side, agent: Agent, k: int
) -> Moves:
    """The cheapest loads of a step of a tile in shared memory, of rows from one on and so many."""
    shared, first, count = rows
    leading = shared.shape[:-2] if count == shared.rows else ()
    bits = 8 * shared.addresses()[first : first + count]
    bits = bits.reshape(*leading, -1, shared.columns)
    return _moves(bits.T if turned else bits, shared.bits, side, agent, k)


@lru_cache(maxsize=512)
def _moves_of_exchange(
    buffer: Buffer, shape: tuple[int, ...], side: Side, agent: Agent, k: int
) -> Moves:
    """The cheapest loads of a step of a tile that was put into a buffer."""
    bits = buffer.bits.reshape(shape, order="F")
    return _moves(bits, buffer.elem_bits, side, agent, k)


def _moves(bits: Ints, elem_bits: int, side: Side, agent: Agent, k: int) -> Moves:
    """The loads of step `k` of a tile whose elements are at `bits`."""
    mine = side.part(bits, k).ravel(order="F")
    return moves_of_buffer("load", side.step, Buffer("a step of K", mine, elem_bits))
