"""Copies of tiles to shared memory for other threads, and where all threads of the block meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import gpu
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import BarrierOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory_copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipeline import StageOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma_checks import bits_of
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter, Handler
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.plain_memory import put_shared
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.registers import in_registers
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.shared_tiles import write_shared
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import Lowered

BYTE = 8


def copy(e: Emitter, op: CopyOp) -> Sequence[Lowered]:
    """A tile from registers to shared memory, where all threads of the agent see it afterwards.

    Who fills a stage of a pipeline says when it is full.
    """
    if space_of(op.destination.type) is not Space.SMEM or space_of(op.source.type) is Space.GMEM:
        raise op_error(
            op,
            f"copies {op.source.type} to {op.destination.type}; tiles are copied to shared "
            "memory only yet",
        )
    if bits_of(element_of(op.source.type)) % BYTE:
        raise op_error(op, f"copies elements of whole bytes, not {element_of(op.source.type)}")
    tile = in_registers(e, op, op.source)
    if _fills_a_stage(op):
        write_shared(e, tile, e.shared_tile(op.destination))
    else:
        put_shared(e, op, tile, op.destination)
    return []


def _fills_a_stage(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, StageOp):
        parent = parent.parent_op()
    return parent is not None and "produce" in parent.name


def barrier(e: Emitter, op: gpu.BarrierOp) -> Sequence[Lowered]:
    """All threads of the block meet."""
    if e.by_one_thread:
        raise op_error(op, "waits for all threads of the block, but only one of its agent is here")
    e.insert(BarrierOp(0))
    return []


_TABLE: Any = {CopyOp: copy, gpu.BarrierOp: barrier}

EXCHANGES: Mapping[type[Operation], Handler] = _TABLE
"""Copies to shared memory, and the barrier of the block."""
