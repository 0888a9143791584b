"""Maxima of rows in whose place another number is subtracted where they are -inf.

    %c = cmpf oeq, %m, -inf
    %s = select %c, 0.0, %m          elements of %x - %s are -inf there

What is written so, since -inf - -inf is no number, are the maxima themselves as far as weights of
elements go: exp(-inf) is zero.
"""

from __future__ import annotations

from math import inf, isfinite

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.rows.row_sums import plain
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp

EQUAL = arith.CMPF_COMPARISON_OPERATIONS.index("oeq")
"""The predicate of equal numbers."""


def unguarded(most: SSAValue) -> SSAValue:
    """Return the maxima of rows, of which others may be subtracted where they are -inf."""
    choice = _element(most).owner
    if not isinstance(choice, arith.SelectOp):
        return most
    comparison = _made(choice.cond).owner
    if not isinstance(comparison, arith.CmpfOp):
        return most
    rows, other = _tile(choice.rhs), _number(choice.lhs)
    is_infinite = _tile(comparison.lhs) is rows and _number(comparison.rhs) == -inf
    is_equality = comparison.predicate.value.data == EQUAL
    if rows is None or other is None or not (is_infinite and is_equality and isfinite(other)):
        return most
    return rows


def _element(tile: SSAValue) -> SSAValue:
    """Return what computes an element of a tile; the tile itself, if it is not written so."""
    made = tile.owner
    last = made.body.block.last_op if isinstance(made, GenerateOp) else None
    return tile if last is None else _made(last.operands[0])


def _made(element: SSAValue) -> SSAValue:
    """Return what computes the element that is read of a tile, at the same coordinates."""
    read = element.owner
    if not isinstance(read, tensor.ExtractOp) or not _is_own(read):
        return element
    found = _element(read.tensor)
    return element if found is read.tensor else found


def _is_own(read: tensor.ExtractOp) -> bool:
    """Whether an element is read at the coordinates of the one that is computed."""
    block = read.parent
    return block is not None and list(read.indices) == list(block.args)


def _tile(element: SSAValue) -> SSAValue | None:
    """Return the tile of which an element is read, as it is laid out and shaped first."""
    read = _made(element).owner
    if not isinstance(read, tensor.ExtractOp) or not _is_own(read):
        return None
    return plain(read.tensor)


def _number(element: SSAValue) -> float | None:
    """Return the number that an element is, wherever in its tile."""
    read = element.owner
    tile = read.tensor if isinstance(read, tensor.ExtractOp) else element
    known = uniform_constant(tile)
    return known.value.data if isinstance(known, FloatAttr) else None
