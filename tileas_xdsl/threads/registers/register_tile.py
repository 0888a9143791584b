"""Bring a lowered tile into registers, in the layout that its user needs.

At thread level a tile is one of several things (`lowered_values.py`), and each has its own way into
registers:

    Splat                     the constant, repeated
    RegisterTile              itself, or a conversion between layouts: shuffles or scratch memory
    SharedTile, PendingTile   loads from swizzled shared memory, after a barrier where needed
    TmemTile                  tcgen05.ld, then a conversion where its shapes do not fit
    DotToken, LoadToken       the registers of the asynchronous operation

Without a wanted layout a tile keeps its own; else the encoding of its type decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.mma.warp_tiles import is_accumulator
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    DotToken,
    KeptTile,
    LoadToken,
    Lowered,
    OrderToken,
    PendingTile,
    RegisterTile,
    SharedTile,
    Splat,
    TmemTile,
)
from tileas_xdsl.threads.convert.element_conversion import CARRIERS
from tileas_xdsl.threads.convert.register_conversion import converted
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.vector_split import has_closed_form
from tileas_xdsl.threads.registers.vector_values import splat
from tileas_xdsl.threads.smem.kept_tile import read_kept
from tileas_xdsl.threads.smem.scratch_buffer import exchanged
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.smem.swizzled_tile_access import read_shared
from tileas_xdsl.threads.tmem.tmem_copy import load


def layout_of(e: ThreadBuilder, op: Operation, shape: Sequence[int]) -> RegisterLayout:
    """Return the default register layout of tiles of a shape in the current agent."""
    return e.tiles.layout(op, tuple(shape), e.agent)


def in_registers(
    e: ThreadBuilder, op: Operation, value: SSAValue, layout: RegisterLayout | None = None
) -> RegisterTile:
    """Return an operand of `op` as a register tile of a layout, by default its own."""
    found = e.get(value)
    if isinstance(found, PendingTile):
        if found.visible_to != e.agent.number:
            # Other threads may have written it: a pipeline says when, a plain tile does not.
            synchronize_agent(e)
        found = shared_tile(e, value)
    if layout is None and not isinstance(found, RegisterTile | DotToken | TmemTile):
        layout = encoded_layout(e, op, value.type)
    return as_fragment(e, op, found, layout)


def as_fragment(
    e: ThreadBuilder, op: Operation, found: Lowered, layout: RegisterLayout | None = None
) -> RegisterTile:
    """Return a lowered tile as a register tile of a layout, by default its own."""
    match found:
        case DotToken() | LoadToken():
            return as_fragment(e, op, found.fragment, layout)
        case RegisterTile():
            return found if layout in (None, found.layout) else _redistributed(e, op, found, layout)
        case TmemTile():
            loaded = load(e, op, found, layout)
            return loaded if layout is None else converted(e, op, loaded, layout)
        case KeptTile():
            of_part = layout or layout_of(e, op, found.shape)
            return read_kept(e, found, of_part)
        case Splat():
            return splat(e, found, layout or layout_of(e, op, found.shape))
        case _:
            assert isinstance(found, SharedTile), found
            return read_shared(e, found, layout or layout_of(e, op, found.shape))


def _redistributed(
    e: ThreadBuilder, op: Operation, tile: RegisterTile, layout: RegisterLayout | None
) -> RegisterTile:
    """Convert a register tile to another layout, through shared memory or by a conversion plan.

    Between layouts with closed forms it goes through row-major scratch: one address per thread,
    all chunks at immediate offsets. The planner's swizzled buffers have fewer bank conflicts and
    more address arithmetic (grouped GEMM: 1,408 SASS instructions, not 1,376), but may be smaller
    than the tile, so they are used where shared memory is limited.
    """
    assert layout is not None
    by_formula = has_closed_form(tile.layout) and has_closed_form(layout)
    if tile.element in CARRIERS or not by_formula or e.plan.exchange_limit is not None:
        return converted(e, op, tile, layout)
    return exchanged(e, op, tile, layout)


def common_layout(
    e: ThreadBuilder, op: Operation, type_: Attribute, found: Sequence[Lowered]
) -> RegisterLayout:
    """Return the common layout of tiles that merge into one value: its encoding's, if any.

    Without an encoding that of an accumulator among them, else that of the first tile.
    """
    encoded = encoded_layout(e, op, type_)
    if encoded is not None:
        return encoded
    layouts = [tile.layout for tile in found if isinstance(tile, RegisterTile)]
    accumulators = [layout for layout in layouts if is_accumulator(layout)]
    if accumulators:
        return accumulators[0]
    return layouts[0] if layouts else layout_of(e, op, shape_of(type_) or ())


def laid_out(e: ThreadBuilder, op: Operation, found: Lowered, type_: Attribute) -> Lowered:
    """Convert a lowered result to the register layout of its type, if the type has one."""
    if not isinstance(found, RegisterTile):
        return found
    layout = encoded_layout(e, op, type_)
    if layout is None or found.layout == layout:
        return found
    return converted(e, op, found, layout)


def in_model_layout(e: ThreadBuilder, op: Operation, found: Lowered, model: Lowered) -> Lowered:
    """Return a value that control flow yields in the register layout of `model`."""
    if isinstance(model, OrderToken) and isinstance(found, OrderToken) and model.index is None:
        return OrderToken(found.stages)
    if isinstance(model, RegisterTile) and not isinstance(found, DotToken):
        return as_fragment(e, op, found, model.layout)
    return found
