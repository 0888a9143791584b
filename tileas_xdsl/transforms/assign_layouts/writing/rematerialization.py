"""Rematerialise constants and splats in the layouts of the tiles they are used with."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.layouts.tile_groups import (
    FREE_TILES,
    payload_results,
    placed_tile,
)
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    PipelineYieldOp,
    StageOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.slices import InsertSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import retype


def rematerialize_free_tiles(root: Operation) -> None:
    """Rematerialise constants and splats in the layouts of the tiles they are used with."""
    for op in operations_in(root):
        if isinstance(op, FREE_TILES) and placed_tile(op.results[0].type) is not None:
            _remake(op)


def _remake(op: Operation) -> None:
    made: dict[Attribute, SSAValue] = {}
    for use in list(op.results[0].uses):
        wanted = _wanted_type(use.operation, use.index)
        tile = None if wanted is None else placed_tile(wanted)
        if tile is None or tile.encoding == _encoding(op.results[0]):
            continue
        if tile.encoding not in made:
            made[tile.encoding] = _made_anew(op, tile.encoding)
        use.operation.operands[use.index] = made[tile.encoding]
    if made and not any(op.results[0].uses):
        Rewriter.erase_op(op)


def _encoding(value: SSAValue) -> Attribute | None:
    tile = placed_tile(value.type)
    return None if tile is None else tile.encoding


def _made_anew(op: Operation, encoding: Attribute) -> SSAValue:
    new = op.clone()
    new.location = op.location
    result = new.results[0]
    result.name_hint = op.results[0].name_hint
    retype(result, encoding)
    if isinstance(new, arith.ConstantOp) and isinstance(new.value, DenseIntOrFPElementsAttr):
        old = new.value
        type_ = TensorType(old.get_element_type(), old.get_shape(), encoding)
        new.properties["value"] = DenseIntOrFPElementsAttr(type_, old.data)
    Rewriter.insert_op(new, InsertPoint.after(op))
    return result


def _wanted_type(op: Operation, index: int) -> Attribute | None:
    """The type of the tile that an operand becomes one with."""
    if layout_role(op) is LayoutRole.ELEMENTWISE:
        others = (*op.results, *op.operands)
        laid_out = (v.type for v in others if _is_laid_out(v) and not _is_free(v))
        return next(laid_out, None)
    return next((value.type for value in _flows(op, index)), None)


def _is_free(value: SSAValue) -> bool:
    return isinstance(value.owner, FREE_TILES)


def _is_laid_out(value: SSAValue) -> bool:
    tile = placed_tile(value.type)
    return tile is not None and (space_of(tile) is not None)


def _flows(op: Operation, index: int) -> Iterator[SSAValue]:
    """Where control flow or an operation carries an operand."""
    parent = op.parent_op()
    match op:
        case DotOp() | AsyncDotOp() | BlockScaledMmaOp() if index == 2:
            yield op.result
        case InsertSliceOp() if index == 1:
            yield op.result
        case scf.ForOp() if index >= 3:
            yield op.body.block.args[index - 2]
        case scf.WhileOp():
            yield op.before_region.block.args[index]
        case scf.ConditionOp() if index >= 1 and isinstance(parent, scf.WhileOp):
            yield parent.after_region.block.args[index - 1]
        case scf.YieldOp() if isinstance(parent, scf.ForOp | scf.IfOp):
            yield parent.results[index]
        case scf.YieldOp() if isinstance(parent, scf.WhileOp):
            yield parent.before_region.block.args[index]
        case PipelineYieldOp() if isinstance(parent, StageOp):
            yield from payload_results(parent)[index : index + 1]
        case _:
            return
