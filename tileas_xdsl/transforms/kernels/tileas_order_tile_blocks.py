"""The pass `tileas-order-tile-blocks`: tile blocks that share lines of memory run side by side.

    %i = gpu.block_id x; %g = gpu.block_id y              %n = block_id x + block_id y * grid_dim x
    %t = tiled_load %x[%i, %k, %g] : 1x64x8xf16   ->      %i = %n / grid_dim y; %g = %n mod that

Hardware starts tile blocks along x first.  Where the tiles of those along another axis are beside
each other in memory, and narrower than a line, a line is loaded for one of them and has left the
L2 cache when the next one asks for it: groups of 8 channels, 16 bytes of each pixel, took nine
times as long as the memory needs.  Numbers have 32 bits, for divisions of 64 are long: a grid of
more tile blocks than that keeps its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu
from xdsl.dialects.builtin import IndexType, ModuleOp, TensorType, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import without_promises
from tileas_xdsl.analysis.values.scalar_operations import grid_axes_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.builders.arith import add, constant, mul, select, sub
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.target.launches.launch_numbers import AXES

LINE_BYTES = 128
"""What a cache keeps and asks memory for."""


@dataclass(frozen=True)
class TileasOrderTileBlocks(ModulePass):
    """Number tile blocks along the axis first along which they share lines.

    Of kernels without products, whose tile blocks share operands along all axes, where more than
    half of what is loaded and stored is narrower than a line, side by side along one axis other
    than x, and far apart along x.  Expects block ids to be those of tile blocks (in front of
    `tileas-plan-cta`); it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-order-tile-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in instances_in(op, func.FuncOp):
            if not kernel.is_declaration and not has_instance(kernel, DotOp):
                axis = _shared_axis(kernel)
                if axis is not None:
                    _order(kernel, axis)


def _shared_axis(kernel: func.FuncOp) -> str | None:
    """The axis of the grid along which tile blocks share lines, and would not run side by side."""
    shared, total = Counter[str](), 0
    for access in instances_in(kernel, TiledLoadOp, TiledStoreOp):
        tile = access.result.type if isinstance(access, TiledLoadOp) else access.value.type
        if not isa(tile, TensorType[Attribute]) or isinstance(tile.element_type, PtrType):
            continue
        width = bits_of(tile.element_type) // 8
        total += prod(tile.get_shape()) * width
        if tile.get_shape()[-1:] and tile.get_shape()[-1] * width < LINE_BYTES:
            for axis in _axes_of_columns(access):
                shared[axis] += prod(tile.get_shape()) * width
    axis, most = max(shared.items(), key=lambda found: found[1], default=("", 0))
    return axis if 2 * most > total else None


def _axes_of_columns(access: TiledLoadOp | TiledStoreOp) -> Iterator[str]:
    """The one axis of the grid that columns alone depend on, where rows depend on x."""
    view = access.view.owner
    made = without_promises(view.source).owner if isinstance(view, ViewOp) else None
    if not isinstance(made, MakeMemrefOp) or made.stride(len(access.coords) - 1) != 1:
        return
    *rows, column = map(grid_axes_behind, access.coords)
    of_rows = set[str]().union(*rows)
    if len(column) == 1 and AXES[0] in of_rows and not column & of_rows:
        yield from column


def _order(kernel: func.FuncOp, first: str) -> None:
    """Give tile blocks the coordinates of those with the same numbers, if `first` ran fastest."""
    old = instances_in(kernel, gpu.BlockIdOp)
    build = Builder(InsertPoint.at_start(kernel.body.block))
    own, extents = (
        {axis: _number(build, kind, axis) for axis in AXES}
        for kind in (gpu.BlockIdOp, gpu.GridDimOp)
    )
    x, y, z = (own[axis] for axis in AXES)
    left = add(build, x, mul(build, extents["x"], add(build, y, mul(build, extents["y"], z))))
    *order, last = sorted(AXES, key=lambda axis: (axis != first, axis))
    found: dict[str, SSAValue] = {}
    for axis in order:
        quotient = build.insert(arith.DivUIOp(left, extents[axis])).result
        found[axis] = sub(build, left, mul(build, quotient, extents[axis]))
        left = quotient
    found[last] = left
    is_numbered = _is_numbered(build, [extents[axis] for axis in AXES])
    for op in old:
        axis = str(op.dimension.data)
        chosen = select(build, is_numbered, found[axis], own[axis])
        index = build.insert(arith.IndexCastOp(chosen, IndexType())).result
        Rewriter.replace_op(op, [], [index])


def _is_numbered(build: Builder, extents: Sequence[SSAValue]) -> SSAValue:
    """Whether 32 bits number the tile blocks of a grid, of at most 2^31 x 2^16 x 2^16."""
    x, y, z = (build.insert(arith.ExtUIOp(extent, i64)).result for extent in extents)
    count = mul(build, x, mul(build, y, z))
    most = constant(build, 1 << i32.bitwidth, i64)
    return build.insert(arith.CmpiOp(count, most, "ule")).result


def _number(build: Builder, kind: type[gpu.BlockIdOp | gpu.GridDimOp], axis: str) -> SSAValue:
    found = build.insert(kind(gpu.DimensionAttr(gpu.DimensionEnum(axis)))).result
    return build.insert(arith.IndexCastOp(found, i32)).result
