"""Columns of a tile that is computed element by element, as those of what it is computed from.

    %t = arith.truncf (arith.addf %sum, %w)        columns from %at on:
                                                     arith.truncf (arith.addf
                                                       (extract_slice %sum[0, %at]), %w of them)

What a reduction reads is computed whole in front of them, and columns are taken of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.attributes import matrix_unit_of
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.transforms.choose_tma.element_wise_chains import (
    element_wise_roots,
    is_accumulator,
    is_elementwise,
    is_splat_constant,
    keeps_elements,
    product_of,
    sources,
)


def columns_of(
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
        if any(map(is_accumulator, element_wise_roots(value))):
            columns_of(builder, value, first, width, known)


def _columns(
    builder: Builder,
    value: SSAValue,
    first: SSAValue,
    width: int,
    known: dict[SSAValue, SSAValue],
) -> SSAValue:
    tile = as_tile(value.type)
    assert tile is not None
    shape = (*tile.get_shape()[:-1], width)
    piece = TensorType(tile.element_type, shape)
    if not _is_held(value):
        computed = _computed(builder, value, first, piece, known)
        if computed is not None:
            return computed
    offsets = [*(0 for _ in shape[:-1]), first]
    return builder.insert(
        ExtractSliceOp(value, offsets, [*shape], [1 for _ in shape], piece)
    ).result


def _is_held(value: SSAValue) -> bool:
    """Whether a tile is whole in registers anyway, which hold no more of it than of its sources.

    A reduction reads it, as the sums of rows that are normalised then:

        %t = addf %sum, %residual       // 128 registers of a thread; %sum, %residual: 128 and 64
        %m = reduce %t                  ->  columns of %t, not of %sum and %residual

    Sums in tensor memory take no registers.
    """
    if not any(isinstance(use.operation, ReduceOp) for use in value.uses):
        return False
    roots = [*element_wise_roots(value)]
    units = [matrix_unit_of(made.atom) for root in roots if (made := product_of(root)) is not None]
    if any(unit is not None and unit.accumulates_in_tensor_memory for unit in units):
        return False
    return _bits(value) <= sum(map(_bits, roots))


def _bits(value: SSAValue) -> int:
    tile = as_tile(value.type)
    assert tile is not None
    return prod(tile.get_shape()) * bits_of(tile.element_type)


def _computed(
    builder: Builder,
    value: SSAValue,
    first: SSAValue,
    piece: Tile,
    known: dict[SSAValue, SSAValue],
) -> SSAValue | None:
    """Compute columns as the tile is computed; None for one that is not, element by element."""
    made, width = value.owner, piece.get_shape()[-1]
    if not isinstance(made, Operation):
        return None
    if is_splat_constant(made):
        return _copy(builder, made, piece, value=_splat(made, piece))
    if isinstance(made, tensor.SplatOp):
        return _copy(builder, made, piece, made.operands)
    if isinstance(made, GenerateOp) and keeps_elements(made):
        _slice_sums_first(builder, sources(made), first, width, known)
        columns = {v: columns_of(builder, v, first, width, known) for v in sources(made)}
        return _generated(builder, made, piece, first, columns)
    if is_elementwise(made):
        _slice_sums_first(builder, made.operands, first, width, known)
        operands = [columns_of(builder, v, first, width, known) for v in made.operands]
        return _copy(builder, made, piece, operands)
    return None


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
