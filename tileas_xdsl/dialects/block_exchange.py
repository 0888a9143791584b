"""Whether the blocks of a kernel exchange data while they run, so that their order matters."""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.control import (
    AsyncCancelNextProgramIdOp,
    AsyncNextTileBlockOp,
    CancelNextProgramIdOp,
)
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, MemSemanticAttr
from tileas_xdsl.dialects.nv_tileas.memory.atomics import PointedAtomicOp
from tileas_xdsl.dialects.nv_tileas.memory.tile_transfers import TransferOutOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledAtomicRmwOp

_EXCHANGING = Kinds(
    AsyncCancelNextProgramIdOp,
    AsyncNextTileBlockOp,
    AsyncTiledAtomicRmwOp,
    CancelNextProgramIdOp,
    TransferOutOp,
    PointedAtomicOp,
    TiledAtomicRmwOp,
    "tl.atomic_add",
)


def exchanges_data(kernel: Operation) -> bool:
    """Whether blocks may exchange data while they run: by atomics, or accesses that are ordered."""
    for op in operations_in(kernel):
        semantic = op.properties.get("mem_semantic")
        is_ordered = isinstance(semantic, MemSemanticAttr) and semantic.data is not MemSemantic.WEAK
        if is_ordered or _EXCHANGING[type(op)]:
            return True
    return False
