"""The pass `tileas-order-tile-blocks`: tile blocks that read the same memory run side by side.

    %i = gpu.block_id x; %g = gpu.block_id y              %n = block_id x + block_id y * grid_dim x
    %t = tiled_load %x[%i, %k, %g] : 1x64x8xf16   ->      %i = %n / grid_dim y; %g = %n mod that

Hardware starts tile blocks along x first, and what those that run at once do not share has left
the L2 cache when the next one asks for it.  Two things are shared:

*Operands of products.*  In a product of a batch along x, no two tile blocks that start one after
the other read the same; along y, they read the same tiles of B.

    %a = tiled_load %x[%batch, %row, %k]        %batch = block_id x, %row = block_id y
    %b = tiled_load %y[%batch, %column, %k]     %column = block_id z

*Lines.*  Where the tiles of those along another axis are beside each other in memory, and narrower
than a line, a line is loaded for each: groups of 8 channels, 16 bytes of each pixel, took nine
times as long as the memory needs.

Numbers have 32 bits, for divisions of 64 are long: a grid of more tile blocks than that keeps its
order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, scf
from xdsl.dialects.builtin import IndexType, ModuleOp, TensorType, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import without_promises
from tileas_xdsl.analysis.values.scalar_operations import grid_axes_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.block_exchange import exchanges_data
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.builders.arith import add, constant, mul, select, sub
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.target.launches.launch_numbers import AXES

LINE_BYTES = 128
"""What a cache keeps and asks memory for."""


@dataclass(frozen=True)
class TileasOrderTileBlocks(ModulePass):
    """Number tile blocks along those axes first along which they share what they load.

    With products, axes come last along which all loads differ that loops around products have, or
    else all loads of the kernel; the others keep their order.  Without, tile blocks run along one
    axis first where more than half of what is loaded and stored is narrower than a line, side by
    side along this axis, and far apart along x.

    Kernels with atomics or ordered accesses and a `while` loop stay: one tile block may wait there
    for another one that is to start before it.

    Expects block ids to be those of tile blocks (in front of `tileas-plan-cta`); it has no
    diagnostics and never stops a pipeline.
    """

    name = "tileas-order-tile-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in instances_in(op, func.FuncOp):
            if kernel.is_declaration or _may_wait(kernel):
                continue
            is_product = has_instance(kernel, DotOp)
            order = _order_of_operands(kernel) if is_product else _order_of_lines(kernel)
            if order is not None:
                _number_along(kernel, order)


def _may_wait(kernel: func.FuncOp) -> bool:
    """Whether tile blocks may wait for others, which hardware has started in its own order."""
    return has_instance(kernel, scf.WhileOp) and exchanges_data(kernel)


def _order_of_operands(kernel: func.FuncOp) -> Sequence[str] | None:
    """Return the axes, last those along which tile blocks share no operand; None if they are so."""
    loops = [op for op in instances_in(kernel, scf.ForOp) if has_instance(op, DotOp)]
    loads = [load for loop in loops or [kernel] for load in instances_in(loop, TiledLoadOp)]
    ids = [op for op in instances_in(kernel, gpu.BlockIdOp) if op.results[0].uses]
    used = {str(op.dimension.data) for op in ids}
    apart = used.intersection(*map(_axes_of_addresses, loads))
    order = sorted(AXES, key=lambda axis: (axis not in used, axis in apart))
    is_kept = apart == used or order == sorted(AXES, key=lambda axis: axis not in used)
    return None if is_kept else order


def _axes_of_addresses(load: TiledLoadOp) -> set[str]:
    """The axes along which tile blocks load from other addresses, or begin a loop elsewhere."""
    begins = [loop.lb for loop in enclosing_ops(load) if isinstance(loop, scf.ForOp)]
    return grid_axes_behind([*load.coords, *begins])


def _order_of_lines(kernel: func.FuncOp) -> Sequence[str] | None:
    """The axis first along which tile blocks share lines, and would not run side by side."""
    shared, total = Counter[str](), 0
    for access in instances_in(kernel, TiledLoadOp, TiledStoreOp):
        tile = access.result.type if isinstance(access, TiledLoadOp) else access.value.type
        size = _bytes_of(tile)
        total += size
        if size and access.coords and size < LINE_BYTES * prod((shape_of(tile) or ())[:-1]):
            for axis in _axes_of_columns(access):
                shared[axis] += size
    first, most = max(shared.items(), key=lambda found: found[1], default=("", 0))
    return sorted(AXES, key=lambda axis: axis != first) if 2 * most > total else None


def _bytes_of(tile: Attribute) -> int:
    """The bytes of a tile; none of one of pointers."""
    if not isa(tile, TensorType[Attribute]) or isinstance(tile.element_type, PtrType):
        return 0
    return prod(tile.get_shape()) * bits_of(tile.element_type) // 8


def _axes_of_columns(access: TiledLoadOp | TiledStoreOp) -> Iterator[str]:
    """The one axis of the grid that columns alone depend on, where rows depend on x."""
    view = access.view.owner
    made = without_promises(view.source).owner if isinstance(view, ViewOp) else None
    if not isinstance(made, MakeMemrefOp) or made.stride(len(access.coords) - 1) != 1:
        return
    *rows, column = (grid_axes_behind([coord]) for coord in access.coords)
    of_rows = set[str]().union(*rows)
    if len(column) == 1 and AXES[0] in of_rows and not column & of_rows:
        yield from column


def _number_along(kernel: func.FuncOp, order: Sequence[str]) -> None:
    """Give tile blocks the coordinates of those with the same numbers, if axes ran in an order."""
    old = instances_in(kernel, gpu.BlockIdOp)
    build = Builder(InsertPoint.at_start(kernel.body.block))
    own, extents = (
        {axis: _number(build, kind, axis) for axis in AXES}
        for kind in (gpu.BlockIdOp, gpu.GridDimOp)
    )
    x, y, z = (own[axis] for axis in AXES)
    left = add(build, x, mul(build, extents["x"], add(build, y, mul(build, extents["y"], z))))
    *firsts, last = order
    found: dict[str, SSAValue] = {}
    for axis in firsts:
        quotient = build.insert(arith.DivUIOp(left, extents[axis])).result
        found[axis] = sub(build, left, mul(build, quotient, extents[axis]))
        left = quotient
    found[last] = left
    is_numbered = _is_numbered(build, [extents[axis] for axis in AXES])
    indices: dict[str, SSAValue] = {}
    for axis in AXES:
        chosen = select(build, is_numbered, found[axis], own[axis])
        indices[axis] = build.insert(arith.IndexCastOp(chosen, IndexType())).result
    for op in old:
        Rewriter.replace_op(op, [], [indices[str(op.dimension.data)]])


def _is_numbered(build: Builder, extents: Sequence[SSAValue]) -> SSAValue:
    """Whether 32 bits number the tile blocks of a grid, of at most 2^31 x 2^16 x 2^16."""
    x, y, z = (build.insert(arith.ExtUIOp(extent, i64)).result for extent in extents)
    count = mul(build, x, mul(build, y, z))
    most = constant(build, 1 << i32.bitwidth, i64)
    return build.insert(arith.CmpiOp(count, most, "ule")).result


def _number(build: Builder, kind: type[gpu.BlockIdOp | gpu.GridDimOp], axis: str) -> SSAValue:
    found = build.insert(kind(gpu.DimensionAttr(gpu.DimensionEnum(axis)))).result
    return build.insert(arith.IndexCastOp(found, i32)).result
