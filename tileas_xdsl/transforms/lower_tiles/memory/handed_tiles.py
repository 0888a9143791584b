"""Handlers of `hand_over` and `take_over`: tiles go from registers to those of another CTA."""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.dialects.nv_tileas.memory.handed_tiles import HandOverOp, TakeOverOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import Lowered, held_as
from tileas_xdsl.threads.gmem import handed_tiles
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import in_registers, layout_of


def hand_over(e: ThreadBuilder, op: HandOverOp) -> Sequence[Lowered]:
    """Store tiles in the registers that they are in."""
    tiles = [in_registers(e, op, value, encoded_layout(e, op, value.type)) for value in op.tiles]
    handed_tiles.hand_over(e, op, e.scalar(op.place), tiles)
    return []


def take_over(e: ThreadBuilder, op: TakeOverOp) -> Sequence[Lowered]:
    """Load tiles into the registers that they were in."""
    types = [tile for value in op.tiles if (tile := as_tile(value.type)) is not None]
    held = [
        (
            encoded_layout(e, op, tile) or layout_of(e, op, tile.get_shape()),
            held_as(tile.element_type),
        )
        for tile in types
    ]
    return handed_tiles.take_over(e, op, e.scalar(op.place), held)


HANDLERS: Handlers = {HandOverOp: hand_over, TakeOverOp: take_over}
