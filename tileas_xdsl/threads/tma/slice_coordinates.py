"""Coordinates of boxes in the map of slices of an array (`target.tma.array_slices`)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.xdsl_ops import comparison, selection
from tileas_xdsl.target.tma.array_slices import ROW_LIMIT
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, cast_index, i32_constant, subtract
from tileas_xdsl.threads.codegen.lowered_values import SliceRows


def in_slices(
    e: ThreadBuilder, coordinates: Sequence[SSAValue], rows: SliceRows
) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
    """Return coordinates in the map for those in a slice, and the ones along y and z.

    Coordinates are in the order of the dimensions.  A row that the slice has not is out of bounds,
    also one in front of it: none are left from there on, as at the end.

        left = row <u extent ? min(extent - row, L) : 0;  x = L - left;  y = start + row + left
    """
    row = coordinates[rows.axis]
    start, extent = (cast_index(e, value, i32) for value in (rows.start, rows.extent))
    limit, zero = i32_constant(e, ROW_LIMIT), i32_constant(e, 0)
    behind = e.insert(arith.MinSIOp(subtract(e, extent, row), limit)).result
    is_inside = e.insert(comparison(row, extent, "ult")).result
    left = e.insert(selection(is_inside, behind, zero)).result
    moved = list(coordinates)
    moved[rows.axis] = subtract(e, limit, left)
    return moved, (add(e, add(e, start, row), left), limit)
