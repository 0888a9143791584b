"""Tiles that loads keep in shared memory, row-major: their chunks, parts and elements."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import DYNAMIC_INDEX, VectorType, i32
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import comparison
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    i32_constant,
    logical_and,
    multiply,
)
from tileas_xdsl.threads.codegen.lowered_values import KeptTile, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.vector_values import assembled, constant_elements, zero_of


def chunk_of(e: ThreadBuilder, tile: KeptTile, chunk: AccessChunk) -> SSAValue:
    """Return the address of a chunk."""
    offset = chunk.column
    if chunk.row is not None:
        offset = add(e, multiply(e, chunk.row, tile.layout.shape[-1]), offset)
    size = chunk.count * bits_of(tile.element) // 8
    return advance(e, advance(e, tile.pointer, offset, size), chunk.shift, size)


def read_kept(e: ThreadBuilder, tile: KeptTile, layout: RegisterLayout) -> RegisterTile:
    """Load a tile, or the part of it that is meant, into registers of a layout.

    Behind its end nothing is kept: chunks there are padding, as known or as compared at run time.
    """

    def read(chunk: AccessChunk) -> SSAValue:
        if tile.end is not None and chunk.span > 1 and chunk.shift >= tile.end:
            return constant_elements(e, tile.padding or zero_of(tile.element), chunk.count)
        type_, exists, fill = VectorType(tile.element, [chunk.count]), chunk.exists, None
        if tile.end is not None and chunk.span == 1:
            column = add(e, cast_index(e, chunk.column, i32), chunk.shift)
            is_stored = e.insert(comparison(column, i32_constant(e, tile.end), "slt")).result
            exists, fill = logical_and(e, exists, is_stored), tile.padding
        return e.insert(LoadOp(chunk_of(e, tile, chunk), type_, exists, fill=fill)).result

    return assembled(e, layout, tile.element, read)


def part_of_kept(e: ThreadBuilder, op: ExtractSliceOp, tile: KeptTile) -> KeptTile:
    """Return columns of all rows of a tile: they are read where they are used."""
    *before, first = op.static_offsets.get_values()
    sizes = tuple(op.static_sizes.get_values())
    if any(before) or sizes[:-1] != tile.shape[:-1] or {*op.static_strides.get_values()} != {1}:
        raise op_error(op, "takes columns of all rows of a tile that is kept, no other part of it")
    start = cast_index(e, e.scalar(op.offsets[0]), i32) if first == DYNAMIC_INDEX else first
    end = None if tile.end is None or first == DYNAMIC_INDEX else tile.end - first
    pointer = advance(e, tile.pointer, start, ACCESS_BYTES)
    return replace(tile, pointer=pointer, shape=sizes, end=end)
