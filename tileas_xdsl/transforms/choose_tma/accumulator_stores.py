"""Store what is computed from accumulators by TMA, in pieces through a buffer in shared memory.

An atomic update of an array goes the same way, and ends in a reduction of TMA.

    %w = nv_tileas.generate { extract %bias[%j] }           // of a row, of a column, or both
    %t = arith.truncf (arith.addf %sum, %w)
    %u = nv_tileas.view %t : tensor<128x256xf16> -> tensor<1x128x256xf16>
    nv_tileas.tiled_store %u, %out[%b, %i, %j]

becomes, where a piece is 128 columns,

    %staging = nv_tileas.alloc_tensor : tensor<1x128x128xf16, #smem>
    scf.for %k = 0 to 2 {
      %at = %k * 128;  %w = nv_tileas.generate { extract %bias[%j + %at] }
      %t = arith.truncf (arith.addf (extract_slice %sum[0, %at]), %w)
      nv_tileas.copy (view %t), %staging
      nv_tileas.tiled_store %staging, %narrow[%b, %i, %j * 2 + %k]
    }

A body that reads sums at the coordinates of each element, `generate { sitofp (extract
%sum[%i, %j]) }`, is computed of columns in the same way; a broadcast in it is read at the shifted
column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.memory.accumulators import column_halves, is_of_two_blocks
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import array_of
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.base import shape_of
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.same_rows import keeps_rows
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.store_order import UNTIL_READ, set_flag
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.target.tensor_memory import COLUMNS
from tileas_xdsl.threads.tma.descriptor_args import UNSIGNED_REDUCTIONS
from tileas_xdsl.transforms.choose_tma.store_chains import Written

STAGING_BYTES = 32 * 1024
"""The most shared memory that a store goes through: what is left beside four large stages."""


def stores_accumulator(store: Written) -> bool:
    """Whether what is stored is computed, element by element, from sums of products.

    Beside sums it may read tiles that are loaded, and broadcasts of smaller tiles.  The sums are
    alive together then, until they are stored: tensor memory has to have columns for all.
    """
    roots = {*_element_wise_roots(store.value)}
    sums = [root for root in roots if _is_accumulator(root)]
    if not sums or not all(_is_operand(root) for root in roots.difference(sums)):
        return False
    tile = as_tile(store.value.type)
    if tile is None or (_chunk_count(tile) > 1 and any(map(_has_columns_apart, sums))):
        return False
    return sum(shape_of(root.type)[-1] for root in sums) <= COLUMNS


def _has_columns_apart(sums: SSAValue) -> bool:
    """Whether half of the columns of sums are in other lanes: warps cannot share a piece then."""
    product = _product_of(sums)
    is_of_pair = product is not None and is_of_two_blocks(product)
    return column_halves(shape_of(sums.type), is_of_pair=is_of_pair) > 1


def _is_operand(root: SSAValue) -> bool:
    """Whether threads have a tile wherever they need it: loaded, or repeated from a smaller one."""
    made = root.owner
    return isinstance(made, TiledLoadOp) or (isinstance(made, GenerateOp) and _keeps_elements(made))


def _keeps_elements(op: GenerateOp) -> bool:
    """Whether tiles as large as the result are read only at the coordinates of each element.

    So `generate { sitofp (extract %sum[%i, %j]) }` is as element-wise as `arith.sitofp`; tiles of
    fewer elements are broadcasts, read anywhere.
    """
    coordinates = tuple(op.body.block.args)
    return all(tuple(read.indices) == coordinates for read in _large_reads(op))


def _large_reads(op: GenerateOp) -> list[tensor.ExtractOp]:
    """The reads of tiles with as many elements as the result."""
    size = prod(op.result.type.get_shape())
    reads = instances_in(op, tensor.ExtractOp)
    return [read for read in reads if prod(shape_of(read.tensor.type)) >= size]


def _element_wise_roots(value: SSAValue) -> Iterator[SSAValue]:
    """The tiles that a tile is computed from, element by element; no constants.

    Each is visited once: a tile that each of 32 steps reads twice is on 2**32 paths.
    """
    pending, visited = [value], {value}
    while pending:
        tile = pending.pop()
        if _is_uniform(tile.owner):
            continue
        sources = _sources(tile.owner)
        if not sources:
            yield tile
        pending += [source for source in sources if source not in visited]
        visited.update(sources)


def _sources(made: Operation | Block) -> Sequence[SSAValue]:
    """The tiles that an operation computes a tile from, element by element; else none."""
    if isinstance(made, GenerateOp):
        return [read.tensor for read in _large_reads(made)] if _keeps_elements(made) else ()
    return made.operands if isinstance(made, Operation) and _is_elementwise(made) else ()


def _is_elementwise(op: Operation) -> bool:
    """Whether elements stay in their row and column: arithmetic, or a view that keeps rows."""
    return _is_view(op) or (layout_role(op) is LayoutRole.ELEMENTWISE and not op.regions)


def _is_view(op: Operation) -> bool:
    """Whether an operation shows a matrix with other dimensions of one element beside its rows."""
    if not isinstance(op, ExpandDimsOp) and not keeps_rows(op):
        return False
    source, result = op.operands[0], op.results[0]
    keeps_columns = shape_of(source.type)[-1] == shape_of(result.type)[-1]
    return keeps_columns and _is_matrix(result) and _is_matrix(source)


def _is_matrix(value: SSAValue) -> bool:
    """Whether one dimension of a tile has all rows: `64x1x128` has 64 of 128 elements."""
    rows = shape_of(value.type)[:-1]
    return len(rows) > 0 and prod(rows) == max(rows)


def _is_uniform(op: Operation | Block) -> bool:
    """Whether all elements of a tile are one number."""
    return isinstance(op, tensor.SplatOp) or _is_splat(op)


def _is_splat(op: Operation | Block) -> bool:
    if not isinstance(op, arith.ConstantOp):
        return False
    return isinstance(value := op.value, DenseIntOrFPElementsAttr) and is_splat(value)


def _is_accumulator(value: SSAValue) -> bool:
    """Whether a product gives a tile, as the last value of loops around it too."""
    return _product_of(value) is not None


def _product_of(value: SSAValue) -> DotOp | None:
    """Return the product that gives a tile, as the last value of loops around it too."""
    made = value.owner
    if isinstance(made, scf.ForOp) and isinstance(value, OpResult):
        end = made.body.block.last_op
        return None if end is None else _product_of(end.operands[value.index])
    return made if isinstance(made, DotOp) else None


def store_by_tma(store: Written, rewriter: PatternRewriter) -> None:
    """Replace a store of an accumulator by TMA stores; each waits for the one before."""
    matrix, tile = _matrix(store.value), as_tile(store.value.type)
    assert tile is not None
    columns = tile.get_shape()[-1]
    pieces = _chunk_count(tile)
    width = columns // pieces
    type_ = as_tile(matrix.type)
    assert type_ is not None
    staging = rewriter.insert(AllocTensorOp(_staging(type_, width))).result
    staging.name_hint = "staging"
    shown = staging if matrix is store.value else _shown(rewriter, staging, _staging(tile, width))
    if pieces == 1:
        rewriter.insert(CopyOp(matrix, staging, atom=UNKNOWN_COPY))
        _insert_store(rewriter, store, shown, store.view, [*store.coords])
    else:
        _store_column_chunks(rewriter, store, matrix, (staging, shown), pieces)
    whole = store.value
    if store.out_token is not None:
        before = store.token or rewriter.insert(CreateNoneOp(store.out_token.type)).token
        store.out_token.replace_all_uses_with(before)
    rewriter.erase(store)
    _erase_unused(whole, rewriter)


def _matrix(value: SSAValue) -> SSAValue:
    """The matrix that a tile shows, with dimensions of one element beside its rows."""
    while isinstance(made := value.owner, Operation) and _is_view(made):
        value = made.operands[0]
    return value


def _shown(builder: Builder, staging: SSAValue, tile: Tile) -> SSAValue:
    return builder.insert(ViewOp(staging, tile)).result


def _store_column_chunks(
    builder: Builder,
    store: Written,
    matrix: SSAValue,
    staging: tuple[SSAValue, SSAValue],
    pieces: int,
) -> None:
    """A loop that computes the columns of a piece, and stores them by way of one tile.

    Coordinates count pieces then; offsets count elements as before.

    `staging` is that tile, and how the store shows it.
    """
    buffer, shown = staging
    tile = as_tile(buffer.type)
    assert tile is not None
    width = tile.get_shape()[-1]
    zero, one, count, columns = (constant(builder, n) for n in (0, 1, pieces, width))
    view = builder.insert(ViewOp(array_of(store.view), _narrow(store.view.type, width))).result
    first = builder.insert(arith.MuliOp(store.coords[-1], count)).result
    body = Block(arg_types=[IndexType()])
    inner = Builder(InsertPoint.at_end(body))
    at = inner.insert(arith.MuliOp(body.args[0], columns)).result
    inner.insert(CopyOp(_sliced(inner, matrix, at, width, {}), buffer, atom=UNKNOWN_COPY))
    place = inner.insert(arith.AddiOp(first, body.args[0])).result
    _insert_store(inner, store, shown, view, [*store.coords[:-1], place])
    inner.insert(scf.YieldOp())
    builder.insert(scf.ForOp(zero, count, one, [], body))


def _erase_unused(value: SSAValue, rewriter: PatternRewriter) -> None:
    """Erase what computes a tile, element by element, that nothing uses any more."""
    made = value.owner
    if not isinstance(made, Operation) or any(made.results[0].uses):
        return
    if _is_elementwise(made) or _is_uniform(made) or isinstance(made, GenerateOp):
        operands = [*_sources(made)]
        rewriter.erase(made)
        for operand in operands:
            _erase_unused(operand, rewriter)


def _staging(tile: Tile, width: int) -> Tile:
    shape = (*tile.get_shape()[:-1], width)
    return TensorType(tile.element_type, shape, SpaceAttr(Space.SMEM))


def _chunk_count(tile: Tile) -> int:
    """Return the number of column chunks of which each one fits the staging tile."""
    size, columns = prod(tile.get_shape()) * bits_of(tile.element_type) // 8, tile.get_shape()[-1]
    return next((n for n in range(1, columns) if columns % n == 0 and size <= n * STAGING_BYTES), 1)


def _narrow(view: Attribute, width: int) -> TiledViewType:
    assert isinstance(view, TiledViewType)
    return TiledViewType((*view.get_shape()[:-1], width), view.element_type, Space.GMEM)


def _insert_store(
    builder: Builder, store: Written, value: SSAValue, view: SSAValue, coords: list[SSAValue]
) -> None:
    made = _by_tma(store, value, view, coords)
    made.attributes |= store.attributes
    set_flag(made, UNTIL_READ)
    made.location = store.location
    builder.insert(made)


def _by_tma(store: Written, value: SSAValue, view: SSAValue, coords: list[SSAValue]) -> Written:
    if isinstance(store, TiledStoreOp):
        atom = AtomAttr.of(f"tma_store_{len(coords)}d")
        return TiledStoreOp(value, view, coords, atom=atom, offsets=store.offsets, allow_tma=True)
    mode = store.rmw_mode.data
    reduction = UNSIGNED_REDUCTIONS.get(mode, mode.value)
    atom = AtomAttr.of(f"tma_redg_{len(coords)}d", op=reduction)
    return TiledAtomicRmwOp(
        mode,
        value,
        view,
        coords,
        atom=atom,
        offsets=store.offsets,
        semantic="relaxed",
        scope="gpu",
        allow_tma=True,
    )


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


def _slice_sums_first(
    builder: Builder,
    values: Sequence[SSAValue],
    first: SSAValue,
    width: int,
    known: dict[SSAValue, SSAValue],
) -> None:
    """Take columns of what is computed from sums before other operands of an operation.

    Threads wait for sums and exchange them; what is computed before is held in registers meanwhile.
    """
    for value in values:
        if any(map(_is_accumulator, _element_wise_roots(value))):
            _sliced(builder, value, first, width, known)


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
    if isinstance(made, GenerateOp) and _keeps_elements(made):
        _slice_sums_first(builder, _sources(made), first, width, known)
        columns = {v: _sliced(builder, v, first, width, known) for v in _sources(made)}
        return _generated(builder, made, piece, first, columns)
    if isinstance(made, Operation) and _is_elementwise(made):
        _slice_sums_first(builder, made.operands, first, width, known)
        operands = [_sliced(builder, v, first, width, known) for v in made.operands]
        return _copy(builder, made, piece, operands)
    offsets = [*(0 for _ in shape[:-1]), first]
    return builder.insert(
        ExtractSliceOp(value, offsets, [*shape], [1 for _ in shape], piece)
    ).result


def _generated(
    builder: Builder,
    op: GenerateOp,
    piece: Tile,
    first: SSAValue,
    columns: Mapping[SSAValue, SSAValue],
) -> SSAValue:
    """Columns of a tile whose elements are computed from their coordinates.

    `columns` has those columns of the tiles that are read at the coordinates of each element.
    """
    body = op.body.clone()
    *_, column = body.block.args
    shifted = arith.AddiOp(column, first)
    of_columns = [read for read in instances_in(body, tensor.ExtractOp) if read.tensor in columns]
    unshifted = (shifted, *of_columns)
    column.replace_uses_with_if(shifted.result, lambda use: use.operation not in unshifted)
    for read in of_columns:
        read.operands[0] = columns[read.tensor]
    body.block.insert_op_before(shifted, next(iter(body.block.ops)))
    return builder.insert(GenerateOp(piece, body)).result


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
    return builder.insert(on_types(op, operands, [type_], **properties)).results[0]
