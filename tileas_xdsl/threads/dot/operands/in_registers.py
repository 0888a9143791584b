"""MMA operands A and B as register fragments, loaded a few k-steps at a time.

An operand as a whole may need more registers than a thread has: B of 64x256 f16, 32 KiB, is 256
registers per thread of a warp that reads all of it. So each step along K loads its own fragment:

    in shared memory      ldmatrix or ld.shared of the step's rows, straight from the tile
    in registers          exchanged through scratch once, then loaded by step (or at once if small)
    a splat, or owned     no memory: registers are renamed
    where memory is scarce: exchanged by ranges of K (`operands_by_ranges.py`); small ones converted
                            in chunks, kept in registers for all steps

The loads of a step are planned by the layout library on the actual addresses of its elements, so
swizzles and transposes need no case of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial

from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.analysis.layouts.dot_layouts import Tiling
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.convert.buffers import Buffer
from tileas_xdsl.layout.convert.shared import SharedPlan
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    PendingTile,
    RegisterTile,
    SharedTile,
    Splat,
)
from tileas_xdsl.threads.convert.register_conversion import converted, exceeds_limit, plan_of
from tileas_xdsl.threads.dot.operands.by_ranges import Ranged, exchanged_by_ranges
from tileas_xdsl.threads.dot.operands.fragments import (
    SMEM_ALIGNMENT,
    Ints,
    Operand,
    Side,
    Slice,
    operand_in_registers,
)
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.smem.scratch_allocation import allocate_scratch
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.smem.smem_layout import SharedLayout
from tileas_xdsl.threads.smem.table_driven_copy import (
    Moves,
    digits_of,
    load_elements,
    moves_of_buffer,
    store_by_table,
)

SMALL_BITS = 1024
"""Bits of an operand per thread up to which it is loaded all at once."""


@dataclass(frozen=True)
class Exchange:
    """An operand that moves from registers of other threads through shared memory."""

    tile: RegisterTile
    plan: SharedPlan
    side: Side

    @property
    def bytes(self) -> int:
        """The size of the buffer in bytes, whole rows of banks."""
        return align_up(self.plan.buffer.bytes, SMEM_ALIGNMENT)


def operands_of(
    e: ThreadBuilder, op: DotOp | AsyncDotOp, tiling: Tiling
) -> tuple[Operand, Operand]:
    """Return A and B of a product; the caller needs no further barrier to read them."""
    found = exchanged_by_ranges(
        e, op, [_operand(e, op, Side(tiling, of_b)) for of_b in (False, True)]
    )
    exchanges = [one for one in found if isinstance(one, Exchange)]
    if not exchanges:
        left, right = (one for one in found if isinstance(one, Operand))
        return left, right
    offset = allocate_scratch(e, op, sum(one.bytes for one in exchanges), SMEM_ALIGNMENT)
    operands: list[Operand] = []
    for one in found:
        operands.append(_exchanged(e, one, offset) if isinstance(one, Exchange) else one)
        offset += one.bytes if isinstance(one, Exchange) else 0
    synchronize_agent(e)
    left, right = operands
    return left, right


def _operand(e: ThreadBuilder, op: DotOp | AsyncDotOp, side: Side) -> Operand | Exchange | Ranged:
    value = op.b if side.of_b else op.a
    found = e.get(value)
    if isinstance(found, PendingTile | SharedTile):
        return _in_memory(e, value, side)
    whole = side.layout(side.tiling.extents.k)
    if isinstance(found, Splat):
        return operand_in_registers(e, in_registers(e, op, value, whole), side.tiling.steps)
    tile = in_registers(e, op, value)
    plan = plan_of(tile.layout, whole, bits_of(tile.element))
    if isinstance(plan, SharedPlan):
        if not exceeds_limit(e, plan):
            return Exchange(tile, plan, side)
        if plan.target.values * plan.elem_bits > SMALL_BITS:
            return Ranged(tile, side)
    return operand_in_registers(e, converted(e, op, tile, whole), side.tiling.steps)


def _in_memory(e: ThreadBuilder, value: SSAValue, side: Side) -> Operand:
    """Return a tile in shared memory as operand, behind a barrier unless it is in a stage."""
    found = e.get(value)
    if isinstance(found, PendingTile) and found.visible_to != e.agent.number:
        synchronize_agent(e)
    tile = shared_tile(e, value)
    rows, transpose = (tile.layout, tile.first_row, tile.height), is_transposed(value.type)
    moves = partial(_moves_of_tile, rows, transpose, side, e.agent)
    return _read(e, tile.pointer, moves, side, tile.element)


def _exchanged(e: ThreadBuilder, one: Exchange, offset: int) -> Operand:
    """Store an operand to shared memory in a layout without bank conflicts.

    A small one is loaded back all at once.
    """
    tile, plan, side = one.tile, one.plan, one.side
    pointer = e.insert(GetDynSmemOp(offset, i8, SMEM_ALIGNMENT)).result
    store_by_table(e, pointer, moves_of_buffer("store", tile.layout, plan.buffer), tile)
    if plan.target.values * plan.elem_bits > SMALL_BITS:
        moves = partial(_moves_of_exchange, plan.buffer, tile.layout.shape, side, e.agent)
        return _read(e, pointer, moves, side, tile.element)
    at_once = Moves(plan.load, plan.alias.tolist())
    digits = digits_of(side.layout(side.tiling.extents.k))

    @cache
    def whole() -> Slice:
        return load_elements(e, pointer, at_once, tile.element, digits)

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
    return Operand(element, lambda k: load_elements(e, pointer, moves(k), element, digits))


@lru_cache(maxsize=512)
def _moves_of_tile(
    rows: tuple[SharedLayout, int, int], transpose: bool, side: Side, agent: Agent, k: int
) -> Moves:
    """Return the cheapest loads of one step of a tile in shared memory, for a range of rows."""
    shared, first, count = rows
    leading = shared.shape[:-2] if count == shared.rows else ()
    bits = 8 * shared.addresses()[first : first + count]
    bits = bits.reshape(*leading, -1, shared.columns)
    return _moves(bits.T if transpose else bits, shared.bits, side, agent, k)


@lru_cache(maxsize=512)
def _moves_of_exchange(
    buffer: Buffer, shape: tuple[int, ...], side: Side, agent: Agent, k: int
) -> Moves:
    """Return the cheapest loads of one step of a tile in an exchange buffer."""
    bits = buffer.bits.reshape(shape, order="F")
    return _moves(bits, buffer.elem_bits, side, agent, k)


def _moves(bits: Ints, elem_bits: int, side: Side, agent: Agent, k: int) -> Moves:
    """Return the loads of step `k` of a tile whose elements are at bit addresses `bits`."""
    addresses = side.part(bits, k).ravel(order="F")
    return moves_of_buffer("load", side.step, Buffer("a step of K", addresses, elem_bits))
