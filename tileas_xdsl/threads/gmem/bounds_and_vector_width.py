"""Bounds checks and vector widths of a tile in global memory.

The tile at coordinates `(i, j)` of an array begins at element `i * rows, j * columns`. Its bounds
check is one unsigned comparison per dimension, which refuses negative indices too:
`arith.cmpi ult, %index, %extent`. In 32 bits, unless an extent may need more.

Vectors of `count` elements of a row are legal if base, row start and row stride are multiples of
`count`, and no vector straddles the end of the array. What divisibility (`assume`, static strides)
does not prove is tested once per tile at run time, with scalar code on the other branch:

    128x64 f16 tile, strides [%s, 1], nothing known of %s, count = 8:
    %ok = (%s mod 8 == 0) and (end of tile <= extent or extent mod 8 == 0)
    scf.if %ok { ld.global.v4.b32 ... } else { ld.global.b16 ... }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import PtrToIntOp
from tileas_xdsl.dialects.nv_tileas.element_names import FP4, element_name
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    RotatedOp,
    TiledAtomicRmwOp,
    TiledLoadBase,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import comparison
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    as_int64,
    cast_index,
    constant_like,
    divide,
    i32_constant,
    is_equal,
    logical_and,
    modulo,
    multiply,
    subtract,
)
from tileas_xdsl.threads.codegen.known_integers import divisor_of, least_of, most_of
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.registers.access_chunk import AccessChunk

TiledOp = TiledAtomicRmwOp | TiledLoadBase | TiledStoreOp

Number = SSAValue | int

MAX_EXTENT = 1 << 31
"""Extents below it have indices of 32 bits."""


def is_packed(element: Attribute) -> bool:
    """Return whether global memory packs two elements per byte, the first in the low bits."""
    return element_name(element) == FP4


def check_whole_bytes(op: Operation, view: GlobalView) -> None:
    """Reject byte-addressed accesses of an array with sub-byte elements."""
    if is_packed(view.element):
        raise op_error(op, f"elements {view.element} lie two in a byte; TMA alone moves them")


def _check_rank(op: Operation, view: GlobalView, shape: tuple[int, ...]) -> None:
    if not shape or len(shape) != len(view.extents):
        raise op_error(
            op, f"moves a tile of rank {len(shape)} of an array of rank {len(view.extents)}"
        )


@dataclass(frozen=True)
class GlobalTile:
    """A tile of an array in global memory."""

    view: GlobalView
    shape: tuple[int, ...]
    strides: tuple[SSAValue | int, ...]
    """In elements, `i64`."""
    starts: tuple[SSAValue, ...]
    """By dimension, the element of the array that the tile begins at; maybe outside."""
    factors: tuple[int, ...]
    """Known divisors of `starts`."""
    limits: tuple[SSAValue | None, ...]
    """By dimension the extent; None where no element is out of bounds."""
    index: Attribute
    """The type of coordinates: `i32`, or `i64` where extents may have more bits."""
    ahead: int = 0
    """Columns from the beginning to the tile: those that are known are in shifts of pieces."""

    @staticmethod
    def of(e: ThreadBuilder, op: TiledOp, view: GlobalView, shape: tuple[int, ...]) -> GlobalTile:
        """Return the tile that an operation accesses; raise where it cannot be addressed."""
        check_whole_bytes(op, view)
        _check_rank(op, view, shape)
        starts = [_start(e, op, view, shape, axis) for axis in range(len(shape))]
        unlimited = GlobalTile._from(e, view, shape, starts)
        return replace(unlimited, limits=_limits(e, op, view))

    @staticmethod
    def at(
        e: ThreadBuilder,
        op: Operation,
        view: GlobalView,
        shape: tuple[int, ...],
        coords: Sequence[SSAValue],
    ) -> GlobalTile:
        """Return the tile that begins at an element, without bounds checks."""
        _check_rank(op, view, shape)
        starts = [
            add(e, index, begin if isinstance(begin, int) else cast_index(e, begin, IndexType()))
            for index, begin in zip(coords, view.starts, strict=True)
        ]
        return GlobalTile._from(e, view, shape, starts)

    @staticmethod
    def _from(
        e: ThreadBuilder,
        view: GlobalView,
        shape: tuple[int, ...],
        starts: Sequence[SSAValue],
    ) -> GlobalTile:
        return GlobalTile(
            view,
            shape,
            tuple(_as_int64(e, stride) for stride in view.strides),
            tuple(cast_index(e, start, coordinate_type(view)) for start in starts),
            tuple(divisor_of(e, start) for start in starts),
            (None,) * len(shape),
            coordinate_type(view),
        )

    def has(
        self, e: ThreadBuilder, axis: int, coordinate: SSAValue, offset: int = 0
    ) -> SSAValue | None:
        """Return whether `offset` behind an index is in bounds; None if it always is.

        Negative indices are not.  Where the tile begins at 0 there are none, and the distance to
        the limit is compared with constants: one register of a thread serves all of its accesses.
        """
        limit = self.limits[axis]
        if limit is None:
            return None
        if offset and self.factors[axis] == 0:
            left = subtract(e, coordinate, limit)
            return e.insert(comparison(left, constant_like(e, left, -offset), "slt")).result
        return e.insert(comparison(add(e, coordinate, offset), limit, "ult")).result

    @property
    def end(self) -> int | None:
        """The columns of the tile that are in bounds at most, where that is known."""
        limit = self.limits[-1]
        return None if limit is None or self.factors[-1] else most_of(limit)

    @property
    def least(self) -> int:
        """The columns of the tile that are in bounds at least."""
        limit = self.limits[-1]
        if limit is None or self.factors[-1]:
            return 0 if limit is not None else self.shape[-1]
        return least_of(limit) or 0

    def piece(self, chunk: AccessChunk) -> AccessChunk:
        """The piece that a chunk of the layout is."""
        return replace(chunk, shift=chunk.shift + self.ahead) if self.ahead else chunk

    def beginning(self, e: ThreadBuilder, column: int) -> GlobalTile:
        """Return the tile that begins in the same rows at a column."""
        start = constant_like(e, self.starts[-1], column)
        return replace(
            self,
            starts=(*self.starts[:-1], start),
            factors=(*self.factors[:-1], column),
        )

    def is_behind(self, piece: AccessChunk) -> bool:
        """Whether a piece is known to be behind the end of the array in all threads."""
        return self.end is not None and piece.span > 1 and piece.shift >= self.end

    def is_within(self, columns: int) -> bool:
        """Whether so many columns of the tile are known to be in bounds."""
        return self.limits[-1] is not None and columns <= self.least

    def contains(self, e: ThreadBuilder, columns: int) -> SSAValue | None:
        """Return whether all rows are in bounds up to a column; None if they always are."""
        found: SSAValue | None = None
        for axis, extent in enumerate((*self.shape[:-1], columns)):
            limit, start = self.limits[axis], self.starts[axis]
            if limit is None:
                continue
            ends = e.insert(comparison(add(e, start, extent), limit, "sle")).result
            found = logical_and(e, found, ends)
            if self.factors[axis]:
                begins = e.insert(comparison(start, constant_like(e, start, 0), "sge")).result
                found = logical_and(e, found, begins)
        return found

    def scaled(self, e: ThreadBuilder, axis: int, coordinate: SSAValue) -> SSAValue:
        """Return the offset of an index in elements, `i64`."""
        return multiply(e, as_int64(e, coordinate), self.strides[axis])

    def coordinate(self, e: ThreadBuilder, axis: int, position: SSAValue) -> SSAValue:
        """Return the index in the array of a position in the tile."""
        return add(e, self.starts[axis], cast_index(e, position, self.index))

    def begins_aligned(self, e: ThreadBuilder, count: int) -> bool | SSAValue:
        """Return whether aligned groups of `count` row elements are contiguous and aligned.

        True, False, or an `i1` computed at run time.
        """
        if self.view.strides[-1] != 1 or count == 1:
            return self.view.strides[-1] == 1
        condition = self._begins_aligned(e, count)
        if self.factors[-1] % count:
            condition = _is_multiple(e, self.starts[-1], count)
        for stride in self.view.strides[:-1]:
            if isinstance(stride, int):
                if stride % count:
                    return False
            elif divisor_of(e, stride) % count:
                condition = logical_and(e, condition, _is_multiple(e, as_int32(e, stride), count))
        return True if condition is None else condition

    def _begins_aligned(self, e: ThreadBuilder, count: int) -> SSAValue | None:
        """Return whether the array start is aligned to a group; None if it always is."""
        size = count * bits_of(self.view.element) // 8
        if size == 0 or self.view.alignment % size == 0:
            return None
        address = e.insert(PtrToIntOp(self.view.pointer)).result
        return _is_multiple(e, address, size)

    def ends_between_groups(self, e: ThreadBuilder, count: int) -> SSAValue | None:
        """Return whether no group of a row straddles the bounds; None if none ever does."""
        extent, limit = self.view.extents[-1], self.limits[-1]
        if count == 1 or limit is None or extent in self.view.strides[:-1]:
            return None
        divisor = extent if isinstance(extent, int) else divisor_of(e, limit)
        if divisor % count == 0:
            return None
        start = self.starts[-1]
        end = add(e, start, self.ahead + self.shape[-1])
        below = e.insert(comparison(end, limit, "sle")).result
        above = e.insert(comparison(start, constant_like(e, start, 0), "sge")).result
        whole = e.insert(arith.AndIOp(above, below)).result
        if isinstance(extent, int):
            return whole
        return e.insert(arith.OrIOp(whole, _is_multiple(e, limit, count))).result


def _is_multiple(e: ThreadBuilder, value: SSAValue, count: int) -> SSAValue:
    return is_equal(e, modulo(e, value, count), 0)


def _start(
    e: ThreadBuilder, op: TiledOp, view: GlobalView, shape: Sequence[int], axis: int
) -> SSAValue:
    """Coordinates count tiles from where the view begins, offsets count elements.

    Offsets that rotate rows move nothing.
    """
    start = multiply(e, e.scalar(op.coords[axis]), shape[axis])
    if op.offsets and not _rotates(op, axis == len(shape) - 1):
        start = add(e, start, e.scalar(op.offsets[axis]))
    begin = view.starts[axis]
    return add(e, start, begin if isinstance(begin, int) else cast_index(e, begin, IndexType()))


def _rotates(op: TiledOp, is_last: bool) -> bool:
    """Whether the offset of a dimension, of the last one or another, is how rows are rotated."""
    if not isinstance(op, RotatedOp) or op.rotated is None:
        return False
    return is_last or op.modulus is not None


def _limits(e: ThreadBuilder, op: TiledOp, view: GlobalView) -> tuple[SSAValue | None, ...]:
    inside = (False,) * len(view.extents) if op.in_bounds is None else op.in_bounds.get_values()
    return tuple(
        None if flag else _limit(e, extent, coordinate_type(view))
        for flag, extent in zip(inside, view.extents, strict=True)
    )


def coordinate_type(view: GlobalView) -> IntegerType:
    """Return the integer that holds every index of an array: its extents decide."""
    for extent in view.extents:
        bound = extent >= MAX_EXTENT if isinstance(extent, int) else extent.type == i64
        if bound:
            return i64
    return i32


def _limit(e: ThreadBuilder, extent: Number, type_: IntegerType) -> SSAValue:
    return e.constant(extent, type_) if isinstance(extent, int) else cast_index(e, extent, type_)


def as_int32(e: ThreadBuilder, number: Number) -> SSAValue:
    """Return an extent or a stride as an `i32` value."""
    return i32_constant(e, number) if isinstance(number, int) else cast_index(e, number, i32)


def _as_int64(e: ThreadBuilder, number: Number) -> Number:
    return number if isinstance(number, int) else as_int64(e, number)


@dataclass(frozen=True)
class Row:
    """The part of a tile row that a thread accesses."""

    offset: SSAValue
    """Elements from the beginning of the array to the first column of the thread, `i64`."""
    column: SSAValue
    """The first column of the thread in the array."""
    held: SSAValue | None
    """Whether the row is accessed by this thread; None if always."""
    exists: SSAValue | None
    """Whether it is in bounds, too."""


def row_of(
    e: ThreadBuilder,
    window: GlobalTile,
    piece: AccessChunk,
    begin: tuple[SSAValue, SSAValue],
    guard: SSAValue | None,
) -> Row:
    """The row of a piece; `begin` is the first column, and the offset along the row."""
    column, offset = begin
    exists, left = guard, piece.row
    for axis in reversed(range(len(window.shape) - 1)):
        assert left is not None
        position = left if axis == 0 else modulo(e, left, window.shape[axis])
        left = divide(e, left, window.shape[axis]) if axis else None
        coordinate = window.coordinate(e, axis, position)
        exists = logical_and(e, exists, window.has(e, axis, coordinate))
        offset = add(e, offset, window.scaled(e, axis, coordinate))
    return Row(offset, column, guard, exists)
