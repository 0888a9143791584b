"""Run operations once for each chunk of their tiles, in a loop."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import (
    is_dense_transpose,
    transposed_encoding,
)
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import set_type
from tileas_xdsl.transforms.chunk_tiles.dimension_classes import tile_shape
from tileas_xdsl.transforms.chunk_tiles.plan import ACCESSES, ChunkPlan


def cut(plan: ChunkPlan) -> None:
    """Move the operations of a plan into a loop over chunks, and give their tiles its shape."""
    last = plan.operations[-1]
    block = last.parent
    assert block is not None
    bounds = [arith.ConstantOp(IntegerAttr(number, i32)) for number in (0, plan.count, 1)]
    carried = [op for op in plan.operations if isinstance(op, ACCESSES) and _is_awaited(op)]
    tokens = [op.token for op in carried if op.token is not None]
    body = Block(arg_types=[i32, *(token.type for token in tokens)])
    low, high, step = bounds
    loop = scf.ForOp(low, high, step, tokens, Region(body))
    Rewriter.insert_op([*bounds, loop], InsertPoint.after(last))
    for op, before, after in zip(carried, body.args[1:], loop.results, strict=True):
        assert op.out_token is not None
        op.out_token.replace_all_uses_with(after)
        _set_operand(op, op.token, before)
    chunk = arith.IndexCastOp(body.args[0], IndexType())
    body.add_op(chunk)
    for op in plan.operations:
        op.detach()
        body.add_op(op)
    body.add_op(scf.YieldOp(*(op.out_token for op in carried if op.out_token is not None)))
    for op in list(body.walk()):
        _adapt(op, plan, chunk.result)
    for tile, k in plan.tiles.items():
        set_type(tile, _of_chunk(tile.type, k, plan.count))
        if isinstance(made := tile.owner, arith.ConstantOp):
            _shorten(made)


def _is_awaited(op: Operation) -> bool:
    """Whether an access behind the loop is ordered after one of the block."""
    return isinstance(op, ACCESSES) and op.out_token is not None and bool(op.out_token.uses)


def _of_chunk(type_: Attribute, k: int, count: int) -> Attribute:
    assert isa(type_, TensorType[Attribute])
    shape = list(type_.get_shape())
    shape[k] //= count
    encoding = transposed_encoding(*shape) if is_dense_transpose(type_) else type_.encoding
    return TensorType(type_.element_type, shape, encoding)


def _shorten(op: arith.ConstantOp) -> None:
    type_: Any = op.result.type
    assert isinstance(op.value, DenseIntOrFPElementsAttr)
    op.properties["value"] = DenseIntOrFPElementsAttr(type_, op.value.data)


def _adapt(op: Operation, plan: ChunkPlan, chunk: SSAValue) -> None:
    """Let an operation count chunks instead of tiles, before any type changes."""
    match op:
        case TiledLoadOp() if op.result in plan.tiles:
            _move_access(op, op.result, plan, chunk)
        case TiledStoreOp() if op.value in plan.tiles:
            _move_access(op, op.value, plan, chunk)
        case GenerateOp() if op.result in plan.tiles:
            _move_coordinate(op, plan, chunk)
        case _:
            pass


def _move_access(
    op: TiledLoadOp | TiledStoreOp, tile: SSAValue, plan: ChunkPlan, chunk: SSAValue
) -> None:
    """Tile `i` of the array is chunks `i * count` to `i * count + count - 1`."""
    k, whole = plan.tiles[tile], op.view.owner
    assert isinstance(whole, ViewOp)
    type_ = whole.result.type
    assert isinstance(type_, TiledViewType)
    shape = list(type_.get_shape())
    shape[k] //= plan.count
    view = ViewOp(whole.source, TiledViewType(shape, type_.element_type, type_.residency))
    count = arith.ConstantOp(IntegerAttr(plan.count, IndexType()))
    first = arith.MuliOp(op.coords[k], count)
    place = arith.AddiOp(first, chunk)
    Rewriter.insert_op(view, InsertPoint.after(whole))
    Rewriter.insert_op([count, first, place], InsertPoint.before(op))
    first_coordinate = len(op.operands) - len(op.coords) - (op.token is not None)
    op.operands[first_coordinate + k] = place.result
    _set_operand(op, op.view, view.result)


def _set_operand(op: Operation, old: SSAValue | None, new: SSAValue) -> None:
    """Replace an operand that an operation has once."""
    op.operands[next(n for n, value in enumerate(op.operands) if value is old)] = new


def _move_coordinate(op: GenerateOp, plan: ChunkPlan, chunk: SSAValue) -> None:
    """Tiles that are cut are indexed by the place in a chunk, all else by that in the whole."""
    k = plan.tiles[op.result]
    coordinate = op.body.block.args[k]
    uses = [use for use in coordinate.uses if not isinstance(use.operation, tensor.ExtractOp)]
    if not uses:
        return
    size = arith.ConstantOp(IntegerAttr(tile_shape(op.result)[k] // plan.count, IndexType()))
    first = arith.MuliOp(chunk, size)
    place = arith.AddiOp(coordinate, first)
    Rewriter.insert_op([size, first, place], InsertPoint.at_start(op.body.block))
    for use in uses:
        use.operation.operands[use.index] = place.result
