"""The pass `tileas-fuse-elementwise`: fuse producers of tiles into `generate`."""

from __future__ import annotations

from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.transforms.extension import with_added
from tileas_xdsl.transforms.fuse_elementwise.bit_counts import CountBits
from tileas_xdsl.transforms.fuse_elementwise.chosen_columns import (
    ReduceChosenColumn,
    StoreChosenColumn,
)
from tileas_xdsl.transforms.fuse_elementwise.loaded_elements import LoadElements
from tileas_xdsl.transforms.fuse_elementwise.profitability import (
    dropped,
    is_elementwise,
    is_positional,
    is_profitable,
    is_reshape,
    is_unpacked,
)


class ExtractFromProducer(RewritePattern):
    """Compute an extracted element from the operands of the operation that produces its tile."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExtractOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op.parent_op(), GenerateOp):
            return
        maker = op.tensor.owner
        match maker:
            case tensor.SplatOp() if space_of(op.tensor.type) is None:
                rewriter.replace(op, (), [maker.input])
            case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as value) if is_splat(value):
                number: Any = next(iter(value.iter_attrs()))
                rewriter.replace(op, arith.ConstantOp(number))
            case ExpandDimsOp() | ViewOp() if space_of(op.tensor.type) is None:
                _fuse_other_dims(op, maker, rewriter)
            case GenerateOp() if maker is not op.parent_op() and is_profitable(maker, op):
                _fuse_body(op, maker, rewriter)
            case Operation() if is_elementwise(maker) and _is_recomputed(op.tensor):
                _fuse_operation(op, maker, rewriter)
            case _:
                pass


def _is_recomputed(tile: SSAValue) -> bool:
    return is_positional(tile) or is_unpacked(tile)


def _fuse_other_dims(
    op: tensor.ExtractOp, maker: ExpandDimsOp | ViewOp, rewriter: PatternRewriter
) -> None:
    """The same element of a tile with other dimensions of extent one, or of reshaped positions."""
    axes = dropped(maker)
    if space_of(maker.source.type) is not None:
        return
    if axes is None:
        if isinstance(maker, ViewOp) and is_reshape(maker) and _is_recomputed(maker.source):
            _fuse_reshape(op, maker, rewriter)
        return
    coordinates = list[SSAValue]()
    for axis in axes:
        if axis is None:
            zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
            rewriter.insert(zero)
            coordinates.append(zero.result)
        else:
            coordinates.append(op.indices[axis])
    element = element_of(maker.source.type)
    assert element is not None
    rewriter.replace(op, tensor.ExtractOp(maker.source, coordinates, element))


def _fuse_reshape(op: tensor.ExtractOp, maker: ViewOp, rewriter: PatternRewriter) -> None:
    """The element of a reshaped tile that has the same row-major number."""
    there, here = shape_of(maker.source.type) or (), shape_of(maker.result.type) or ()

    def constant(value: int) -> SSAValue:
        return rewriter.insert(arith.ConstantOp(IntegerAttr(value, IndexType()))).result

    number, *others = op.indices
    for extent, index in zip(here[1:], others, strict=True):
        row = rewriter.insert(arith.MuliOp(number, constant(extent))).result
        number = rewriter.insert(arith.AddiOp(row, index)).result
    coordinates = list[SSAValue]()
    for extent in reversed(there):
        divisor = constant(extent)
        coordinates.insert(0, rewriter.insert(arith.RemUIOp(number, divisor)).result)
        number = rewriter.insert(arith.DivUIOp(number, divisor)).result
    element = element_of(maker.source.type)
    assert element is not None
    rewriter.replace(op, tensor.ExtractOp(maker.source, coordinates, element))


def _fuse_body(op: tensor.ExtractOp, maker: GenerateOp, rewriter: PatternRewriter) -> None:
    block = maker.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, op.indices, strict=True))
    for inner in block.ops:
        if isinstance(inner, YieldOp):
            given = inner.operands[0]
            rewriter.replace(op, (), [values.get(given, given)])
            return
        rewriter.insert(inner.clone(values))


def _fuse_operation(op: tensor.ExtractOp, maker: Operation, rewriter: PatternRewriter) -> None:
    scalars = list[SSAValue]()
    for tile in maker.operands:
        element = element_of(tile.type)
        assert element is not None
        taken = tensor.ExtractOp(tile, op.indices, element)
        rewriter.insert(taken)
        scalars.append(taken.result)
    rewriter.replace(op, on_types(maker, scalars, [op.result.type]))


PATTERNS: tuple[RewritePattern, ...] = (
    ExtractFromProducer(),
    CountBits(),
    LoadElements(),
    ReduceChosenColumn(),
    StoreChosenColumn(),
)
"""The patterns of `tileas-fuse-elementwise`."""


@dataclass(frozen=True)
class TileasFuseElementwise(ModulePass):
    """Fuse the producers of tiles into the `generate` operations that extract their elements.

    Input: tiles without a layout.  Positions, splats and unit dimensions are always recomputed from
    their source, anything else only if nothing is computed twice by that.  Bodies that branch or
    loop stay.  Producers without further uses are erased.  Shifts, masks and sums that count
    the bits of a word become one operation.  Loads of tiles of which nothing but single elements
    are taken become loads of those (`fuse_elementwise/loaded_elements.py`), and so does the one
    column of a row that a mask chooses (`fuse_elementwise/chosen_columns.py`).
    """

    name = "tileas-fuse-elementwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the pass."""
        apply_patterns(op, with_added(TileasFuseElementwise.name, PATTERNS), dce=True)
