"""Find the memory operations that become bulk copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import enclosing_function
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, ScatterStoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of

TiledOp: TypeAlias = TiledLoadOp | TiledStoreOp | TiledAtomicRmwOp | GatherLoadOp | ScatterStoreOp


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
        """The type of the tile."""
        tile = as_tile(self.value.type)
        assert tile is not None
        return tile

    @property
    def bits(self) -> int:
        """The bits of the tile."""
        return prod(shape_of(self.tile) or ()) * bits_of(element_of(self.tile))


def requests_of(function: func.FuncOp, *, prefer_tma: bool) -> Sequence[Request]:
    """The requests of a function, in pre-order."""
    return [
        Request(op, op.atom.data)
        for op in function.walk()
        if isinstance(op, TiledOp)
        and (prefer_tma or _is_allowed(op))
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
