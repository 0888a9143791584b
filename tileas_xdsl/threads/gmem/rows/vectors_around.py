"""Loads of the aligned vectors that a row is in, whole, where it begins and ends between two.

    a row of 4093 f16 that begins 3 elements behind a multiple of 16 bytes
    elements of the tile   0 .. 7                    8 .. 15    ...   4088 .. 4095
    columns               -3 .. -1, 0 .. 4           5 .. 12          4085 .. 4092
    loaded                the row before, and 0 .. 4                  a vector

What is loaded of the rows before and behind is replaced by the padding.  Loads of single elements
instead, of which the last ones waited for the first vectors, kept a CTA waiting for memory twice.
Vectors that reach behind the array are loaded by elements, as those of the last row may, and so are
all where the kernel stores to the array: other tile blocks may be about to store what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import LoadOp
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import compute_in_front
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    as_int64,
    cast_index,
    i1_constant,
    i32_constant,
    i64_constant,
    logical_and,
    multiply,
    subtract,
)
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.gmem.rows.rotated_row import (
    Column,
    RotatedRow,
    RowLoads,
    Vectors,
    either,
)
from tileas_xdsl.threads.gmem.rows.row_ends import RowEnds
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.vector_values import element, joined, zero_of


def load_around(loads: RowLoads, pieces: Sequence[AccessChunk]) -> Callable[[], Sequence[SSAValue]]:
    """Load pieces of a row that begin at aligned addresses; what is returned pads them."""
    inside = InsideVectors.of(loads, pieces)
    if inside is not None and loads.vector is not None:
        return partial(inside.loaded, loads.vector)
    around = VectorsAround.of(loads, pieces[0].count)
    loaded = {piece: around.loaded(piece) for piece in pieces}
    return partial(_padded, around, loaded)


def _padded(around: VectorsAround, loaded: Mapping[AccessChunk, SSAValue]) -> Sequence[SSAValue]:
    """The vectors of a row with padding for what is not in it."""
    loads, found = around.loads, dict(loaded)
    inside = [piece for piece in found if loads.row.is_certain(piece)]
    if inside and loads.vector is None:
        # Nothing but a row that does not exist ends in these.
        given = either(
            loads.e,
            around.is_whole(inside[-1]),
            lambda: [loaded[piece] for piece in inside],
            lambda: [loads.nothing(piece)[0] for piece in inside],
        )
        found |= dict(zip(inside, given, strict=True))
    return [v if p in inside else around.masked(p, v) for p, v in found.items()]


@dataclass(frozen=True)
class VectorsAround:
    """The vectors of a row, and how far they may reach beyond it."""

    loads: RowLoads
    count: int
    """Elements of a vector."""
    reach: SSAValue
    """The column behind the last one that may be loaded, `i32`."""
    begins: SSAValue
    """Whether the vector in which the row begins is in the array."""

    @staticmethod
    def of(loads: RowLoads, count: int) -> VectorsAround:
        """The vectors of the row of some loads."""
        e, row = loads.e, loads.row
        if row.is_rewritten:
            return VectorsAround(loads, count, row.end, i1_constant(e, False))
        zero, end = i64_constant(e, 0), as_int64(e, row.end)
        begin = add(e, row.offset, as_int64(e, row.shift))
        begins = e.insert(arith.CmpiOp(begin, zero, "sge")).result
        left = subtract(e, _elements_of(e, row.view), row.offset)
        reach = e.insert(arith.MinSIOp(left, add(e, end, count - 1))).result
        exists = e.insert(arith.CmpiOp(end, zero, "sgt")).result
        reach = e.insert(arith.SelectOp(exists, reach, zero)).result
        return VectorsAround(loads, count, cast_index(e, reach, i32), begins)

    @staticmethod
    def is_inside(loads: RowLoads, count: int) -> SSAValue | None:
        """Whether a row exists, and all of its vectors are in the array.

        Asked of rows that all rounds of a loop rotate alike: all else is known in front of it.
        """
        e, row = loads.e, loads.row
        if row.last is None or not row.never_wraps or row.is_rewritten:
            return None
        zero, end = i64_constant(e, 0), as_int64(e, row.last)
        most = subtract(e, _elements_of(e, row.view), add(e, end, count - 1))
        least = subtract(e, zero, as_int64(e, row.shift))
        begins = e.insert(arith.CmpiOp(row.offset, compute_in_front(least), "sge")).result
        ends = e.insert(arith.CmpiOp(row.offset, compute_in_front(most), "sle")).result
        return logical_and(e, logical_and(e, row.exists_at_all, begins), ends)

    def column(self, piece: AccessChunk) -> Column:
        """The first column of a piece: that of the first one may be in the row before."""
        return first_column(self.loads.row, piece)

    def is_whole(self, piece: AccessChunk) -> SSAValue:
        """Whether a piece is in the row."""
        return is_whole(self.loads.row, piece)

    def loaded(self, piece: AccessChunk) -> SSAValue:
        """The vector of a piece, where it is in the array and meets the row."""
        e, row = self.loads.e, self.loads.row
        if self.loads.vector is not None and row.is_certain(piece):
            return self.loads.vector(piece, piece.exists)
        exists = logical_and(e, self.is_there(piece), piece.exists)
        if self.loads.vector is not None:
            return self.loads.vector(piece, exists)
        pointer = row.pointer(self.column(piece), self.count)
        return e.insert(LoadOp(pointer, VectorType(row.view.element, [self.count]), exists)).result

    def masked(self, piece: AccessChunk, loaded: SSAValue) -> SSAValue:
        """A piece with padding for what is not in the row."""
        e, loads = self.loads.e, self.loads

        def of_elements() -> list[SSAValue]:
            selected = partial(self._selected, piece, loaded)
            return [*either(e, self.is_there(piece), selected, partial(loads.each, piece))]

        def in_part() -> list[SSAValue]:
            padding = loads.padding or zero_of(loads.row.view.element)
            return [RowEnds.of(loads.row, piece).kept(loaded, padding)]

        def not_whole() -> list[SSAValue]:
            if loads.row.never_wraps:
                is_behind = self._is_behind_array(piece)
                return [*either(e, is_behind, partial(loads.each, piece), in_part)]
            met = loads.row.is_inside(self.column(piece))
            return [*either(e, met, of_elements, partial(loads.nothing, piece))]

        return either(e, self.is_whole(piece), lambda: [loaded], not_whole)[0]

    def is_there(self, piece: AccessChunk) -> SSAValue:
        """Whether the vector of a piece may be loaded."""
        e, column = self.loads.e, self.column(piece)
        left = subtract(e, column.base, self.reach)
        most = i32_constant(e, -self.count - column.further)
        ends = e.insert(arith.CmpiOp(left, most, "sle")).result
        if piece.shift:
            return ends
        begun = _begins(self.loads.row, piece)
        begins = e.insert(arith.OrIOp(self.begins, begun)).result
        return e.insert(arith.AndIOp(ends, begins)).result

    def _is_behind_array(self, piece: AccessChunk) -> SSAValue:
        """Whether a piece has elements of the row, and its vector ends beyond the array."""
        e = self.loads.e
        met = self.loads.row.is_inside(self.column(piece))
        is_there = e.insert(arith.XOrIOp(self.is_there(piece), i1_constant(e, True))).result
        return e.insert(arith.AndIOp(met, is_there)).result

    def _selected(self, piece: AccessChunk, loaded: SSAValue) -> list[SSAValue]:
        e, row = self.loads.e, self.loads.row
        first, found = self.column(piece), list[SSAValue]()
        for k in range(self.count):
            inside = row.is_inside(Column(first.base, first.further + k))
            other = e.insert(arith.ConstantOp(self.loads.padding or zero_of(row.view.element)))
            missing: SSAValue = other.result
            if piece.shift == 0 and k < self.count - 1:
                begun = e.insert(arith.CmpiOp(first.base, i32_constant(e, -k), "sge")).result
                inside = e.insert(arith.AndIOp(inside, begun)).result
                missing = self._wrapped(first, k, missing)
            mine = element(e, loaded, k)
            found.append(e.insert(arith.SelectOp(inside, mine, missing)).result)
        return [joined(e, found)]

    def _wrapped(self, first: Column, k: int, missing: SSAValue) -> SSAValue:
        """What the tile has in front of column 0: the end of a row that nearly fills it."""
        e, row = self.loads.e, self.loads.row
        if row.most is not None and row.most <= row.width - self.count:
            return missing
        last = Column(first.base, row.width + k)
        begun = e.insert(arith.CmpiOp(first.base, i32_constant(e, -k), "slt")).result
        exists = e.insert(arith.AndIOp(begun, row.is_inside(last))).result
        made = LoadOp(row.pointer(last), row.view.element, exists, fill=self.loads.padding)
        return e.insert(made).result


def first_column(row: RotatedRow, piece: AccessChunk) -> Column:
    """Return the first column of a piece: that of the first one may be in the row before."""
    return Column(add(row.e, cast_index(row.e, piece.column, i32), row.begin), piece.shift)


def is_whole(row: RotatedRow, piece: AccessChunk) -> SSAValue:
    """Return whether a piece is in the row."""
    ends = row.is_whole(first_column(row, piece), piece.count)
    return ends if piece.shift else row.e.insert(arith.AndIOp(ends, _begins(row, piece))).result


def _begins(row: RotatedRow, piece: AccessChunk) -> SSAValue:
    """Return whether the first piece is behind the beginning of the row."""
    first = first_column(row, piece).base
    return row.e.insert(arith.CmpiOp(first, i32_constant(row.e, 0), "sge")).result


@dataclass(frozen=True)
class InsideVectors:
    """The vectors of a row that all rounds of a loop rotate alike, most of which are in the array.

    What of them is in the row is known in front of the loop; one branch is left for all of them.
    """

    loads: RowLoads
    pieces: Sequence[AccessChunk]
    last: SSAValue
    """The end of the row, if it exists."""
    holds: SSAValue

    @staticmethod
    def of(loads: RowLoads, pieces: Sequence[AccessChunk]) -> InsideVectors | None:
        """Return the vectors of a row; None of rows that each round may rotate otherwise."""
        holds = VectorsAround.is_inside(loads, pieces[0].count)
        last = loads.row.last
        return None if holds is None or last is None else InsideVectors(loads, pieces, last, holds)

    def meets(self, piece: AccessChunk) -> SSAValue | None:
        """Whether a piece has elements of the row."""
        e, row = self.loads.e, self.loads.row
        if not row.may_end_in(piece):
            return piece.exists
        column = add(e, cast_index(e, piece.column, i32), row.begin)
        left = subtract(e, column, self.last)
        met = e.insert(arith.CmpiOp(left, i32_constant(e, -piece.shift), "slt")).result
        return logical_and(e, met, piece.exists)

    def loaded(self, vector: Vectors) -> Sequence[SSAValue]:
        """Load the pieces from where they have been copied to, with padding around the row."""
        e, row, padding = self.loads.e, self.loads.row, self.loads.padding
        ends = {
            piece: RowEnds.of_existing(row, piece, self.last)
            for piece in self.pieces
            if not row.is_certain(piece)
        }
        choices = {
            piece: [*map(compute_in_front, end.choices(piece.count))] for piece, end in ends.items()
        }
        met = {piece: self.meets(piece) for piece in self.pieces}

        def inside() -> list[SSAValue]:
            found = {piece: vector(piece, met[piece]) for piece in self.pieces}
            other = padding or zero_of(row.view.element)
            found |= {p: ends[p].chosen(found[p], other, choices[p]) for p in ends}
            return [*found.values()]

        def others() -> list[SSAValue]:
            around = VectorsAround.of(self.loads, self.pieces[0].count)
            return [*_padded(around, {piece: around.loaded(piece) for piece in self.pieces})]

        return either(e, self.holds, inside, others)


def _elements_of(e: ThreadBuilder, view: GlobalView) -> SSAValue:
    """The elements from the beginning of an array to its end, `i64`."""
    found = i64_constant(e, 1)
    for extent, stride in zip(view.extents, view.strides, strict=True):
        number = i64_constant(e, extent) if isinstance(extent, int) else as_int64(e, extent)
        further = i64_constant(e, stride) if isinstance(stride, int) else as_int64(e, stride)
        found = add(e, found, multiply(e, add(e, number, -1), further))
    return found
