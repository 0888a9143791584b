"""Let operations compute one part of their tiles, of `count` parts along a class of dimensions.

    %t = tiled_load %v[%i] : 512 rows               %t = tiled_load %w[4 * %i + %part] : 128 rows
    %e = math.exp %t                          ->    %e = math.exp %t
    tiled_store %e, %u[%i]                          tiled_store %e, %x[4 * %i + %part]

The number of the part is a loop's (`tileas-chunk-tiles`) or a CTA's (`tileas-plan-cta`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import (
    is_dense_transpose,
    transposed_encoding,
)
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import set_type
from tileas_xdsl.transforms.tile_parts.dimension_classes import tile_shape

Tiles: TypeAlias = Mapping[SSAValue, int]
"""The tiles of a class, and the dimension of each that is cut."""


def separate_constants(kernel: func.FuncOp) -> None:
    """Give each use of a constant tile its own beside it, so that it relates no other tiles."""
    for op in operations_in(kernel):
        if not isinstance(op, arith.ConstantOp | tensor.SplatOp) or not tile_shape(op.results[0]):
            continue
        for use in list(op.results[0].uses):
            copy = op.clone()
            Rewriter.insert_op(copy, InsertPoint.before(use.operation))
            use.operation.operands[use.index] = copy.results[0]
        Rewriter.erase_op(op)


def take_part(operations: Iterable[Operation], tiles: Tiles, count: int, part: SSAValue) -> None:
    """Let operations compute a part of the tiles of a class; `part` counts them, 0 to count - 1."""
    for op in operations:
        _adapt(op, tiles, count, part)
    for tile, k in tiles.items():
        set_type(tile, _of_part(tile.type, k, count))
        if isinstance(made := tile.owner, arith.ConstantOp):
            _shorten(made)


def _of_part(type_: Attribute, k: int, count: int) -> Attribute:
    assert isa(type_, TensorType[Attribute])
    shape = list(type_.get_shape())
    shape[k] //= count
    encoding = transposed_encoding(*shape) if is_dense_transpose(type_) else type_.encoding
    return TensorType(type_.element_type, shape, encoding)


def _shorten(op: arith.ConstantOp) -> None:
    """Give a constant of one number the shape of the part."""
    type_: Any = op.result.type
    assert isinstance(op.value, DenseIntOrFPElementsAttr)
    stored = op.value.data.data
    number = stored[: len(stored) // len(op.value)]
    op.properties["value"] = DenseIntOrFPElementsAttr(type_, BytesAttr(number))


def _adapt(op: Operation, tiles: Tiles, count: int, part: SSAValue) -> None:
    """Let an operation count parts instead of tiles, before any type changes."""
    match op:
        case TiledLoadOp() if op.result in tiles:
            _move_access(op, op.result, tiles, count, part)
        case TiledStoreOp() if op.value in tiles:
            _move_access(op, op.value, tiles, count, part)
        case GenerateOp() if op.result in tiles:
            _move_coordinate(op, tiles, count, part)
        case _:
            pass


def _move_access(
    op: TiledLoadOp | TiledStoreOp, tile: SSAValue, tiles: Tiles, count: int, part: SSAValue
) -> None:
    """Tile `i` of the array is parts `i * count` to `i * count + count - 1`."""
    k, whole = tiles[tile], op.view.owner
    assert isinstance(whole, ViewOp)
    type_ = whole.result.type
    assert isinstance(type_, TiledViewType)
    shape = list(type_.get_shape())
    shape[k] //= count
    view = ViewOp(whole.source, TiledViewType(shape, type_.element_type, type_.residency))
    parts = arith.ConstantOp(IntegerAttr(count, IndexType()))
    first = arith.MuliOp(op.coords[k], parts)
    start = arith.AddiOp(first, part)
    Rewriter.insert_op(view, InsertPoint.after(whole))
    Rewriter.insert_op([parts, first, start], InsertPoint.before(op))
    behind = len(op.coords) + len(op.offsets) + (op.token is not None)
    op.operands[len(op.operands) - behind + k] = start.result
    if op.rotated is not None and op.row_width is None and k == len(shape) - 1:
        op.properties["row_width"] = IntegerAttr(shape[k] * count, i32)
    set_operand(op, op.view, view.result)


def set_operand(op: Operation, old: SSAValue | None, new: SSAValue) -> None:
    """Replace an operand that an operation has once."""
    op.operands[next(n for n, value in enumerate(op.operands) if value is old)] = new


def _move_coordinate(op: GenerateOp, tiles: Tiles, count: int, part: SSAValue) -> None:
    """Tiles that are cut are indexed by the place in a part, all else by that in the whole."""
    k = tiles[op.result]
    coordinate = op.body.block.args[k]
    uses = [use for use in coordinate.uses if not isinstance(use.operation, tensor.ExtractOp)]
    if not uses:
        return
    size = arith.ConstantOp(IntegerAttr(tile_shape(op.result)[k] // count, IndexType()))
    first = arith.MuliOp(part, size)
    start = arith.AddiOp(coordinate, first)
    Rewriter.insert_op([size, first, start], InsertPoint.at_start(op.body.block))
    for use in uses:
        use.operation.operands[use.index] = start.result
