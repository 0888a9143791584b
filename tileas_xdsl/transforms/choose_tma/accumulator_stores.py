"""Store accumulators by TMA, piece by piece through a staging buffer in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.dialects.nv_tileaa.base import shape_of
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.target.tensor_memory import COLUMNS
from tileas_xdsl.transforms.tma_to_async.global_arrays import array_of

STAGING_BYTES = 32 * 1024
"""The most shared memory that a store goes through: what is left beside four large stages."""

MATRIX_RANK = 2

COPY = "unknown_copy"


def stores_accumulator(store: TiledStoreOp) -> bool:
    """Whether all that is stored is computed, element by element, from sums of products.

    They are alive together then, until they are stored: tensor memory has to have columns for all.
    """
    roots = {*_element_wise_roots(store.value)}
    if not roots or not all(map(_is_accumulator, roots)):
        return False
    return sum(shape_of(root.type)[-1] for root in roots) <= COLUMNS


def _element_wise_roots(value: SSAValue) -> Iterator[SSAValue]:
    """The tiles that a tile is computed from, element by element; no constants."""
    made = value.owner
    if _is_uniform(made):
        return
    if not isinstance(made, Operation) or not _is_elementwise(made):
        yield value
        return
    for operand in made.operands:
        yield from _element_wise_roots(operand)


def _is_elementwise(op: Operation) -> bool:
    return layout_role(op) is LayoutRole.ELEMENTWISE and not op.regions


def _is_uniform(op: Operation | Block) -> bool:
    """Whether all elements of a tile are one number."""
    return isinstance(op, tensor.SplatOp) or _is_splat(op)


def _is_splat(op: Operation | Block) -> bool:
    if not isinstance(op, arith.ConstantOp):
        return False
    return isinstance(value := op.value, DenseIntOrFPElementsAttr) and value.is_splat()


def _is_accumulator(value: SSAValue) -> bool:
    """Whether a product gives a tile, in the end or in a loop that only adds up."""
    made = value.owner
    if isinstance(made, scf.ForOp) and isinstance(value, OpResult):
        end = made.body.block.last_op
        return end is not None and isinstance(end.operands[value.index].owner, DotOp)
    return isinstance(made, DotOp)


def store_by_tma(store: TiledStoreOp, rewriter: PatternRewriter) -> None:
    """Put copies of TMA in the place of a store of sums; each waits for the one before."""
    tile, whole = as_tile(store.value.type), store.value
    assert tile is not None
    pieces = _piece_count(tile)
    staging = rewriter.insert(AllocTensorOp(_staging(tile, tile.get_shape()[-1] // pieces))).result
    staging.name_hint = "staging"
    if pieces == 1:
        rewriter.insert(CopyOp(whole, staging, atom=COPY))
        _insert_store(rewriter, store, staging, store.view, [*store.coords])
    else:
        _store_pieces(rewriter, store, staging, pieces)
    rewriter.erase(store)
    _erase_unused(whole, rewriter)


def _store_pieces(builder: Builder, store: TiledStoreOp, staging: SSAValue, pieces: int) -> None:
    """A loop that computes the columns of a piece, and stores them by way of one tile."""
    tile = as_tile(staging.type)
    assert tile is not None
    width = tile.get_shape()[-1]
    zero, one, count, columns = (_number(builder, n) for n in (0, 1, pieces, width))
    view = builder.insert(ViewOp(array_of(store.view), _narrow(store.view.type, width))).result
    first = builder.insert(arith.MuliOp(store.coords[-1], count)).result
    body = Block(arg_types=[IndexType()])
    inner = Builder(InsertPoint.at_end(body))
    at = inner.insert(arith.MuliOp(body.args[0], columns)).result
    inner.insert(CopyOp(_sliced(inner, store.value, at, width, {}), staging, atom=COPY))
    place = inner.insert(arith.AddiOp(first, body.args[0])).result
    _insert_store(inner, store, staging, view, [*store.coords[:-1], place])
    inner.insert(scf.YieldOp())
    builder.insert(scf.ForOp(zero, count, one, [], body))


def _erase_unused(value: SSAValue, rewriter: PatternRewriter) -> None:
    """Erase what computes a tile, element by element, that nothing uses any more."""
    made = value.owner
    if not isinstance(made, Operation) or any(made.results[0].uses):
        return
    if _is_elementwise(made) or _is_uniform(made):
        operands = [*made.operands]
        rewriter.erase(made)
        for operand in operands:
            _erase_unused(operand, rewriter)


def _staging(tile: Tile, width: int) -> Tile:
    shape = (*tile.get_shape()[:-1], width)
    return TensorType(tile.element_type, shape, SpaceAttr(Space.SMEM))


def _piece_count(tile: Tile) -> int:
    """Into how many pieces the columns go, so that one of them fits."""
    size, columns = prod(tile.get_shape()) * bits_of(tile.element_type) // 8, tile.get_shape()[-1]
    if len(tile.get_shape()) != MATRIX_RANK:
        return 1
    return next((n for n in range(1, columns) if columns % n == 0 and size <= n * STAGING_BYTES), 1)


def _number(builder: Builder, number: int) -> SSAValue:
    return builder.insert(arith.ConstantOp(IntegerAttr(number, IndexType()))).result


def _narrow(view: Attribute, width: int) -> TiledViewType:
    assert isinstance(view, TiledViewType)
    return TiledViewType((*view.get_shape()[:-1], width), view.element_type, Space.GMEM)


def _insert_store(
    builder: Builder, store: TiledStoreOp, value: SSAValue, view: SSAValue, coords: list[SSAValue]
) -> None:
    made = TiledStoreOp(
        value,
        view,
        coords,
        atom=AtomAttr.of(f"tma_store_{len(coords)}d"),
        allow_tma=True,
    )
    made.attributes |= store.attributes
    made.location = store.location
    builder.insert(made)


def _sliced(
    builder: Builder,
    value: SSAValue,
    first: SSAValue,
    width: int,
    known: dict[SSAValue, SSAValue],
) -> SSAValue:
    """Columns of a tile; what is computed element by element is computed of columns."""
    if value not in known:
        known[value] = _columns(builder, value, first, width, known)
    return known[value]


def _columns(
    builder: Builder,
    value: SSAValue,
    first: SSAValue,
    width: int,
    known: dict[SSAValue, SSAValue],
) -> SSAValue:
    made, tile = value.owner, as_tile(value.type)
    assert tile is not None
    shape = (*tile.get_shape()[:-1], width)
    piece = TensorType(tile.element_type, shape)
    if isinstance(made, Operation) and _is_splat(made):
        return _copy(builder, made, piece, value=_splat(made, piece))
    if isinstance(made, tensor.SplatOp):
        return _copy(builder, made, piece, made.operands)
    if isinstance(made, Operation) and _is_elementwise(made):
        operands = [_sliced(builder, v, first, width, known) for v in made.operands]
        return _copy(builder, made, piece, operands)
    return builder.insert(ExtractSliceOp(value, [0, first], [*shape], [1, 1], piece)).result


def _splat(op: Operation, type_: Tile) -> Attribute:
    """The constant of a tile, for a tile of another extent."""
    constant = op.properties["value"]
    assert isinstance(constant, DenseIntOrFPElementsAttr)
    return DenseIntOrFPElementsAttr.new([type_, constant.data])


def _copy(
    builder: Builder,
    op: Operation,
    type_: Tile,
    operands: Sequence[SSAValue] = (),
    **properties: Attribute,
) -> SSAValue:
    """The same operation on other tiles."""
    made = type(op).create(
        operands=operands,
        result_types=[type_],
        properties={**op.properties, **properties},
        attributes=op.attributes,
        location=op.location,
    )
    return builder.insert(made).results[0]
