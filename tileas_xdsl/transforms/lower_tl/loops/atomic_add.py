"""Atomic adds in parallel loops: one thread acts for all replicas of an iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu.threads.atomics import has_update
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.dialects.tl.compute import AtomicAddOp
from tileas_xdsl.inference.program import AccessKind
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.atomic_rmw import Updater
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder
from tileas_xdsl.threads.registers.vector_values import element
from tileas_xdsl.transforms.lower_tl.buffer_locations import SharedLocation
from tileas_xdsl.transforms.lower_tl.loops import loop_body as bodies
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState, Value
from tileas_xdsl.transforms.lower_tl.memory import vectorized_access as memory


def atomic_add(work: LoopBodyState, op: AtomicAddOp) -> Sequence[Value]:
    """An element of memory grows by a value of each iteration."""
    e, location = work.e, work.state.locations[op.buffer]
    if not isinstance(location, GlobalView | SharedLocation):
        raise op_error(op, f"adds to memory that threads share, not to {op.buffer.type}")
    if not has_update(RmwMode.ADD.value, location.element):
        raise op_error(op, f"adds elements of {location.element}, which no instruction does")
    work.touch(storage_of(op.buffer), AccessKind.UPDATE)
    value = work.operand(op.value)
    indices = [work.affine(index) for index in op.indices]
    access = memory.Access.of(
        work, op, location, indices, work.active & work.iterations.first, most=1
    )
    update = Updater(e, op, RmwMode.ADD, location.element, MemoryOrder.of(None, None))
    for piece in access.pieces:
        pointer, offset = access.address(piece)
        pointer = advance(e, pointer, offset)
        mine = element(e, value, piece.first)
        update.update(mine, pointer, access.guard(piece))
    return ()


_TABLE: Any = {AtomicAddOp: atomic_add}

ATOMICS: bodies.Bodies = _TABLE
"""Updates of memory in a body."""
