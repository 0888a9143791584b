"""Patterns on `extract_slice`: constant numbers, slices of views, slices of what was inserted."""

from __future__ import annotations

from xdsl.dialects.builtin import NoneAttr, TensorType
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.dialects.nv_tileas.enums import SpaceAttr
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp, InsertSliceOp, part_of
from tileas_xdsl.transforms.canonicalization.nv_tileas.memory_order import crosses_nothing
from tileas_xdsl.transforms.canonicalization.nv_tileas.slice_geometry import (
    are_disjoint,
    hull,
    is_within,
    known_part,
)


class SimplifyExtractSlice(RewritePattern):
    """A slice whose numbers are all non-negative constants has them in its attributes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExtractSliceOp, rewriter: PatternRewriter) -> None:
        if part_of(op).is_static:
            return
        part = known_part(op)
        if not is_within(part, op.source.type.get_shape()):
            return
        old = op.result.type
        new_type = TensorType(old.element_type, part.shape, old.encoding)
        new = ExtractSliceOp(op.source, part.offsets, part.sizes, part.strides, new_type)
        new.attributes = op.attributes.copy()
        rewriter.replace(op, new if new_type == old else (new, CastOp(new, old)))


class SwapViewAndExtractSlice(RewritePattern):
    """A slice of a view is a view of a slice, where the view only names the tile anew.

    A view that begins elsewhere, changes the shape or gives the elements a layout does not commute.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExtractSliceOp, rewriter: PatternRewriter) -> None:
        view = op.source.owner
        if not isinstance(view, ViewOp) or not _commutes(view) or not crosses_nothing(view, op):
            return
        source, result = view.source.type, op.result.type
        if not isinstance(source, TensorType) or not _is_without_layout(result.encoding):
            return
        part = part_of(op)
        slice_op = ExtractSliceOp(
            view.source,
            part.offsets,
            part.sizes,
            part.strides,
            TensorType(result.element_type, result.get_shape(), source.encoding),
        )
        slice_op.attributes = op.attributes.copy()
        new_view = ViewOp(slice_op, result)
        new_view.attributes = view.attributes.copy()
        rewriter.replace(op, (slice_op, new_view))


def _commutes(view: ViewOp) -> bool:
    source, result = view.source.type, view.result.type
    return (
        isinstance(source, TensorType)
        and isinstance(result, TensorType)
        and view.is_whole
        and source.get_shape() == result.get_shape()
        and _is_without_layout(source.encoding)
        and _is_without_layout(result.encoding)
    )


def _is_without_layout(encoding: Attribute) -> bool:
    return isinstance(encoding, NoneAttr | SpaceAttr)


class SimplifyExtractFromInsert(RewritePattern):
    """A slice of a tile into which just that slice was inserted is what was inserted.

    Insertions behind it that touch other elements do not matter.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExtractSliceOp, rewriter: PatternRewriter) -> None:
        wanted = known_part(op)
        insert = op.source.owner
        while isinstance(insert, InsertSliceOp):
            part = known_part(insert)
            if part == wanted:
                break
            if not are_disjoint(hull(part), hull(wanted)):
                return
            insert = insert.destination.owner
        if not isinstance(insert, InsertSliceOp) or insert.source.type != op.result.type:
            return
        if crosses_nothing(insert, op):
            rewriter.replace(op, (), [insert.source])
