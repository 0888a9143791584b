"""Tiles that threads read from shared memory, and write there transposed.

    %r = convert_layout %x : 32x128, smem           // rows of 128 elements
    %y = truncf %r
    %t = generate { extract %y[%j, %i] }            // 128x32 in the same registers
    %s = convert_layout %t : smem                   // rows of 32 elements

A thread that holds blocks of 4x4 elements of 32 bits reads their rows by 16 bytes, and writes their
columns by 16 bytes.  Which blocks lanes have decides about bank conflicts: side by side in a row of
blocks the writes have them, fourfold; one above another the reads do.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod

import numpy as np
from xdsl.dialects import tensor
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.digit_layouts import Part, layout_of_parts
from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, placed_tile
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.convert.buffers import Buffer
from tileas_xdsl.layout.integers import is_power_of_two
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.permuted_dimensions import permuted_dimensions
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WARP, WORD_BITS
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.threads.smem.smem_layout import SharedLayout
from tileas_xdsl.threads.smem.table_driven_copy import Moves, moves_of_buffer
from tileas_xdsl.transforms.assign_layouts.candidates.memory.buffers import shared_layouts
from tileas_xdsl.transforms.assign_layouts.candidates.memory.other_side import memory_of
from tileas_xdsl.transforms.assign_layouts.request import Assignment
from tileas_xdsl.transforms.normalize_dot_operands.permutations import transposed_source


def blocks_for_transpose(a: Assignment, group: TileGroup, agent: Agent) -> RegisterLayout | None:
    """The layout of a tile that comes from shared memory and goes there transposed, if it does.

    Elements narrower than a register are left: those of a column would have to be collected.
    """
    tile = placed_tile(group.values[0].type)
    if tile is None or len(group.shape) != len("rc") or bits_of(tile.element_type) < WORD_BITS:
        return None
    if not any(_is_read(a, group, value) for value in group.values):
        return None
    if not any(map(_is_written_transposed, group.values)):
        return None
    return _with_fewest_wavefronts(group.shape, bits_of(tile.element_type), agent.warps)


def _is_read(a: Assignment, group: TileGroup, value: SSAValue) -> bool:
    made = value.owner
    return isinstance(made, ConvertLayoutOp) and memory_of(a, made, group) is Space.SMEM


def _is_written_transposed(value: SSAValue) -> bool:
    for use in value.uses:
        made = use.operation.parent_op() if isinstance(use.operation, tensor.ExtractOp) else None
        if isinstance(made, GenerateOp) and transposed_source(made.result) is value:
            return any(_is_written(user.operation) for user in made.result.uses)
    return False


def _is_written(op: Operation) -> bool:
    return isinstance(op, ConvertLayoutOp) and space_of(op.result.type) is Space.SMEM


@lru_cache(maxsize=64)
def _with_fewest_wavefronts(shape: tuple[int, ...], bits: int, warps: int) -> RegisterLayout | None:
    return min(_blocks(shape, bits, warps), key=lambda one: _wavefronts(one, bits), default=None)


def _blocks(shape: tuple[int, ...], bits: int, warps: int) -> Iterator[RegisterLayout]:
    """Blocks of 16 bytes a side, first some of a row in the lanes of a warp, then of a column."""
    side = ACCESS_BYTES * 8 // bits
    down, across = (extent // side for extent in shape)
    fits = all(map(is_power_of_two, (*shape, warps))) and down and across
    if not fits or down * across < WARP * warps:
        return
    rest = prod((down, across)) // (WARP * warps)
    for beside in (1 << k for k in range(WARP.bit_length())):
        above = WARP // beside
        by_row = min(warps, across // beside) if beside <= across else 0
        if above > down or not by_row or down // above % (warps // by_row):
            continue
        by_column = warps // by_row
        rows = (Part(side, order=1), Part(above, beside), Part(by_column, WARP * by_row))
        columns = (Part(side), Part(beside, 1), Part(by_row, WARP))
        threads = WARP * warps
        yield layout_of_parts(
            shape, [(*rows, Part(rest, order=2)), (*columns, Part(rest, order=3))], threads, threads
        )


def _wavefronts(layout: RegisterLayout, bits: int) -> int:
    """What a warp needs to read a tile in the layout, and to write its transpose."""
    turned = permuted_dimensions(layout, (1, 0))
    moves = _moves("load", layout, bits), _moves("store", turned, bits)
    return sum(one.transfer.wavefronts for one in moves)


def _moves(direction: str, layout: RegisterLayout, bits: int) -> Moves:
    shared: SharedLayout = shared_layouts(layout.shape, bits)[0]
    addresses = 8 * shared.addresses().reshape(layout.shape).ravel(order="F").astype(np.int64)
    buffer = Buffer("the tile", addresses, bits)
    return moves_of_buffer("load" if direction == "load" else "store", layout, buffer)
