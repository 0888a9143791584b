"""Handlers of copies of tiles to memory, and of the barrier of the block."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import gpu
from xdsl.ir import Operation

from tileas_xdsl.analysis.memory.copied_chunks import copied_load
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import BarrierOp
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.units import BYTE_BITS
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    PendingTile,
    SharedTile,
    TmemTile,
    Unset,
)
from tileas_xdsl.threads.gmem.async_copies import start_copies
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.smem.overwritten_tiles import put_shared
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.smem.swizzled_tile_access import write_shared
from tileas_xdsl.threads.tmem.tmem_copy import store


def copy(e: ThreadBuilder, op: CopyOp) -> Sequence[Lowered]:
    """Copy a tile to memory, visible to all threads of the agent, or to registers.

    The full barrier of a pipeline stage is the producer's to signal, not the copy's.
    """
    found = e.get(op.destination)
    if op in e.copied_in_chunks:
        load = copied_load(op)
        assert load is not None
        assert isinstance(found, SharedTile)
        start_copies(e, load, found)
        return []
    match found:
        case TmemTile():
            store(e, op, in_registers(e, op, op.source), found)
        case Unset() if op.parent is op.destination.owner.parent:
            layout = encoded_layout(e, op, op.destination.type)
            e.values[op.destination] = in_registers(e, op, op.source, layout)
        case PendingTile() | SharedTile() if space_of(op.source.type) is not Space.GMEM:
            _put_shared(e, op)
        case _:
            raise op_error(
                op,
                f"copies {op.source.type} to {op.destination.type}, which is not lowered to "
                "threads yet",
            )
    return []


def _put_shared(e: ThreadBuilder, op: CopyOp) -> None:
    if bits_of(element_of(op.source.type)) % BYTE_BITS:
        raise op_error(op, f"copies elements of whole bytes, not {element_of(op.source.type)}")
    tile = in_registers(e, op, op.source)
    if _fills_a_stage(op):
        write_shared(e, tile, shared_tile(e, op.destination))
    else:
        put_shared(e, op, tile, op.destination)


def _fills_a_stage(op: Operation) -> bool:
    stage = enclosing(op, StageOp)
    return stage is not None and "produce" in stage.name


def barrier(e: ThreadBuilder, op: gpu.BarrierOp) -> Sequence[Lowered]:
    """Synchronise all threads of the block."""
    if e.by_one_thread:
        raise op_error(op, "waits for all threads of the block, but only one of its agent is here")
    e.insert(BarrierOp(0))
    return []


HANDLERS: Handlers = {
    CopyOp: copy,
    gpu.BarrierOp: barrier,
}
