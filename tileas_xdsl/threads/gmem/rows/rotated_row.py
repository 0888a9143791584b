"""A row that is rotated: which columns the elements of its tile are, and where these are in memory.

Element `p` of a row of a tile is column `(p + offset) mod width`; several rows differ by offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import gcd

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i32
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import LoadOp, PtrToIntOp
from tileas_xdsl.dialects.ir_queries import enclosing_function, enclosing_ops
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    constant_like,
    divide,
    extend_to_i64,
    i32_constant,
    logical_and,
    modulo,
    multiply,
    subtract,
)
from tileas_xdsl.threads.codegen.known_integers import constant_value, interval_of
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile, row_of
from tileas_xdsl.threads.gmem.pointers.base_arrays import origins, touches
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import thread_chunks
from tileas_xdsl.threads.registers.vector_values import constant_elements, joined, zero_of


@dataclass(frozen=True)
class Column:
    """A column of a tile: so many further than one that accesses of a thread share."""

    base: SSAValue
    """`i32`."""
    further: int = 0


@dataclass(frozen=True)
class RotatedRow:
    """A row of a tile in global memory whose elements begin at another column."""

    e: ThreadBuilder
    view: GlobalView
    width: int
    """Elements of the row, a power of two."""
    offset: SSAValue
    """Elements from the beginning of the array to column 0 of the tile, `i64`."""
    base: SSAValue
    """The address of column 0."""
    end: SSAValue
    """The first column that this thread does not access, `i32`; 0 and less for none at all."""
    shift: SSAValue
    """The column of element 0 of the tile, `i32`, maybe negative."""
    most: int | None
    """Columns that the row has at most, where that is known."""
    promised: int
    """Bytes that divide the address of element 0."""
    least: int
    """Columns that the row has at least, if it is in the array."""
    is_rewritten: bool
    """Whether the kernel stores to the array."""
    part: SSAValue | None = None
    """The column at which the tile would begin if it were not rotated; None if that is known."""
    ahead: int = 0
    """That column, where it is known."""
    parts: int = 1
    """In how many parts the row is accessed."""
    always_exists: bool = False
    """Whether it is known to be in the array, as the only row of one."""
    last: SSAValue | None = None
    """The end of the row if it exists, where all rounds of a loop rotate it alike."""
    exists_at_all: SSAValue | None = None
    """Whether it exists; None where that is known."""

    @staticmethod
    def of(
        e: ThreadBuilder,
        op: TiledLoadBase | TiledStoreOp,
        view: GlobalView,
        layout: RegisterLayout,
        guard: SSAValue | None,
        piece: AccessChunk | None = None,
    ) -> RotatedRow:
        """The row that an operation accesses, or that of a piece, where `guard` holds."""
        assert op.rotated is not None
        is_one = op.modulus is not None or all(extent == 1 for extent in layout.shape[:-1])
        if not is_one or view.strides[-1] != 1:
            raise op_error(op, "rotates rows of adjacent elements, several by offsets of their own")
        window = GlobalTile.of(e, op, view, layout.shape)
        first = piece or next(iter(thread_chunks(e, layout, bits_of(view.element))))
        start, width, part, ahead = window.starts[-1], layout.shape[-1], None, 0
        if op.row_width is not None:
            width, number = op.row_width.value.data, constant_value(start)
            if number is None:
                part = modulo(e, start, width)
                start = subtract(e, start, part)
                window = replace(window, starts=(*window.starts[:-1], start))
            else:
                ahead = number % width
                window = window.beginning(e, number - ahead)
                start = window.starts[-1]
        row = row_of(e, window, first, (start, window.scaled(e, -1, start)), guard)
        last, exists = _end(e, window, width, row.exists)
        return RotatedRow(
            e,
            view,
            width,
            row.offset,
            advance(e, view.pointer, row.offset),
            _if_it_exists(e, last, exists),
            shift_of_row(e, op, layout.shape, first.row),
            window.end,
            op.rotated.value.data,
            0 if part is not None else window.least,
            _is_rewritten(op),
            None if part is None else cast_index(e, part, i32),
            ahead,
            width // layout.shape[-1],
            row.exists is None and window.factors[-1] == 0,
            last if _is_alike_in_all_rounds(op) else None,
            exists,
        )

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return bits_of(self.view.element) // 8

    @property
    def begin(self) -> SSAValue:
        """The column of element 0 of the part of the row that the tile is, `i32`."""
        return self.shift if self.part is None else add(self.e, self.part, self.shift)

    def piece(self, chunk: AccessChunk) -> AccessChunk:
        """The piece of the row that a chunk of the tile is."""
        return replace(chunk, shift=chunk.shift + self.ahead) if self.ahead else chunk

    @property
    def never_wraps(self) -> bool:
        """Whether a row is known to end before the tile does, from wherever it begins on."""
        shift = interval_of(self.shift)
        if shift is None or self.most is None or self.part is not None:
            return False
        return shift[1] <= 0 and self.most - shift[0] <= self.width

    def may_begin_in(self, piece: AccessChunk) -> bool:
        """Whether columns of a piece may be in front of the row."""
        shift = interval_of(self.shift)
        return shift is None or piece.shift + shift[0] < 0

    def may_end_in(self, piece: AccessChunk) -> bool:
        """Whether columns of a piece may be behind the row, if the row exists."""
        shift = interval_of(self.shift)
        is_behind = shift is None or shift[1] > 0 or piece.span == 1
        return is_behind or piece.shift + piece.span > self.least

    def begins_before(self, count: int) -> bool:
        """Whether element 0 is known to be column 0, or fewer than so many in front of it."""
        shift = interval_of(self.shift)
        return shift is not None and -count < shift[0] and shift[1] <= 0

    def column(self, piece: AccessChunk, position: int = 0) -> Column:
        """The column of the tile that an element of a piece is.

        Only those at the beginning of a row wrap around: pieces further on are a constant away from
        the first one of the thread.
        """
        first = add(self.e, cast_index(self.e, piece.column, i32), self.begin)
        further = piece.shift + position
        if self.never_wraps or not self.may_begin_in(piece):
            return Column(first, further)
        return Column(modulo(self.e, add(self.e, first, further), self.width))

    def pointer(self, column: Column, count: int = 1) -> SSAValue:
        """The address of a column from which on `count` elements are accessed at once."""
        size = count * self.size
        return advance(self.e, advance(self.e, self.base, column.base, size), column.further, size)

    def is_inside(self, column: Column) -> SSAValue:
        """Whether a column is in bounds."""
        return self.is_whole(column, 1)

    def exists(self, column: Column, piece: AccessChunk) -> SSAValue | None:
        """Whether an element of a piece is in bounds."""
        return logical_and(self.e, self.are_inside(column, 1, piece), piece.exists)

    def are_inside(self, first: Column, count: int, piece: AccessChunk) -> SSAValue:
        """Whether so many columns of a piece are adjacent and in bounds, at either end."""
        ends = self.is_whole(first, count)
        if not (self.never_wraps and self.may_begin_in(piece)):
            return ends
        least = i32_constant(self.e, -first.further)
        begins = self.e.insert(arith.CmpiOp(first.base, least, "sge")).result
        return self.e.insert(arith.AndIOp(begins, ends)).result

    def is_whole(self, first: Column, count: int) -> SSAValue:
        """Whether so many columns are adjacent and in bounds.

        The distance from the end is compared with constants: one register serves all pieces.
        """
        left = subtract(self.e, first.base, self.end)
        most = i32_constant(self.e, -count - first.further)
        return self.e.insert(arith.CmpiOp(left, most, "sle")).result

    def is_never_inside(self, piece: AccessChunk) -> bool:
        """Whether a piece is known to be behind the end of the row in all threads."""
        shift = interval_of(self.shift)
        if self.most is None or shift is None or piece.span == 1 or self.part is not None:
            return False
        return piece.shift + shift[0] >= self.most

    def is_certain(self, piece: AccessChunk) -> bool:
        """Whether a piece is known to be inside of the row in all threads, if the row exists."""
        return not self.may_begin_in(piece) and not self.may_end_in(piece)

    def has(self, piece: AccessChunk, around: int) -> bool:
        """Whether a piece and as many columns on either side are known to be in the array."""
        shift = interval_of(self.shift)
        if shift is None or not self.always_exists or piece.span == 1:
            return False
        begin, end = piece.shift + shift[0], piece.shift + piece.span + shift[1]
        return begin >= around and end + around <= self.least

    def is_behind(self, first: Column, count: int) -> SSAValue:
        """Whether so many columns are behind the end, and none of them at the row's beginning."""
        e, place = self.e, add(self.e, first.base, first.further)
        behind = e.insert(arith.CmpiOp(place, self.end, "sge")).result
        last = i32_constant(e, self.width - count)
        adjacent = e.insert(arith.CmpiOp(place, last, "sle")).result
        return e.insert(arith.AndIOp(behind, adjacent)).result

    def is_promised(self, count: int) -> bool:
        """Whether vectors of so many elements are known to be aligned."""
        return self.promised_width(count) == count

    def promised_width(self, count: int) -> int:
        """Elements of the widest vectors that divide so many and are known to be aligned."""
        return max(gcd(self.promised, count * self.size) // self.size, 1)

    def beyond(self, count: int) -> SSAValue:
        """Elements from the last address of an aligned vector to that of element 0; `i32`."""
        e, view = self.e, self.view
        place = add(e, self.offset, extend_to_i64(e, self.shift))
        if view.alignment % (count * self.size):
            address = e.insert(PtrToIntOp(view.pointer)).result
            place = add(e, divide(e, address, self.size), place)
        return cast_index(e, modulo(e, place, count), i32)


def shift_of_row(
    e: ThreadBuilder,
    op: TiledLoadBase | TiledStoreOp,
    shape: Sequence[int],
    row: SSAValue | None,
) -> SSAValue:
    """The column of element 0 of a row, `i32`: of several, each is that of row 0 and some more."""
    *steps, shift = (cast_index(e, e.scalar(offset), i32) for offset in op.offsets)
    if op.modulus is None or row is None:
        return shift
    for axis in reversed(range(len(steps))):
        position = row if axis == 0 else modulo(e, row, shape[axis])
        shift = add(e, shift, multiply(e, cast_index(e, position, i32), steps[axis]))
        row = divide(e, row, shape[axis]) if axis else row
    zero = i32_constant(e, 0)
    return subtract(e, zero, modulo(e, subtract(e, zero, shift), op.modulus.value.data))


def _end(
    e: ThreadBuilder, window: GlobalTile, width: int, exists: SSAValue | None
) -> tuple[SSAValue, SSAValue | None]:
    """The first column of a row that is out of bounds, or its width; and whether there is a row."""
    start, limit = window.starts[-1], window.limits[-1]
    end = constant_like(e, start, width)
    if limit is not None:
        end = e.insert(arith.MinSIOp(subtract(e, limit, start), end)).result
        if window.factors[-1]:
            begins = e.insert(arith.CmpiOp(start, constant_like(e, start, 0), "sge")).result
            exists = logical_and(e, exists, begins)
    return cast_index(e, end, i32), exists


def _if_it_exists(e: ThreadBuilder, end: SSAValue, exists: SSAValue | None) -> SSAValue:
    """The end of a row, in front of all columns if it does not exist."""
    if exists is None:
        return end
    return e.insert(arith.SelectOp(exists, end, i32_constant(e, 0))).result


def _is_alike_in_all_rounds(op: TiledLoadBase | TiledStoreOp) -> bool:
    """Whether the innermost loop around an operation does not change how it is rotated."""
    loop = next((one for one in enclosing_ops(op) if isinstance(one, scf.ForOp)), None)
    return loop is not None and not any(loop.is_ancestor(v.owner) for v in op.offsets)


def _is_rewritten(op: TiledLoadBase | TiledStoreOp) -> bool:
    """Whether the kernel may store to the array of an access."""
    arrays, function = origins(op.view), enclosing_function(op)
    assert function is not None
    found = touches(operations_in(function))
    return any(one.writes and one.arrays & arrays for one in found)


Vectors = Callable[[AccessChunk, SSAValue | None], SSAValue]
"""Loads the vector of a piece, where a condition holds."""


@dataclass(frozen=True)
class RowLoads:
    """How pieces of a row are loaded that are not one vector of it."""

    e: ThreadBuilder
    row: RotatedRow
    padding: FloatAttr | IntegerAttr | None
    vector: Vectors | None = None
    """Loads the vector of a piece from where it has been copied to, where a condition holds.

    There is padding of pieces that are certain to be inside of the row, if it does not exist.
    """

    def each(self, piece: AccessChunk) -> list[SSAValue]:
        """A piece of which each element is loaded on its own."""
        e, row = self.e, self.row
        found: list[SSAValue] = []
        for k in range(piece.count):
            column = row.column(piece, k)
            exists = row.exists(column, piece)
            made = LoadOp(row.pointer(column), row.view.element, exists, fill=self.padding)
            found.append(e.insert(made).result)
        return [joined(e, found)]

    def nothing(self, piece: AccessChunk) -> list[SSAValue]:
        """A piece behind the end of the row."""
        number = self.padding or zero_of(self.row.view.element)
        return [constant_elements(self.e, number, piece.count)]

    def by_elements(self, piece: AccessChunk) -> list[SSAValue]:
        """A piece behind the end, or of elements."""
        e, row = self.e, self.row
        behind = row.is_behind(row.column(piece), piece.count)
        return [*either(e, behind, partial(self.nothing, piece), partial(self.each, piece))]


def either(
    e: ThreadBuilder,
    condition: SSAValue | None,
    first: Callable[[], list[SSAValue]],
    second: Callable[[], list[SSAValue]],
) -> Sequence[SSAValue]:
    """The results of either, in a branch that threads of a warp take apart."""
    if condition is None:
        return first()
    blocks, given = (Block(), Block()), list[list[SSAValue]]()
    for block, access in zip(blocks, (first, second), strict=True):
        with e.within(block):
            given.append(access())
            e.insert(scf.YieldOp(*given[-1]))
    types = [value.type for value in given[0]]
    return e.insert(scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1]))).results
