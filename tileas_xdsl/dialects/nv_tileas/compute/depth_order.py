"""Products of bytes whose depth comes in the order in which threads have sums.

    %p = truncf %s                                      // weights, as accumulators lie
    %b = convert_layout %v {nv_tileas.depth_of_sums}    // a transpose that threads write
    %d = dot %p, %b, %c {nv_tileas.depth_of_sums}

A lane has columns 2 q, 2 q + 1, 8 + 2 q, 9 + 2 q of 16 sums, and wgmma takes four bytes side by
side from it.  The order of the depth does not matter, if both operands have the same: threads that
transpose B write its rows in that order, and A stays in the lanes that have computed it.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed

DEPTH_OF_SUMS = "nv_tileas.depth_of_sums"


def has_depth_of_sums(op: Operation) -> bool:
    """Whether a product, or the transpose that is its B, has its depth in the order of sums."""
    return DEPTH_OF_SUMS in op.attributes


def set_depth_of_sums(op: DotOp) -> None:
    """Let a product whose B threads transpose for it alone have its depth in the order of sums."""
    transpose = written_transpose(op)
    assert transpose is not None, "threads transpose B"
    for each in (op, transpose):
        each.attributes[DEPTH_OF_SUMS] = UnitAttr()


def clear_depth_of_sums(op: DotOp) -> None:
    """Let a product, and others that read the same B, have their depth in its own order."""
    if has_depth_of_sums(op) and (transpose := written_transpose(op)) is not None:
        for each in (transpose, *_readers(transpose.result)):
            each.attributes.pop(DEPTH_OF_SUMS, None)


def written_transpose(op: DotOp) -> ConvertLayoutOp | None:
    """Return what threads write for B of a product as the transpose of a tile."""
    value = op.b
    while isinstance(view := value.owner, ViewOp):
        value = view.source
    made = value.owner
    if isinstance(made, ConvertLayoutOp) and is_transposed(made.source.type):
        return made
    return None


def is_alone(op: DotOp, transpose: ConvertLayoutOp) -> bool:
    """Whether a product is all that reads the transpose that is its B."""
    return set(_readers(transpose.result)) == {op}


def _readers(tile: SSAValue) -> Iterator[Operation]:
    """What reads a tile, or a view of it."""
    for use in tile.uses:
        if isinstance(use.operation, ViewOp):
            yield from _readers(use.operation.result)
        else:
            yield use.operation
