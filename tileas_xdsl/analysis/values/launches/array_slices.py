"""Arrays that are slices of kernel arguments, along one dimension, from a run-time row on.

cuTile's `array.slice(0, start, stop)` of an array of `%m` x `%n`:

    %o = arith.muli %start, %s
    %q = nv_tileaa.addptr %ptr, %o
    %a = nv_tileaa.make_memref %q, sizes [%extent, %n], strides [%s] : memref<?x?xf16, ...>

    ArraySlice(whole = 1 x %n elements after %ptr, axis = 0, starts = (%start,), extent = %extent)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import (
    Count,
    PointedArray,
    count_of,
    is_parameter,
    without_promises,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp, array_type, strides_of
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.target.tma.array_slices import MAX_SLICED_RANK

_CASTS = (arith.ExtSIOp, arith.ExtUIOp, arith.IndexCastOp)


@dataclass(frozen=True)
class ArraySlice:
    """Rows of an array behind a pointer argument."""

    whole: PointedArray
    """The array, with one row along the dimension: how many it has no slice of it says."""
    axis: int
    starts: tuple[SSAValue, ...]
    """The first row is their sum."""
    extent: SSAValue | int
    """The number of rows."""
    pointer: SSAValue
    """The address of the array, with what is promised of it."""
    made: MakeMemrefOp


def array_slice(value: SSAValue) -> ArraySlice | None:
    """Return the slice of a kernel argument that an array is; None for any other array."""
    made = without_promises(value).owner
    if not isinstance(made, MakeMemrefOp) or made.offset is not None:
        return None
    offsets, pointer = list[SSAValue](), made.pointer
    while isinstance(added := without_promises(pointer).owner, AddPtrOp):
        offsets.append(added.offset)
        pointer = added.base
    base = without_promises(pointer)
    if not offsets or not isinstance(base, BlockArgument) or not isinstance(base.type, PtrType):
        return None
    axes = range(len(made.array.get_shape()))
    strides = [count_of(made.stride(axis)) for axis in axes]
    sizes = [count_of(made.extent(axis)) for axis in axes]
    for axis in axes:
        starts = [_rows(offset, strides[axis]) for offset in offsets]
        known = tuple(start for start in starts if start is not None)
        if is_parameter(base) and len(known) == len(starts):
            return _slice(made, base, pointer, axis, known, sizes, strides)
    return None


def map_problem(part: ArraySlice) -> str | None:
    """Return what no tensor map describes of a slice: "of columns"; None if one describes all."""
    rank = len(part.whole.sizes)
    if rank > MAX_SLICED_RANK:
        return f"of {rank} dimensions, and maps of slices have up to {MAX_SLICED_RANK}"
    if part.axis == rank - 1:
        return "of columns, and units of 16 bytes may be in and outside of it"
    counts = [*part.starts, part.extent]
    if any(isinstance(n, SSAValue) and n.type != i32 for n in counts):
        return "whose rows are not counted in 32 bits, as coordinates of TMA are"
    return None


def mapped_slice(value: SSAValue) -> ArraySlice | None:
    """Return the slice that an array is, if a tensor map describes it; None for any other array."""
    part = array_slice(value)
    return None if part is None or map_problem(part) is not None else part


def _slice(
    made: MakeMemrefOp,
    base: BlockArgument,
    pointer: SSAValue,
    axis: int,
    starts: tuple[SSAValue, ...],
    sizes: Sequence[Count | None],
    strides: Sequence[Count | None],
) -> ArraySlice | None:
    of_whole = [*sizes[:axis], 1, *sizes[axis + 1 :]]
    known_sizes = tuple(n for n in of_whole if n is not None)
    known_strides = tuple(n for n in strides if n is not None)
    if len(known_sizes) + len(known_strides) < 2 * len(sizes):
        return None
    shape = list(made.array.get_shape())
    shape[axis] = 1
    type_ = array_type(made.array.element_type, shape, strides_of(made.array))
    whole = PointedArray(base, type_, known_sizes, known_strides)
    return ArraySlice(whole, axis, starts, made.extent(axis), pointer, made)


def _rows(offset: SSAValue, stride: Count | None) -> SSAValue | None:
    """Return the rows that an offset in elements comes to; None if it is no product with stride."""
    if stride == 1:
        return offset
    product = _uncast(offset).owner
    if not isinstance(product, arith.MuliOp):
        return None
    for rows, other in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        if stride is not None and count_of(_uncast(other)) == stride:
            return _uncast(rows)
    return None


def _uncast(value: SSAValue) -> SSAValue:
    while isinstance(made := value.owner, (*_CASTS, AssumeOp)):
        value = made.operands[0]
    return value
