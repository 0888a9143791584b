"""Make the offsets of slices static in a loop that runs once.

    scf.for %i = 3 to 4 step 1 {                      %o = affine.apply (d0) -> (d0 * 16) (%i)
      extract_slice %t[%o, 0][16, 64]        ->       extract_slice %t[48, 0][16, 64]
    }

The index expression is evaluated with the counter's only value. A slice that would then exceed its
tile is left alone: it may be in code that is never reached, where an error would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import affine, arith, scf
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileas.shapes.slice_checks import Extent, Slice, slice_parts
from tileas_xdsl.dialects.nv_tileas.shapes.slices import (
    AsyncExtractSliceOp,
    AsyncInsertSliceOp,
    ExtractSliceOp,
    InsertSliceOp,
    SlicingOp,
    part_of,
    tile_of,
)
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.transforms.canonicalization.nv_tileas.slice_geometry import is_within
from tileas_xdsl.transforms.slicing.counted_loop import bits_of_counter

DEPTH = 32
"""Maximum depth of the expressions that are evaluated."""

_INSERTS = (InsertSliceOp, AsyncInsertSliceOp)
_SLICES = (*_INSERTS, ExtractSliceOp, AsyncExtractSliceOp)


def settle_windows(loop: scf.ForOp, only: int) -> None:
    """Make slice offsets static that depend on the counter, by its only value."""
    counter = loop.body.block.args[0]
    for op in operations_in(loop.body):
        if isinstance(op, _SLICES) and (part := _settled(op, counter, only)) is not None:
            _replace(op, part)


def _settled(op: SlicingOp, counter: SSAValue, only: int) -> Slice | None:
    """Return the slice with offsets evaluated as far as possible; None if nothing is gained."""
    part = part_of(op)
    offsets = tuple(_known_extent(offset, counter, only) for offset in part.offsets)
    settled = Slice(offsets, part.sizes, part.strides)
    whole = tile_of(op.destination.type if isinstance(op, _INSERTS) else op.source.type)
    if settled == part or whole is None or not is_within(settled, whole.get_shape()):
        return None
    return settled


def _known_extent(extent: Extent, counter: SSAValue, only: int) -> Extent:
    if isinstance(extent, int):
        return extent
    offset = _evaluated(extent, counter, only, DEPTH)
    return extent if offset is None else offset


@memoized_walk
def _evaluated(value: SSAValue, counter: SSAValue, only: int, depth: int) -> int | None:
    """Evaluate a value for the counter value `only`; None if unknown or out of its type's range."""
    if value is counter:
        return only
    op = value.owner
    if not depth or not isinstance(op, Operation):
        return None
    if (number := constant_integer(value)) is not None:
        return number
    if not isinstance(op, affine.ApplyOp | arith.AddiOp | arith.SubiOp | arith.MuliOp):
        return None
    operands = [_evaluated(operand, counter, only, depth - 1) for operand in op.operands]
    if any(operand is None for operand in operands):
        return None
    try:
        number = _applied(op, [operand or 0 for operand in operands])
    except ZeroDivisionError:
        return None
    # Python's integers do not wrap; a result that would wrap in its type is unknown.
    half = 1 << (bits_of_counter(value.type) - 1)
    return number if -half <= number < half else None


def _applied(
    op: affine.ApplyOp | arith.AddiOp | arith.SubiOp | arith.MuliOp, operands: Sequence[int]
) -> int:
    if isinstance(op, affine.ApplyOp):
        map_ = op.map.data
        return map_.eval(operands[: map_.num_dims], operands[map_.num_dims :])[0]
    a, b = operands
    if isinstance(op, arith.AddiOp):
        return a + b
    return a - b if isinstance(op, arith.SubiOp) else a * b


def _replace(op: SlicingOp, part: Slice) -> None:
    parts = slice_parts(part.offsets, part.sizes, part.strides)
    tiles = [op.source, op.destination] if isinstance(op, _INSERTS) else [op.source]
    segments = [1] * len(tiles) + [len(group) for group in parts.operands]
    properties: dict[str, Attribute] = {
        **parts.static,
        "operandSegmentSizes": DenseArrayBase.from_list(i32, segments),
    }
    operands = [*tiles, *(value for group in parts.operands for value in group)]
    new = on_types(op, operands, op.result_types, **properties)
    new.results[0].name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, new)
