"""Allocate the mbarriers that loads wait for, and diagnose why there is none.

A load has one to itself, which the function initialises before anything else; a load that is the
tile of a stage has that of the stage.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func, scf
from xdsl.ir import Operation

from tileas_xdsl.analysis.memory.shared_memory import (
    allocated_tiles,
    reuses_stage_memory,
    tile_bytes,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, note, op_error
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import MBARRIER_BYTES
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.nv_tileas.interfaces import Producer
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.isa.tables.asynchronous import MAX_TRANSACTION
from tileas_xdsl.transforms.tma_to_async.candidates import Request, stage_tile

_KNOWN = (func.FuncOp, scf.ForOp, scf.IfOp, scf.WhileOp, AgentSwitchOp, StageOp)
"""Operations of which it is known who runs their regions."""


@dataclass
class Arena:
    """The shared memory that a function asks for."""

    target: Target
    used: int
    asked: int = 0
    """What the last load would have come to."""

    @staticmethod
    def of(function: func.FuncOp, target: Target) -> Arena:
        """What it asks for already; tiles of conversions may be dead when a load needs memory."""
        made = (
            type_
            for op, type_ in allocated_tiles(function)
            if isinstance(op, AllocTensorOp) and not reuses_stage_memory(op)
        )
        return Arena(target, sum(map(tile_bytes, made)))

    def reserve(self, size: int) -> bool:
        """Whether a block has room for a tile beside what is allocated already.

        Tiles of other loads may be dead by then: the lowering to threads knows, and reuses them.
        """
        self.asked = self.used + size
        return self.asked <= self.target.shared_memory_per_block


def barrier_problem(request: Request, arena: Arena) -> OpError | None:
    """Why a load has no barrier to wait for, None if it has; its memory is taken."""
    if stage_tile(request) is not None:
        return None
    if (around := _unknown_around(request.op)) is not None:
        reason = note(around, "nobody knows which threads run this, nor how often")
        return op_error(request.op, message("tma_to_async.mbarrier_init"), [reason])
    if (producer := _producer_around(request.op)) is not None:
        reason = note(producer, "the barrier of a stage waits for the tiles that it yields")
        return op_error(request.op, message("tma_to_async.mbarrier_object"), [reason])
    if not arena.reserve(request.bits // 8 + MBARRIER_BYTES):
        text = f"a block needs {arena.asked} bytes of shared memory with tile and barrier; it has"
        reason = note(request.op, f"{text} {arena.target.shared_memory_per_block}")
        text = message("tma_to_async.mbarrier_address")
        return op_error(request.op, text, [reason])
    return None


def tx_count_problem(request: Request) -> OpError | None:
    """Why a barrier cannot be told how many bytes a load moves, None if it can."""
    if request.bits // 8 <= MAX_TRANSACTION:
        return None
    reason = note(
        request.op, f"a barrier counts at most {MAX_TRANSACTION} bytes, not {request.bits // 8}"
    )
    return op_error(request.op, message("tma_to_async.tx_count"), [reason])


def _around(op: Operation) -> Iterator[Operation]:
    for parent in enclosing_ops(op):
        yield parent
        if isinstance(parent, func.FuncOp):
            return


def _unknown_around(op: Operation) -> Operation | None:
    return next((parent for parent in _around(op) if not isinstance(parent, _KNOWN)), None)


def _producer_around(op: Operation) -> Operation | None:
    return next((parent for parent in _around(op) if isinstance(parent, Producer)), None)
