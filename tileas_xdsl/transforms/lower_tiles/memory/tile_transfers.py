"""Handlers of `transfer_out` and `transfer_in`: tiles go from registers to those of another CTA."""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.dialects.nv_tileas.memory.tile_transfers import TransferInOp, TransferOutOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import Lowered, held_as
from tileas_xdsl.threads.gmem.launch_memory import tile_transfers
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import in_registers, layout_of


def transfer_out(e: ThreadBuilder, op: TransferOutOp) -> Sequence[Lowered]:
    """Store tiles in the registers that they are in."""
    tiles = [in_registers(e, op, value, encoded_layout(e, op, value.type)) for value in op.tiles]
    tile_transfers.transfer_out(e, op, e.scalar(op.slot), tiles)
    return []


def transfer_in(e: ThreadBuilder, op: TransferInOp) -> Sequence[Lowered]:
    """Load tiles into the registers that they were in."""
    types = [tile for one in op.types_of_slot if (tile := as_tile(one)) is not None]
    held = [
        (
            encoded_layout(e, op, tile) or layout_of(e, op, tile.get_shape()),
            held_as(tile.element_type),
        )
        for tile in types
    ]
    return tile_transfers.transfer_in(e, op, [e.scalar(slot) for slot in op.slots], held)


HANDLERS: Handlers = {TransferOutOp: transfer_out, TransferInOp: transfer_in}
