"""Tile blocks behind the grid of a launch: they complete its last clusters, and store nothing.

    grid of 55 tile blocks along x, clusters of two: a launch has 56 CTAs along x

    %i = gpu.block_id x                           %n = nv_tileaa.get_num_programs {axis = 0}
    %x = tiled_load %a[%i, %k] {tma}        ->    %x = tiled_load %a[%i, %k] {tma}
    tiled_store %y, %c[%i, %j] {tma}              tiled_store %y, %c[%i < %n ? %i : last, %j] {tma}

TMA loads zeros from behind an array, and stores nothing there: the last box that coordinates of 32
bits name is behind any array.  (One in front of it is an illegal instruction.)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, func, gpu, scf
from xdsl.dialects.builtin import IndexType, UnitAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.kinds import Kinds, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import ROUNDS_UP
from tileas_xdsl.dialects.nv_tileaa.grid import GetNumProgramsOp
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.target.launches.launch_numbers import AXES
from tileas_xdsl.transforms.plan_cta.cta_number import index_constant

_LOCAL = Kinds(
    *(AllocTensorOp, ConvertLayoutOp, CopyOp, DotOp, YieldOp, func.ReturnOp),
    *(scf.ForOp, scf.IfOp, scf.YieldOp),
)
"""Operations that touch nothing but what a tile block has of its own."""

LAST_COORDINATE = (1 << 31) - 1
"""Of elements, as TMA counts them; no array ends so far behind."""


def may_be_behind_grid(kernel: func.FuncOp, axis: int) -> bool:
    """Whether tile blocks behind the grid, along an axis, can be kept from storing anything.

    All stores are those of TMA.  What is loaded is inside of arrays, whatever the tile block: TMA
    loads it, or it does not depend on the number of the tile block along the axis.
    """
    inside = (op for op in operations_in(kernel) if op is not kernel)
    return all(_is_harmless(op, axis) for op in inside)


def store_nothing_behind_grid(kernel: func.FuncOp, axis: int) -> None:
    """Let tile blocks behind the grid store behind arrays, and all know the grid without them.

    Expects `may_be_behind_grid`.
    """
    kernel.attributes[ROUNDS_UP] = UnitAttr()
    dimension = gpu.DimensionAttr([*gpu.DimensionEnum][axis])
    build = Builder(InsertPoint.at_start(kernel.body.block))
    count = build.insert(GetNumProgramsOp(axis)).result
    extent = build.insert(arith.IndexCastOp(count, IndexType())).result
    number = build.insert(gpu.BlockIdOp(dimension)).result
    number = build.insert(arith.IndexCastOp(number, i32)).result
    is_inside = build.insert(arith.CmpiOp(number, count, "ult")).result
    for op in instances_in(kernel, gpu.GridDimOp):
        if op.dimension == dimension:
            Rewriter.replace_op(op, [], [extent])
    for store in instances_in(kernel, TiledStoreOp):
        row, (rows, *_) = store.coords[0], shape_of(store.view.type) or (1,)
        behind = index_constant(LAST_COORDINATE // rows)
        place = arith.SelectOp(is_inside, row, behind.result)
        Rewriter.insert_op([behind, place], InsertPoint.before(store))
        store.operands[store.operands.index(row)] = place.result


def _is_harmless(op: Operation, axis: int) -> bool:
    """Whether an operation of a tile block behind the grid does no harm."""
    match op:
        case TiledStoreOp():
            return isinstance(op.atom.data, TmaAtom) and bool(op.coords) and not op.offsets
        case TiledLoadOp():
            is_by_tma = isinstance(op.atom.data, TmaAtom)
            return is_by_tma or not _depends([*op.coords, *op.offsets], axis)
        case _:
            return _LOCAL[type(op)] or is_side_effect_free(op)


def _depends(values: Sequence[SSAValue], axis: int) -> bool:
    """Whether some numbers may depend on the number of the tile block along an axis."""
    pending, seen = [*values], {*values}
    while pending:
        value = pending.pop()
        new = _sources(value)
        if new is None or _numbers_tile_blocks(value, axis):
            return True
        pending += [one for one in new if one not in seen]
        seen.update(new)
    return False


def _sources(value: SSAValue) -> Sequence[SSAValue] | None:
    """Return what a number is computed of; None where that is not known."""
    owner = value.owner
    if isinstance(owner, Operation):
        return None if owner.regions else owner.operands
    match owner.parent_op():
        case func.FuncOp():
            return ()
        case scf.ForOp() as loop if value is owner.args[0]:
            return loop.lb, loop.ub, loop.step
        case _:
            return None


def _numbers_tile_blocks(value: SSAValue, axis: int) -> bool:
    made = value.owner
    return isinstance(made, gpu.BlockIdOp) and str(made.dimension.data) == AXES[axis]
