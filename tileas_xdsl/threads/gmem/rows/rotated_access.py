"""Loads and stores of rows that are rotated so that vectors of unaligned rows are aligned.

Element `p` of a row of a tile is column `(p + offset) mod width`.  A vector of a thread is
one access where its columns are adjacent, in bounds and aligned, and single elements elsewhere:
where the row begins, ends and wraps around, which is in two vectors of a row.  Of several rows
each has an offset of its own.

    a row of 4095 f16 that begins 3 elements behind a multiple of 16 bytes: offset -3
    elements     0 .. 7                  8 .. 15       ...     4088 .. 4095
    columns      4093 .. 4095, 0 .. 4    5 .. 12               4085 .. 4092
    accesses     7 elements              a vector              a vector

Loads of other rows, as of weights, are not aligned by that: their vectors are cut out of two that
are (`vector_cuts.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    i32_constant,
    is_equal,
    logical_and,
    subtract,
)
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.rows.rotated_row import Column, RotatedRow, RowLoads, either
from tileas_xdsl.threads.gmem.rows.row_ends import RowEnds
from tileas_xdsl.threads.gmem.rows.vector_cuts import VectorCut
from tileas_xdsl.threads.gmem.rows.vectors_around import load_around
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import thread_chunks
from tileas_xdsl.threads.registers.vector_values import (
    assembled,
    element,
    joined,
    strip,
)

MAX_SINGLES = 16
"""Elements of a row in a thread up to which loads of each take less time than cut vectors."""


LEAST_PART_BYTES = 8
"""Of vectors that are known to be aligned: two take less than one that is cut out of two."""


Rows = Callable[[AccessChunk], RotatedRow]
"""The row of a piece."""


def rows_of(
    e: ThreadBuilder,
    op: TiledLoadBase | TiledStoreOp,
    view: GlobalView,
    layout: RegisterLayout,
    guard: SSAValue | None,
) -> Rows:
    """The rows that an operation accesses, where `guard` holds."""
    made: dict[int, RotatedRow] = {}

    def row_of(piece: AccessChunk) -> RotatedRow:
        line = 0 if op.modulus is None else piece.line
        if line not in made:
            made[line] = RotatedRow.of(e, op, view, layout, guard, piece)
        return made[line]

    return row_of


def load_rotated(
    e: ThreadBuilder,
    rows: Rows,
    layout: RegisterLayout,
    kind: Attribute,
    loads_of: Callable[[RotatedRow], RowLoads],
) -> RegisterTile:
    """Load a tile of rotated rows by the pieces of a thread, all vectors before any of their ends.

    `loads_of` says what is in columns out of bounds, and where vectors are loaded from.
    """
    return _begun(e, rows, layout, kind, loads_of, is_awaited=False)()


def begin_rotated(
    e: ThreadBuilder,
    rows: Rows,
    layout: RegisterLayout,
    kind: Attribute,
    loads_of: Callable[[RotatedRow], RowLoads],
) -> Callable[[], RegisterTile]:
    """Load the vectors that are in such a tile; what is returned makes its elements of them."""
    return _begun(e, rows, layout, kind, loads_of, is_awaited=True)


def _begun(
    e: ThreadBuilder,
    rows: Rows,
    layout: RegisterLayout,
    kind: Attribute,
    loads_of: Callable[[RotatedRow], RowLoads],
    *,
    is_awaited: bool,
) -> Callable[[], RegisterTile]:
    pieces = [rows(chunk).piece(chunk) for chunk in thread_chunks(e, layout, bits_of(kind))]
    inside = [piece for piece in pieces if not rows(piece).is_never_inside(piece)]
    of_row: dict[int, list[AccessChunk]] = {}
    for piece in inside:
        of_row.setdefault(id(rows(piece)), []).append(piece)
    begun = [
        (own, _loading(loads_of(rows(own[0])), own, is_awaited=is_awaited))
        for own in of_row.values()
    ]

    def finished() -> RegisterTile:
        found = {
            (piece.block, piece.register): value
            for own, finish in begun
            for piece, value in zip(own, finish(), strict=True)
        }

        def load(piece: AccessChunk) -> SSAValue:
            value = found.get((piece.block, piece.register))
            return loads_of(rows(piece)).nothing(piece)[0] if value is None else value

        return assembled(e, layout, kind, load)

    return finished


def _loading(
    loads: RowLoads, pieces: Sequence[AccessChunk], *, is_awaited: bool
) -> Callable[[], Sequence[SSAValue]]:
    """Begin to load the pieces of a row; what is returned makes them whole.

    What is not awaited later is loaded as registers for it are free.
    """
    row, count = loads.row, pieces[0].count
    if count == 1 or count * 8 * row.size < WORD_BITS:
        return lambda: [loads.each(piece)[0] for piece in pieces]
    if row.is_promised(count) and row.begins_before(count) and all(p.span > 1 for p in pieces):
        return load_around(loads, pieces)
    make, together = _form_of(row, pieces)
    if is_awaited:
        vectors = [make(piece) for piece in pieces]
        return lambda: _by_vectors(loads.e, vectors, loads.by_elements)
    return lambda: [
        value
        for k in range(0, len(pieces), together)
        for value in _by_vectors(
            loads.e, [make(piece) for piece in pieces[k : k + together]], loads.by_elements
        )
    ]


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
    if width * row.size >= LEAST_PART_BYTES or count * len(pieces) * row.parts <= MAX_SINGLES:
        return partial(_parts, row, width), 1
    return _Pairs.of(row, count).loaded, 1


def store_rotated(e: ThreadBuilder, rows: Rows, tile: RegisterTile) -> None:
    """Store a tile of rotated rows; what is out of bounds is not stored."""

    def each(piece: AccessChunk) -> list[SSAValue]:
        row = rows(piece)
        ends = RowEnds.of(row, piece) if row.never_wraps else None
        for k in range(piece.count):
            column = row.column(piece, k)
            value = element(e, tile.parts[piece.block], piece.register + k)
            has = row.exists(column, piece) if ends is None else ends.has(k)
            e.insert(StoreOp(value, row.pointer(column), logical_and(e, has, piece.exists)))
        return []

    def by_elements(piece: AccessChunk) -> list[SSAValue]:
        row = rows(piece)
        if row.never_wraps:
            return each(piece)
        behind = row.is_behind(row.column(piece), piece.count)
        return [*either(e, behind, list, partial(each, piece))]

    chunks = thread_chunks(e, tile.layout, bits_of(tile.element), stored=True)
    every = [rows(chunk).piece(chunk) for chunk in chunks]
    pieces = [piece for piece in every if not rows(piece).is_never_inside(piece)]
    wholes = [_is_whole_store(rows(piece), piece) for piece in pieces]
    for piece, whole in zip(pieces, wholes, strict=True):
        if whole is not None:
            row = rows(piece)
            value = strip(e, tile.parts[piece.block], piece.register, piece.count)
            pointer = row.pointer(row.column(piece), piece.count)
            e.insert(StoreOp(value, pointer, whole))

    def rest() -> list[SSAValue]:
        for piece, whole in zip(pieces, wholes, strict=True):
            row = rows(piece)
            if row.is_certain(piece) and row.is_promised(piece.count):
                continue
            either(e, whole, list, partial(by_elements, piece))
        return []

    either(e, _all(e, wholes), list, rest)


@dataclass(frozen=True)
class _Vector:
    """The elements of a piece, where they are whole vectors."""

    piece: AccessChunk
    is_whole: SSAValue | None
    """None where it is known."""
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

    def one_by_one() -> list[SSAValue]:
        return [
            either(e, v.is_whole, partial(v.finish, v.loaded), partial(by_elements, v.piece))[0]
            for v in vectors
        ]

    return either(e, _all(e, [v.is_whole for v in vectors]), finished, one_by_one)


def _all(e: ThreadBuilder, conditions: Sequence[SSAValue | None]) -> SSAValue | None:
    """Whether all conditions hold."""
    found: SSAValue | None = None
    for condition in conditions:
        found = logical_and(e, found, condition)
    return found


def _is_whole_store(row: RotatedRow, piece: AccessChunk) -> SSAValue | None:
    """Whether a piece is one store."""
    e, count = row.e, piece.count
    whole = logical_and(e, row.are_inside(row.column(piece), count, piece), piece.exists)
    if row.is_promised(count):
        return whole
    return logical_and(e, whole, is_equal(e, row.beyond(count), 0))


def _loaded(row: RotatedRow, first: Column, count: int, whole: SSAValue | None) -> SSAValue:
    """So many elements from a column on, which is aligned."""
    type_ = VectorType(row.view.element, [count])
    return row.e.insert(LoadOp(row.pointer(first, count), type_, whole)).result


def _parts(row: RotatedRow, width: int, piece: AccessChunk) -> _Vector:
    """The elements of a piece that is whole, so many at once."""
    e, kind = row.e, row.view.element
    first = row.column(piece)
    whole = None if row.has(piece, 0) else row.are_inside(first, piece.count, piece)
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
        whole = None if row.has(piece, self.count) else self._are_inside(Column(begin, further))
        places = [Column(begin, further + k * self.count) for k in range(2)]
        both = [_loaded(row, place, self.count, whole) for place in places]
        return _Vector(piece, whole, both, lambda loaded: [self.cut.cut_out(loaded)])

    def _are_inside(self, begin: Column) -> SSAValue:
        """Whether two vectors from a column on are in the row."""
        e = self.row.e
        first = i32_constant(e, -begin.further)
        starts = e.insert(arith.CmpiOp(begin.base, first, "sge")).result
        inside = self.row.is_whole(begin, 2 * self.count)
        return e.insert(arith.AndIOp(inside, starts)).result
