"""Tiles that threads load, and write to shared memory transposed.

    %r = convert_layout %x : 32x128, smem           // rows of 128 elements, or tiled_load
    %y = truncf %r
    %t = generate { extract %y[%j, %i] }            // 128x32 in the same registers
    %s = convert_layout %t : smem                   // rows of 32 elements

A thread that holds blocks of 4x4 elements of 32 bits reads their rows by 16 bytes, and writes their
columns by 16 bytes.  Which blocks lanes have decides about bank conflicts: side by side in a row of
blocks the writes have them, fourfold; one above another the reads do.  Of global memory lanes read
sectors, by shorter accesses where its elements are narrower than what is written: in the layout of
the widest loads each element would be written by itself, sixteenfold.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import gcd, prod

import numpy as np
from xdsl.dialects import tensor
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.digit_layouts import Part, layout_of_parts
from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, placed_tile
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.convert.buffers import Buffer
from tileas_xdsl.layout.integers import is_power_of_two
from tileas_xdsl.layout.registers.access import SECTOR_BYTES
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.permuted_dimensions import permuted_dimensions
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.unit_dimensions import with_units
from tileas_xdsl.layout.units import WARP, WORD_BITS
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.threads.smem.smem_layout import SharedLayout
from tileas_xdsl.threads.smem.table_driven_copy import Moves, moves_of_buffer
from tileas_xdsl.transforms.assign_layouts.candidates.memory.buffers import shared_layouts
from tileas_xdsl.transforms.assign_layouts.candidates.memory.other_side import (
    memory_of,
    row_alignment,
    stated_alignment,
)
from tileas_xdsl.transforms.assign_layouts.candidates.shown_matrices import (
    is_staged,
    matrices_shown,
    staged_bits,
)
from tileas_xdsl.transforms.assign_layouts.request import Assignment
from tileas_xdsl.transforms.normalize_dot_operands.permutations import transposed_source


def blocks_for_transpose(a: Assignment, group: TileGroup, agent: Agent) -> RegisterLayout | None:
    """The layout of a tile that is loaded and goes to shared memory transposed, if it does.

    Elements narrower than a register are left: those of a column would have to be collected.
    """
    if prod(group.shape[:-2]) != 1 or len(group.shape) < len("rc"):
        return None
    shown = [group, *matrices_shown(a, group)]
    values = [value for one in shown for value in one.values]
    bits = max((_bits_transposed(a, value) for value in values), default=0)
    if bits < WORD_BITS:
        return None
    lanes = _lanes_of_a_row(a, group, ACCESS_BYTES * 8 // bits)
    if not lanes:
        return None
    moved = tuple(sorted({way for one in shown for way in _plain_moves(a, one)}))
    matrix = _with_fewest_wavefronts(group.shape[-2:], bits, agent.warps, lanes, moved)
    return None if matrix is None else _with_leading_units(matrix, group.shape)


def _bits_transposed(a: Assignment, value: SSAValue) -> int:
    """How many bits the elements of a tile have as they are stored transposed; 0 if none are."""
    for use in value.uses:
        made = use.operation.parent_op() if isinstance(use.operation, tensor.ExtractOp) else None
        if isinstance(made, GenerateOp) and transposed_source(made.result) is value:
            group = a.groups.of(made.result)
            if group is not None and (bits := staged_bits(group)):
                return bits
    return 0


def _lanes_of_a_row(a: Assignment, group: TileGroup, side: int) -> int:
    """The least lanes side by side in a row that load a block each; 0 if nothing is loaded so.

    Of global memory they load a sector, by accesses that are as wide as a row of a block.
    """
    found = 0
    for value in group.values:
        load, tile = value.owner, placed_tile(value.type)
        if not isinstance(load, Operation) or tile is None:
            continue
        if isinstance(load, ConvertLayoutOp) and memory_of(a, load, group) is Space.SMEM:
            found = max(found, 1)
        elif isinstance(load, TiledLoadOp):
            bits = bits_of(tile.element_type)
            piece = side * bits // 8
            aligned = gcd(stated_alignment(load, bits), row_alignment(load, bits))
            if memory_of(a, load, group) is not Space.GMEM or aligned % piece:
                return 0
            found = max(found, SECTOR_BYTES // piece)
    return found


def _plain_moves(a: Assignment, group: TileGroup) -> Iterator[str]:
    """How threads move tiles of a group from and to shared memory as they are."""
    for value in group.values:
        made = value.owner
        if isinstance(made, ConvertLayoutOp) and memory_of(a, made, group) is Space.SMEM:
            yield "load"
    if any(map(is_staged, group.values)):
        yield "store"


def _with_leading_units(matrix: RegisterLayout, shape: tuple[int, ...]) -> RegisterLayout:
    layout = with_units(matrix.layout, matrix.shape, shape)
    assert layout is not None
    return RegisterLayout(layout, shape, matrix.threads)


@lru_cache(maxsize=64)
def _with_fewest_wavefronts(
    shape: tuple[int, ...], bits: int, warps: int, lanes: int, moved: tuple[str, ...]
) -> RegisterLayout | None:
    """The blocks whose rows and columns a warp moves in the fewest wavefronts."""
    blocks = _blocks(shape, bits, warps, lanes)
    return min(blocks, key=lambda one: _wavefronts(one, bits, moved), default=None)


def _blocks(shape: tuple[int, ...], bits: int, warps: int, lanes: int) -> Iterator[RegisterLayout]:
    """Blocks of 16 bytes a side, first some of a row in the lanes of a warp, then of a column.

    At least so many lanes are side by side in a row.
    """
    side = ACCESS_BYTES * 8 // bits
    down, across = (extent // side for extent in shape)
    fits = all(map(is_power_of_two, (*shape, warps))) and down and across
    if not fits or down * across < WARP * warps:
        return
    rest = prod((down, across)) // (WARP * warps)
    for beside in (1 << k for k in range(lanes.bit_length() - 1, WARP.bit_length())):
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


def _wavefronts(layout: RegisterLayout, bits: int, moved: tuple[str, ...]) -> int:
    """What a warp needs to move a tile in the layout as it is, and to write its transpose."""
    turned = _moves("store", permuted_dimensions(layout, (1, 0)), bits)
    plain = (_moves(way, layout, bits) for way in moved)
    return sum(one.transfer.wavefronts for one in (turned, *plain))


def _moves(direction: str, layout: RegisterLayout, bits: int) -> Moves:
    shared: SharedLayout = shared_layouts(layout.shape, bits)[0]
    addresses = 8 * shared.addresses().reshape(layout.shape).ravel(order="F").astype(np.int64)
    buffer = Buffer("the tile", addresses, bits)
    return moves_of_buffer("load" if direction == "load" else "store", layout, buffer)
