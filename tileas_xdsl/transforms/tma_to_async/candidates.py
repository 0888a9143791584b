"""Find the memory operations that become bulk copies."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import enclosing_function
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.interfaces import Producer
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, ScatterStoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of

TiledOp: TypeAlias = TiledLoadOp | TiledStoreOp | TiledAtomicRmwOp | GatherLoadOp | ScatterStoreOp
_TILED_OPS = (TiledLoadOp, TiledStoreOp, TiledAtomicRmwOp, GatherLoadOp, ScatterStoreOp)


@dataclass(frozen=True)
class Request:
    """A memory operation that TMA is allowed to do, and can."""

    op: TiledOp
    atom: TmaAtom

    @property
    def moves_rows(self) -> bool:
        """Whether rows are moved by their numbers, not tiles by their coordinates."""
        return isinstance(self.op, GatherLoadOp | ScatterStoreOp)

    @property
    def is_load(self) -> bool:
        """Whether a barrier is told of the bytes."""
        return isinstance(self.op, TiledLoadOp | GatherLoadOp)

    @property
    def value(self) -> SSAValue:
        """The tile that is loaded, or the one that is stored."""
        return self.op.result if isinstance(self.op, TiledLoadOp | GatherLoadOp) else self.op.value

    @property
    def tile(self) -> Tile:
        """The type of the tile, as it is in the memory of a stage if it fills one."""
        stage = stage_tile(self) if self.is_load else None
        tile = as_tile((self.value if stage is None else stage).type)
        assert tile is not None
        return tile

    @property
    def bits(self) -> int:
        """The bits of the tile."""
        return prod(shape_of(self.tile) or ()) * bits_of(element_of(self.tile))


def stage_tile(request: Request) -> SSAValue | None:
    """The tile of a stage that a load fills: it is yielded in that place, and used nowhere else."""
    block, yielded = request.op.parent, as_yielded(request.value)
    producer = None if block is None else block.parent_op()
    uses = list(yielded.uses)
    if block is None or not isinstance(producer, Producer) or len(uses) != 1:
        return None
    use = uses[0]
    if use.operation is not block.last_op or not isinstance(use.operation, PipelineYieldOp):
        return None
    tile = block.args[use.index] if use.index < len(block.args) else None
    return tile if tile is not None and _holds(tile.type, yielded.type) else None


def as_yielded(value: SSAValue) -> SSAValue:
    """The tile in the layout of a stage, where all that is done with it is to convert it."""
    uses = list(value.uses)
    if len(uses) == 1 and isinstance(conversion := uses[0].operation, ConvertLayoutOp):
        return conversion.result
    return value


def _holds(stage: Attribute, tile: Attribute) -> bool:
    """Whether the tile of a stage, which is in shared memory, can replace another."""
    return stage == tile and space_of(stage) in (None, Space.SMEM)


def requests_of(function: func.FuncOp, *, prefer_tma: bool) -> Sequence[Request]:
    """The requests of a function, in pre-order."""
    return [
        Request(op, op.atom.data)
        for op in instances_in(function, *_TILED_OPS)
        if (prefer_tma or _is_allowed(op))
        and isinstance(op.atom.data, TmaAtom)
        and enclosing_function(op) is function
    ]


def _is_allowed(op: TiledOp) -> bool:
    return op.allow_tma is not None and bool(op.allow_tma)


def check_kernel_spec(function: func.FuncOp) -> None:
    """Only a kernel, of which it is known how it is launched, has descriptors."""
    spec = function.attributes.get(KERNEL_SPEC)
    if not isinstance(spec, KernelSpecAttr) or spec.data.problem() is not None:
        raise op_error(
            function,
            message("tma_to_async.kernel_spec"),
        )
