"""Loads and stores of rows that are rotated so that vectors of unaligned rows are aligned.

Element `p` of the only row of a tile is column `(p + offset) mod width`.  A vector of a thread is
one access where its columns are adjacent, in bounds and aligned, and single elements elsewhere:
where the row begins, ends and wraps around, which is in two vectors of a row.

    a row of 4095 f16 that begins 3 elements behind a multiple of 16 bytes: offset -3
    elements     0 .. 7                  8 .. 15       ...     4088 .. 4095
    columns      4093 .. 4095, 0 .. 4    5 .. 12               4085 .. 4092
    accesses     7 elements              a vector              a vector

Loads of other rows, as of weights, are not aligned by that: their vectors are cut out of two that
are (`vector_cuts.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import gcd

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType, i32
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, PtrToIntOp, StoreOp
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
    is_equal,
    logical_and,
    modulo,
    subtract,
)
from tileas_xdsl.threads.codegen.known_integers import interval_of
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile, row_of
from tileas_xdsl.threads.gmem.vector_cuts import WORD, VectorCut
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import thread_chunks
from tileas_xdsl.threads.registers.vector_values import (
    assembled,
    constant_elements,
    element,
    joined,
    strip,
    zero_of,
)

MAX_SINGLES = 16
"""Elements of a thread up to which loads of each take less time than vectors that are cut."""


LEAST_PART_BYTES = 8
"""Of vectors that are known to be aligned: two take less than one that is cut out of two."""


@dataclass(frozen=True)
class Column:
    """A column of a tile: so many further than one that accesses of a thread share."""

    base: SSAValue
    """`i32`."""
    further: int = 0


@dataclass(frozen=True)
class RotatedRow:
    """The row of a tile in global memory whose elements begin at another column."""

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
    part: SSAValue | None = None
    """The column at which the tile would begin if it were not rotated; None for 0."""

    @staticmethod
    def of(
        e: ThreadBuilder,
        op: TiledLoadBase | TiledStoreOp,
        view: GlobalView,
        layout: RegisterLayout,
        guard: SSAValue | None,
    ) -> RotatedRow:
        """The row that an operation accesses, where `guard` holds."""
        assert op.rotated is not None
        if any(extent != 1 for extent in layout.shape[:-1]) or view.strides[-1] != 1:
            raise op_error(op, "rotates a row of adjacent elements, not several or others")
        window = GlobalTile.of(e, op, view, layout.shape)
        first = next(iter(thread_chunks(e, layout, bits_of(view.element))))
        start, width, part = window.starts[-1], layout.shape[-1], None
        if op.row_width is not None:
            width = op.row_width.value.data
            part = modulo(e, start, width)
            start = subtract(e, start, part)
            window = replace(window, starts=(*window.starts[:-1], start))
        row = row_of(e, window, first, (start, window.scaled(e, -1, start)), guard)
        return RotatedRow(
            e,
            view,
            width,
            row.offset,
            advance(e, view.pointer, row.offset),
            _end(e, window, width, row.exists),
            cast_index(e, e.scalar(op.offsets[-1]), i32),
            window.end,
            op.rotated.value.data,
            None if part is None else cast_index(e, part, i32),
        )

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return bits_of(self.view.element) // 8

    def column(self, piece: AccessChunk, position: int = 0) -> Column:
        """The column of the tile that an element of a piece is.

        Only those at the beginning of a row wrap around: pieces further on are a constant away from
        the first one of the thread.
        """
        begin = self.shift if self.part is None else add(self.e, self.part, self.shift)
        first = add(self.e, cast_index(self.e, piece.column, i32), begin)
        further = piece.shift + position
        shift = interval_of(self.shift)
        if shift is not None and piece.shift + shift[0] >= 0:
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
        return logical_and(self.e, self.is_inside(column), piece.exists)

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


def _end(e: ThreadBuilder, window: GlobalTile, width: int, exists: SSAValue | None) -> SSAValue:
    """The first column of a row that is out of bounds, or its width; none is in bounds else."""
    start, limit = window.starts[-1], window.limits[-1]
    end = constant_like(e, start, width)
    if limit is not None:
        end = e.insert(arith.MinSIOp(subtract(e, limit, start), end)).result
        if window.factors[-1]:
            begins = e.insert(arith.CmpiOp(start, constant_like(e, start, 0), "sge")).result
            exists = logical_and(e, exists, begins)
    end = cast_index(e, end, i32)
    if exists is None:
        return end
    return e.insert(arith.SelectOp(exists, end, i32_constant(e, 0))).result


def load_rotated(
    e: ThreadBuilder,
    row: RotatedRow,
    layout: RegisterLayout,
    padding: FloatAttr | IntegerAttr | None,
) -> RegisterTile:
    """Load a tile whose row is rotated; `padding` is in columns that are out of bounds."""
    kind = row.view.element

    def each(piece: AccessChunk) -> list[SSAValue]:
        found: list[SSAValue] = []
        for k in range(piece.count):
            column = row.column(piece, k)
            made = LoadOp(row.pointer(column), kind, row.exists(column, piece), fill=padding)
            found.append(e.insert(made).result)
        return [joined(e, found)]

    def nothing(piece: AccessChunk) -> list[SSAValue]:
        return [constant_elements(e, padding or zero_of(kind), piece.count)]

    def by_elements(piece: AccessChunk) -> list[SSAValue]:
        behind = row.is_behind(row.column(piece), piece.count)
        return [*_either(e, behind, partial(nothing, piece), partial(each, piece))]

    every = list(thread_chunks(e, layout, bits_of(kind)))
    pieces = [piece for piece in every if not row.is_never_inside(piece)]
    if pieces[0].count == 1 or pieces[0].count * bits_of(kind) < WORD:
        found = [each(piece)[0] for piece in pieces]
    else:
        make, together = _form_of(row, pieces)
        found = [
            value
            for k in range(0, len(pieces), together)
            for value in _by_vectors(
                e, [make(piece) for piece in pieces[k : k + together]], by_elements
            )
        ]
    loaded = iter(found)

    def load(piece: AccessChunk) -> SSAValue:
        return nothing(piece)[0] if row.is_never_inside(piece) else next(loaded)

    return assembled(e, layout, kind, load)


def _form_of(
    row: RotatedRow, pieces: Sequence[AccessChunk]
) -> tuple[Callable[[AccessChunk], _Vector], int]:
    """How whole pieces are loaded, and how many at one time.

    Vectors that are put together of two need registers for both, so that one is done after another.
    """
    count = pieces[0].count
    width = row.promised_width(count)
    if width == count:
        return partial(_parts, row, width), len(pieces)
    if width * row.size >= LEAST_PART_BYTES or count * len(pieces) <= MAX_SINGLES:
        return partial(_parts, row, width), 1
    return _Pairs.of(row, count).loaded, 1


def store_rotated(e: ThreadBuilder, row: RotatedRow, tile: RegisterTile) -> None:
    """Store a tile whose row is rotated; what is out of bounds is not stored."""
    kind = row.view.element

    def each(piece: AccessChunk) -> list[SSAValue]:
        for k in range(piece.count):
            column = row.column(piece, k)
            value = element(e, tile.parts[piece.block], piece.register + k)
            e.insert(StoreOp(value, row.pointer(column), row.exists(column, piece)))
        return []

    def by_elements(piece: AccessChunk) -> list[SSAValue]:
        behind = row.is_behind(row.column(piece), piece.count)
        return [*_either(e, behind, list, partial(each, piece))]

    every = thread_chunks(e, tile.layout, bits_of(kind), stored=True)
    pieces = [piece for piece in every if not row.is_never_inside(piece)]
    wholes = [_is_whole_store(row, piece) for piece in pieces]
    for piece, whole in zip(pieces, wholes, strict=True):
        if whole is not None:
            value = strip(e, tile.parts[piece.block], piece.register, piece.count)
            pointer = row.pointer(row.column(piece), piece.count)
            e.insert(StoreOp(value, pointer, whole))

    def rest() -> list[SSAValue]:
        for piece, whole in zip(pieces, wholes, strict=True):
            _either(e, whole, list, partial(by_elements, piece))
        return []

    _either(e, _all(e, wholes), list, rest)


@dataclass(frozen=True)
class _Vector:
    """The elements of a piece, where they are whole vectors."""

    piece: AccessChunk
    is_whole: SSAValue
    loaded: Sequence[SSAValue]
    finish: Callable[[Sequence[SSAValue]], list[SSAValue]]
    """What is done with what was loaded when all has been."""


def _by_vectors(
    e: ThreadBuilder,
    vectors: Sequence[_Vector],
    by_elements: Callable[[AccessChunk], list[SSAValue]],
) -> Sequence[SSAValue]:
    """The pieces that are vectors, and others by elements, which wait behind all vectors."""

    def finished() -> list[SSAValue]:
        return [v.finish(v.loaded)[0] for v in vectors]

    def by_either() -> list[SSAValue]:
        return [
            _either(e, v.is_whole, partial(v.finish, v.loaded), partial(by_elements, v.piece))[0]
            for v in vectors
        ]

    return _either(e, _all(e, [v.is_whole for v in vectors]), finished, by_either)


def _all(e: ThreadBuilder, conditions: Sequence[SSAValue | None]) -> SSAValue | None:
    """Whether all conditions hold."""
    found: SSAValue | None = None
    for condition in conditions:
        found = logical_and(e, found, condition)
    return found


def _is_whole_store(row: RotatedRow, piece: AccessChunk) -> SSAValue | None:
    """Whether a piece is one store."""
    e, count = row.e, piece.count
    whole = logical_and(e, row.is_whole(row.column(piece), count), piece.exists)
    if row.is_promised(count):
        return whole
    return logical_and(e, whole, is_equal(e, row.beyond(count), 0))


def _loaded(row: RotatedRow, first: Column, count: int, whole: SSAValue) -> SSAValue:
    """So many elements from a column on, which is aligned."""
    type_ = VectorType(row.view.element, [count])
    return row.e.insert(LoadOp(row.pointer(first, count), type_, whole)).result


def _parts(row: RotatedRow, width: int, piece: AccessChunk) -> _Vector:
    """The elements of a piece that is whole, so many at once."""
    e, kind = row.e, row.view.element
    first = row.column(piece)
    whole = row.is_whole(first, piece.count)
    type_ = kind if width == 1 else VectorType(kind, [width])
    begin, found = row.pointer(first, width), list[SSAValue]()
    for k in range(0, piece.count, width):
        made = LoadOp(advance(e, begin, k, width * row.size), type_, whole)
        found.append(e.insert(made).result)
    return _Vector(piece, whole, found, lambda loaded: [joined(e, loaded)])


@dataclass(frozen=True)
class _Pairs:
    """Vectors that two aligned ones contain, all of them from the same element on."""

    row: RotatedRow
    count: int
    beyond: SSAValue
    """That element, `i32`."""
    cut: VectorCut

    @staticmethod
    def of(row: RotatedRow, count: int) -> _Pairs:
        """The vectors of a row; what they have in common is computed once."""
        beyond, bits = row.beyond(count), 8 * row.size
        cut = VectorCut.of(row.e, beyond, count * bits, bits, 8 * row.promised)
        return _Pairs(row, count, beyond, cut)

    def loaded(self, piece: AccessChunk) -> _Vector:
        """The two vectors that a piece is in."""
        e, row = self.row.e, self.row
        column = row.column(piece)
        begin, further = subtract(e, column.base, self.beyond), column.further
        starts = e.insert(arith.CmpiOp(begin, i32_constant(e, -further), "sge")).result
        inside = row.is_whole(Column(begin, further), 2 * self.count)
        whole = e.insert(arith.AndIOp(inside, starts)).result
        places = [Column(begin, further + k * self.count) for k in range(2)]
        both = [_loaded(row, place, self.count, whole) for place in places]
        return _Vector(piece, whole, both, lambda loaded: [self.cut.cut_out(loaded)])


def _either(
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
