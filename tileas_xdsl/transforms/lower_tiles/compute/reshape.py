"""Handlers of reshapes, broadcasts and layout changes that keep the elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np
from xdsl.dialects import tensor

from tileas_xdsl.analysis.layouts.layout_flow import ATOM_PLAN
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.compute.depth_order import has_depth_of_sums
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    ReinterpretOp,
    ShuffleOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.convert.plan import Kind
from tileas_xdsl.layout.registers.blocked import blocked, row_values_layout
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    PendingTile,
    RegisterTile,
    SharedTile,
    Splat,
    TmemTile,
    held_as,
)
from tileas_xdsl.threads.convert.register_conversion import converted
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_gather import rearranged
from tileas_xdsl.threads.registers.register_tile import in_registers, layout_of
from tileas_xdsl.threads.registers.reinterpret_bits import reinterpreted
from tileas_xdsl.threads.registers.vector_values import strip
from tileas_xdsl.threads.smem.byte_transpose import has_whole_blocks, transpose_bytes
from tileas_xdsl.threads.smem.overwritten_tiles import overwrite_shared, put_shared
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.smem.smem_encoding import layout_of_buffer


def convert_layout(e: ThreadBuilder, op: ConvertLayoutOp | ShuffleOp) -> Sequence[Lowered]:
    """Convert a tile to the register layout of its encoding, or to a new tile in shared memory."""
    space, found = space_of(op.result.type), e.get(op.source)
    if space is Space.SMEM:
        return [_in_shared_memory(e, op)]
    if space not in (None, Space.RMEM):
        raise op_error(op, f"moves a tile to {op.result.type}, which is not lowered to threads yet")
    if isinstance(found, Splat):
        return [found]
    layout = encoded_layout(e, op, op.result.type)
    if layout is None or isinstance(found, PendingTile | SharedTile | TmemTile):
        return [in_registers(e, op, op.source, layout)]
    is_decided = isinstance(op, ShuffleOp) and ATOM_PLAN in op.attributes
    kind: Kind | None = "shuffle" if is_decided else None
    return [converted(e, op, in_registers(e, op, op.source), layout, kind)]


def reinterpret(e: ThreadBuilder, op: ReinterpretOp) -> Sequence[Lowered]:
    """Read the same bits, in registers or in shared memory, as other elements."""
    found, element = e.get(op.source), element_of(op.result.type)
    before, shape = element_of(op.source.type), shape_of(op.result.type)
    assert element is not None
    assert shape is not None
    alike = shape_of(op.source.type) == shape and bits_of(element) == bits_of(before)
    if isinstance(found, SharedTile | PendingTile) and not alike:
        raise op_error(
            op,
            f"reads {op.source.type} as {op.result.type}; in shared memory only elements "
            "of as many bits in the same places are lowered to threads: load the tile first",
        )
    if isinstance(found, SharedTile):
        return [replace(found, element=element)]
    if isinstance(found, PendingTile):
        shared_tile(e, op.source)
        return [replace(found, element=element, visible_to=None)]
    return [reinterpreted(e, op, in_registers(e, op, op.source), shape, element)]


def _in_shared_memory(e: ThreadBuilder, op: ConvertLayoutOp | ShuffleOp) -> PendingTile:
    type_ = op.result.type
    layout = layout_of_buffer(op, type_, [op.result])
    name = f"%{op.result.name_hint or 'tile'}"
    e.values[op.result] = made = PendingTile(layout, type_.element_type, name)
    if is_transposed(op.source.type):
        _transpose(e, op, made)
    else:
        put_shared(e, op, in_registers(e, op, op.source), op.result)
    return made


def _transpose(e: ThreadBuilder, op: ConvertLayoutOp | ShuffleOp, made: PendingTile) -> None:
    """Lower the conversion of a transposed view in shared memory to a tile by rows."""
    found = e.get(op.source)
    if isinstance(found, PendingTile) and found.visible_to != e.agent.number:
        synchronize_agent(e)
    source = shared_tile(e, op.source)
    rows = source.layout
    if not (has_whole_blocks(source.shape, rows.bits) and rows.is_by_row):
        raise op_error(
            op,
            f"transposes {rows.describe()} in shared memory; bytes are, in pieces of 32 rows and "
            "16 columns: convert the tile to registers for others",
        )
    made.is_in_order_of_sums = has_depth_of_sums(op)
    overwrite_shared(e, op, op.result, partial(transpose_bytes, e, source))


def expand_dims(e: ThreadBuilder, op: ExpandDimsOp) -> Sequence[Lowered]:
    """Add a unit dimension; rows of one element stay in their registers."""
    shape, found = tuple(op.result.type.get_shape()), e.get(op.source)
    if isinstance(found, Splat):
        return [replace(found, shape=shape)]
    tile = in_registers(e, op, op.source)
    layout = encoded_layout(e, op, op.result.type) or layout_of(e, op, shape)
    form = blocked(layout)
    if form is not None and form.is_by_rows and tile.layout == row_values_layout(layout):
        parts = [strip(e, tile.parts[0], k, 1) for k in range(form.blocks)]
        return [RegisterTile(layout, tile.element, tuple(parts))]
    return [rearranged(e, op, tile, layout, np.arange(prod(shape), dtype=np.int64))]


def splat(e: ThreadBuilder, op: tensor.SplatOp) -> Sequence[Lowered]:
    """Broadcast a scalar to a tile, whose registers are made at its uses."""
    type_ = op.result.type
    if op.dynamicSizes:
        raise op_error(op, f"fills tiles of constant extents, not {type_}")
    return [Splat(tuple(type_.get_shape()), held_as(type_.element_type), e.scalar(op.input))]


HANDLERS: Handlers = {
    ConvertLayoutOp: convert_layout,
    ExpandDimsOp: expand_dims,
    ReinterpretOp: reinterpret,
    ShuffleOp: convert_layout,
    tensor.SplatOp: splat,
}
