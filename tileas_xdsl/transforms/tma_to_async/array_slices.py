"""Descriptors for tiles of slices of an array: one of the array, and in each place one of a slice.

%q = addptr %p, %start * %s
%a = make_memref %q, sizes [%n, %m], strides [%s]
%x = tiled_load (view %a)[%i, %j]

%w = make_memref %p, sizes [%m], strides [%s] : memref<1x?xf16, ...>      at the function's level
%d = make_tiled_tma_desc %w box[...]
...
%e = slice_tma_desc %d[%start, %n] {axis = 0}
%l = async.tiled_tma_load %e, %b[%i, %j] barrier %r
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.launches.array_slices import ArraySlice
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.tma.slices import SliceTmaDescOp


def whole_array(part: ArraySlice) -> MakeMemrefOp:
    """Return the array that a slice is of, of what is known where the function begins."""
    axes = range(len(part.whole.sizes))
    sizes = [part.made.extent(axis) for axis in axes if axis != part.axis]
    made = MakeMemrefOp(
        _in_front(part.pointer),
        _dynamic(sizes),
        _dynamic([part.made.stride(axis) for axis in axes]),
        part.whole.type,
    )
    made.location = part.made.location
    return made


def _dynamic(counts: Sequence[SSAValue | int]) -> Sequence[SSAValue]:
    return [_in_front(count) for count in counts if isinstance(count, SSAValue)]


def _in_front(value: SSAValue) -> SSAValue:
    """Return a value with those promises alone that hold from the beginning of the function on."""
    while isinstance(made := value.owner, AssumeOp) and not isinstance(
        made.parent_op(), func.FuncOp
    ):
        value = made.source
    return value


def slice_of(descriptor: SSAValue, part: ArraySlice, user: Operation) -> SSAValue:
    """Return the descriptor of a slice, made in front of who uses it."""
    first, *others = part.starts
    made: list[Operation] = []
    for start in others:
        made.append(arith.AddiOp(first, start))
        first = made[-1].results[0]
    extent = part.extent
    if isinstance(extent, int):
        made.append(arith.ConstantOp(IntegerAttr(extent, i32)))
        extent = made[-1].results[0]
    found = SliceTmaDescOp(descriptor, first, extent, part.axis)
    for op in (*made, found):
        op.location = user.location
    Rewriter.insert_op((*made, found), InsertPoint.before(user))
    return found.result
