"""Copies between registers and the swizzled rows of shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.unit_dimensions import as_matrix
from tileas_xdsl.target.mma.warp_tiles import is_accumulator
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, divide, modulo, multiply, xor
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile, SharedTile
from tileas_xdsl.threads.codegen.pointer_ops import advance, recast
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import is_first_replica, thread_chunks
from tileas_xdsl.threads.registers.vector_split import has_closed_form
from tileas_xdsl.threads.registers.vector_values import (
    assembled,
    joined,
    one_vector,
    strip,
    tile_of_vector,
)
from tileas_xdsl.threads.smem.shared_tile import row_swizzle, swizzled_rows
from tileas_xdsl.threads.smem.stmatrix_epilogue import write_accumulators
from tileas_xdsl.threads.smem.table_driven_copy import read_by_table, write_by_table

UNIT_BITS = 128
"""What a swizzle moves as a whole."""

MATRIX_BITS = 16
"""The elements of ldmatrix, which fills fragments of wgmma four registers at once."""


def read_shared(e: ThreadBuilder, tile: SharedTile, layout: RegisterLayout) -> RegisterTile:
    """Load a tile from shared memory into registers."""
    is_matrices = tile.layout.bits == MATRIX_BITS and is_accumulator(layout)
    if is_matrices or not has_closed_form(layout) or not tile.layout.is_by_row:
        return read_by_table(e, tile, layout)

    def load(chunk: AccessChunk) -> SSAValue:
        found = [
            e.insert(LoadOp(chunk_address(e, tile, unit), VectorType(tile.element, [unit.count])))
            for unit in _units(chunk, tile.layout.bits)
        ]
        return joined(e, [op.result for op in found])

    return assembled(e, layout, tile.element, load)


def write_shared(e: ThreadBuilder, fragment: RegisterTile, tile: SharedTile) -> None:
    """Store a register tile to shared memory that no thread still reads."""
    fragment = _seen_as_matrix(e, fragment)
    if is_accumulator(fragment.layout):
        write_accumulators(e, fragment, tile)
        return
    if blocked(fragment.layout) is None or not tile.layout.is_by_row:
        write_by_table(e, fragment, tile)
        return
    holds = is_first_replica(e, fragment.layout)
    bits = tile.layout.bits
    for chunk in thread_chunks(e, fragment.layout, bits):
        for unit in _units(chunk, bits):
            value = strip(e, fragment.parts[unit.block], unit.register, unit.count)
            e.insert(StoreOp(value, chunk_address(e, tile, unit), holds))


def _seen_as_matrix(e: ThreadBuilder, fragment: RegisterTile) -> RegisterTile:
    """Return a tile without its leading dimensions of extent 1, its registers split as a matrix's.

    Accumulators of 1x1x256x64 in two warpgroups are one vector of 64 registers, those of 256x64
    are two of 32, one for each wgmma.
    """
    matrix = as_matrix(fragment.layout)
    if matrix == fragment.layout:
        return fragment
    return tile_of_vector(e, matrix, fragment.element, one_vector(e, fragment))


def _units(chunk: AccessChunk, bits: int) -> Iterator[AccessChunk]:
    """The parts of a chunk that a swizzle leaves whole: 16 bytes.

    A chunk is longer where a tile was loaded in pieces of smaller elements than these.
    """
    count = min(chunk.count, UNIT_BITS // bits)
    for k in range(0, chunk.count, count):
        yield replace(chunk, register=chunk.register + k, count=count, shift=chunk.shift + k)


def chunk_address(e: ThreadBuilder, tile: SharedTile, chunk: AccessChunk) -> SSAValue:
    """Return the address of a chunk: a swizzle permutes 16-byte units, the widest chunk."""
    layout = tile.layout
    size = layout.bits // 8
    panel, inside = divmod(chunk.shift, layout.panel)
    column, moved = chunk.column, None
    is_anywhere = chunk.span == 1 and layout.panels > 1
    if chunk.span > layout.panel or is_anywhere:
        moved = multiply(e, divide(e, column, layout.panel), layout.panel_bytes)
        column = modulo(e, column, layout.panel)
    offset = add(e, multiply(e, column, size), inside * size)
    row, below = chunk.row, tile.first_row
    if chunk.first_row is not None and chunk.row_shift % swizzled_rows(layout.swizzle) == 0:
        row, below = chunk.first_row, below + chunk.row_shift
    if row is not None:
        swizzled = xor(e, offset, row_swizzle(e, row, layout.swizzle))
        offset = add(e, multiply(e, row, layout.row_bytes), swizzled)
    if moved is not None:
        offset = add(e, offset, moved)
    base = advance(e, tile.pointer, panel * layout.panel_bytes + below * layout.row_bytes)
    alignment = chunk.count * size
    return recast(e, advance(e, base, offset, alignment), tile.element)
