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

from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    IndexType,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.memory.accumulators import column_halves, is_of_two_blocks
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import array_of
from tileas_xdsl.dialects.nv_tileaa.base import shape_of
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.store_order import UNTIL_READ, set_flag
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.target.tensor_memory import COLUMNS
from tileas_xdsl.threads.tma.descriptor_args import UNSIGNED_REDUCTIONS
from tileas_xdsl.transforms.choose_tma.column_pieces import columns_of
from tileas_xdsl.transforms.choose_tma.element_wise_chains import (
    element_wise_roots,
    is_accumulator,
    is_elementwise,
    is_uniform,
    is_view,
    keeps_elements,
    product_of,
    sources,
)
from tileas_xdsl.transforms.choose_tma.store_chains import Written

STAGING_BYTES = 32 * 1024
"""The most shared memory that a store goes through: what is left beside four large stages."""


def stores_accumulator(store: Written) -> bool:
    """Whether what is stored is computed, element by element, from sums of products.

    Beside sums it may read tiles that are loaded, and broadcasts of smaller tiles.  The sums are
    alive together then, until they are stored: tensor memory has to have columns for all.
    """
    roots = {*element_wise_roots(store.value)}
    sums = [root for root in roots if is_accumulator(root)]
    if not sums or not all(_is_operand(root) for root in roots.difference(sums)):
        return False
    tile = as_tile(store.value.type)
    if tile is None or (_chunk_count(tile) > 1 and any(map(_has_columns_apart, sums))):
        return False
    return sum(shape_of(root.type)[-1] for root in sums) <= COLUMNS


def _has_columns_apart(sums: SSAValue) -> bool:
    """Whether half of the columns of sums are in other lanes: warps cannot share a piece then."""
    product = product_of(sums)
    is_of_pair = product is not None and is_of_two_blocks(product)
    return column_halves(shape_of(sums.type), is_of_pair=is_of_pair) > 1


def _is_operand(root: SSAValue) -> bool:
    """Whether threads have a tile wherever they need it: loaded, or repeated from a smaller one."""
    made = root.owner
    return isinstance(made, TiledLoadOp) or (isinstance(made, GenerateOp) and keeps_elements(made))


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
    while isinstance(made := value.owner, Operation) and is_view(made):
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
    inner.insert(CopyOp(columns_of(inner, matrix, at, width, {}), buffer, atom=UNKNOWN_COPY))
    place = inner.insert(arith.AddiOp(first, body.args[0])).result
    _insert_store(inner, store, shown, view, [*store.coords[:-1], place])
    inner.insert(scf.YieldOp())
    builder.insert(scf.ForOp(zero, count, one, [], body))


def _erase_unused(value: SSAValue, rewriter: PatternRewriter) -> None:
    """Erase what computes a tile, element by element, that nothing uses any more."""
    made = value.owner
    if not isinstance(made, Operation) or any(made.results[0].uses):
        return
    if is_elementwise(made) or is_uniform(made) or isinstance(made, GenerateOp):
        operands = [*sources(made)]
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
