"""Operations on whole buffers as operations on their parts.

tl.copy %A[%y, %x] to %a : 64x96     ->   tl.copy %A[%y, %x] to %a0 : 64x64
                                          tl.copy %A[%y, %x + 64] to %a1 : 64x32
tl.gemm %a, %b, %c : 64x96x64        ->   tl.gemm %a0, %b0, %c ; tl.gemm %a1, %b1, %c
tl.reduce max %x to %m axis 1        ->   tl.reduce max %x0 to %m
                                          tl.reduce max %x1 to %m {clear = false}
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.tl.base import shape_of
from tileas_xdsl.dialects.tl.compute import CumSumOp, GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.moves import CopyOp, FillOp, Side
from tileas_xdsl.transforms.tl_parts.buffers import CutError, Parts, insert, moved, number
from tileas_xdsl.transforms.tl_parts.extents import Box, Segment, boxes


def copy(parts: Parts, op: CopyOp) -> None:
    """Cut a copy where the parts of either side begin."""
    sides, extents = (op.source_side, op.target_side), op.loop_extents
    cuts: list[set[int]] = [set() for _ in extents]
    for side in sides:
        for axis, (variable, begins) in enumerate(
            zip(side.variables, parts.cuts(side.buffer), strict=True)
        ):
            if variable is not None and parts.is_cut(side.buffer):
                first = _first(op, side, axis)
                cuts[variable].update(begin - first for begin in begins)
    for box in boxes(extents, cuts):
        (source, from_, there), (target, to, here) = (_region(parts, op, s, box) for s in sides)
        made = CopyOp(source, target, from_, to, max(there, here, key=len))
        insert(made, op)


def _first(op: CopyOp, side: Side, axis: int) -> int:
    """Return where the region of a cut buffer begins along an axis."""
    first = constant_integer(side.offsets[axis]) if side.offsets else 0
    if first is None:
        raise CutError(op, "accesses a part of a buffer that run time chooses")
    return first


def _region(
    parts: Parts, op: CopyOp, side: Side, box: Box
) -> tuple[SSAValue, Sequence[SSAValue], Sequence[int]]:
    """Return what a side accesses for a part of the copy: buffer, offsets and extents."""
    whole = Segment(0, 1)
    along = [whole if k is None else box[k] for k in side.variables]
    lengths = [segment.length for segment in along]
    if not parts.is_cut(side.buffer):
        offsets = list(side.offsets) or [number(op, 0) for _ in along]
        starts = [moved(op, o, s.start) for o, s in zip(offsets, along, strict=True)]
        return side.buffer, starts, lengths
    firsts = [_first(op, side, axis) + s.start for axis, s in enumerate(along)]
    part, within = parts.holding(op, side.buffer, firsts)
    rests = [first - s.start for first, s in zip(firsts, within, strict=True)]
    return part, [number(op, rest) for rest in rests], lengths


def fill(parts: Parts, op: FillOp) -> None:
    """Fill each part."""
    for box in parts.boxes(op.buffer):
        insert(FillOp(parts.part(op.buffer, box), op.value), op)


def gemm(parts: Parts, op: GemmOp) -> None:
    """Multiply parts: those along K are added up, in order."""
    m, n, k = op.sizes
    rows, columns, depths = ([box[0] for box in boxes((extent,), ((),))] for extent in (m, n, k))
    for row in rows:
        for column in columns:
            for depth in depths:
                a = (depth, row) if op.transpose_a is not None else (row, depth)
                b = (column, depth) if op.transpose_b is not None else (depth, column)
                made = op.clone()
                made.operands = [
                    parts.part(op.a, a),
                    parts.part(op.b, b),
                    parts.part(op.c, (row, column)),
                ]
                if depth.start:
                    made.properties.pop("clear", None)
                insert(made, op)


def reduce(parts: Parts, op: ReduceOp) -> None:
    """Reduce the parts along the axis one after another into those of the result."""
    axis = op.axis.value.data
    for box in parts.boxes(op.source):
        kept = (Segment(0, 1),) if op.keep_dims is not None else ()
        made = ReduceOp(
            op.reduction,
            parts.part(op.source, box),
            parts.part(op.target, (*box[:axis], *kept, *box[axis + 1 :])),
            axis,
            keep_dims=op.keep_dims is not None,
            clear=op.is_cleared and box[axis].start == 0,
            nan_propagate=op.nan_propagate is not None,
        )
        insert(made, op)


def cumsum(parts: Parts, op: CumSumOp) -> None:
    """Sum along an axis that is not cut."""
    axis = op.axis.value.data
    for box in parts.boxes(op.source):
        if box[axis].length < shape_of(op.source.type)[axis]:
            raise CutError(op, "sums along an axis whose extent is no power of two")
        made = op.clone()
        made.operands = [parts.part(op.source, box), parts.part(op.target, box)]
        insert(made, op)
