"""Addresses and bounds of a thread's accesses to its part of a tile in global memory.

Elements out of bounds are not accessed.  They are not tested one by one where a uniform test shows
that all but the last chunks of threads are in bounds, which then are whole even if rows end within
a chunk:

    row of 4096, 128 threads, element 128 k + t of thread t
    %ok = extent >= 3968
    scf.if %ok { 31 loads, and one if 3968 + t < extent } else { 32 loads if 128 k + t < extent }

    the same of 4 chunks of 8 elements
    scf.if %ends_between_chunks { 4 vectors } else {
      %ok = extent >= 3072
      scf.if %ok { 3 vectors, and 8 elements that are tested } else { 32 elements that are tested }
    }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import LoadOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.access_chunks import access_chunks
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.mma.warp_tiles import PAIR, is_accumulator
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    as_int64,
    logical_and,
    multiply,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    RegisterTile,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile, Row, row_of
from tileas_xdsl.threads.gmem.memory_order import WEAK, MemoryOrder
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import (
    thread_chunks,
)
from tileas_xdsl.threads.registers.encoded_chunks import chunk_elements
from tileas_xdsl.threads.registers.vector_values import (
    element,
    joined,
)

WORTH_A_TEST = 4
"""Accesses of a thread to a row from which on one test saves those of each."""

UNKNOWN = 1 << 62
"""Columns that are behind the end of every tile."""

MAX_BITS = 128
"""Of the widest access, whose test is one of many elements."""


Write: TypeAlias = "Callable[[Accesses], list[SSAValue]]"
"""Inserts accesses, and returns what they give."""


@dataclass(frozen=True)
class Accesses:
    """The accesses of a thread to its part of a tile in global memory."""

    e: ThreadBuilder
    window: GlobalTile
    layout: RegisterLayout
    rows: Mapping[int, Row]
    """Rows by the `line` of their chunks."""
    mask: RegisterTile | None = None
    order: MemoryOrder = WEAK
    runs_again: bool = False
    """Whether they are in a loop."""
    inside: int = 0
    """All rows are in bounds up to this column of the tile."""
    whole: int = 0
    """Chunks up to this column are accessed whole, others by elements."""

    @staticmethod
    def of(
        e: ThreadBuilder,
        op: Operation,
        window: GlobalTile,
        layout: RegisterLayout,
        *,
        guard: SSAValue | None,
        mask: RegisterTile | None = None,
        bits: int = 0,
        order: MemoryOrder = WEAK,
    ) -> Accesses:
        """Accesses where `guard` holds; `bits` are those of pieces if not those of elements."""
        columns: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}
        rows: dict[int, Row] = {}
        for piece in thread_chunks(e, layout, bits or bits_of(window.view.element)):
            if piece.line in rows:
                continue
            if piece.column not in columns:
                column = window.coordinate(e, -1, piece.column)
                columns[piece.column] = (column, window.scaled(e, -1, column))
            rows[piece.line] = row_of(e, window, piece, columns[piece.column], guard)
        return Accesses(e, window, layout, rows, mask, order, runs_again(op))

    @property
    def aligned(self) -> int:
        """Elements that all pieces are multiples of."""
        form = blocked(self.layout)
        if form is not None:
            return form.vector
        if is_accumulator(self.layout):
            return PAIR
        return access_chunks(self.layout, chunk_elements(bits_of(self.window.view.element)))[
            0
        ].count

    def wide(self, piece: AccessChunk) -> tuple[SSAValue, SSAValue | None]:
        """Return the pointer to a whole chunk without its constant offset, and its predicate."""
        e, row, view = self.e, self.rows[piece.line], self.window.view
        size = bits_of(view.element) // 8
        first = advance(e, view.pointer, row.offset, piece.count * size)
        return first, logical_and(e, self._exists(row, piece, piece.shift), piece.exists)

    def single(self, piece: AccessChunk, position: int) -> tuple[SSAValue, SSAValue | None]:
        """Return the pointer to one element of a chunk, and its predicate."""
        e, row, view = self.e, self.rows[piece.line], self.window.view
        offset, stride = piece.shift + position, view.strides[-1]
        first = advance(e, view.pointer, row.offset)
        if isinstance(stride, int):
            pointer = advance(e, first, offset * stride)
        else:
            pointer = advance(e, first, multiply(e, as_int64(e, stride), offset))
        exists = logical_and(e, self._exists(row, piece, offset), piece.exists)
        if self.mask is not None:
            chosen = element(e, self.mask.parts[piece.block], piece.register + position)
            exists = logical_and(e, exists, chosen)
        return pointer, exists

    def by_elements(self, piece: AccessChunk, padding: FloatAttr | IntegerAttr | None) -> SSAValue:
        """Return a chunk of which each element is loaded on its own."""
        e, type_ = self.e, self.window.view.element
        order, scope = self.order.semantics, self.order.scope
        found: list[SSAValue] = []
        for k in range(piece.count):
            pointer, exists = self.single(piece, k)
            made = LoadOp(pointer, type_, exists, fill=padding, order=order, scope=scope)
            found.append(e.insert(made).result)
        return joined(e, found)

    def _exists(self, row: Row, piece: AccessChunk, offset: int) -> SSAValue | None:
        if _end_of(piece) <= self.inside:
            return row.held
        if self.window.is_within(_end_of(piece)):
            return row.exists
        return logical_and(self.e, row.exists, self.window.has(self.e, -1, row.column, offset))

    def is_whole(self, piece: AccessChunk) -> bool:
        """Whether a chunk is one access."""
        return _end_of(piece) <= self.whole

    def chosen(self, write: Write) -> list[SSAValue]:
        """Access by chunks where rows allow it, else by elements; return the results of either.

        Ordered accesses are by elements.
        """
        e, window = self.e, self.window
        if self.mask is not None or self.order.semantics is not None:
            return write(self)
        begins = window.begins_aligned(e, self.aligned)
        chunks = replace(self, whole=UNKNOWN)
        if isinstance(begins, bool):
            if not begins:
                return self._tested(write)
            begins = None
        ends = window.ends_between_groups(e, self.aligned)
        aligned = logical_and(e, begins, ends)
        if aligned is None:
            is_wide = self.aligned * bits_of(window.view.element) == MAX_BITS
            return write(chunks) if is_wide else chunks._tested(write)
        within = self._within()
        if within is None:
            return self._either(aligned, partial(write, chunks), partial(write, self))
        within = replace(within, whole=within.inside)

        def by_elements() -> list[SSAValue]:
            contains = logical_and(e, begins, window.contains(e, within.inside))
            if contains is None:
                return write(within)
            return self._either(contains, partial(write, within), partial(write, self))

        return self._either(aligned, partial(write, chunks), by_elements)

    def if_inside(self, write: Write) -> list[SSAValue]:
        """Access a tile of whole chunks that is in bounds without tests, another one with them."""
        width = self.window.shape[-1]
        contains = self.window.contains(self.e, width) if self.whole == UNKNOWN else None
        if contains is None:
            return write(self)
        inside = replace(self, inside=width)
        return self._either(contains, partial(write, inside), partial(write, self))

    def _tested(self, write: Write) -> list[SSAValue]:
        """Accesses that are tested each, or only those behind the last end of a chunk but one."""
        within = self._within()
        if within is None:
            return write(self)
        contains = self.window.contains(self.e, within.inside)
        if contains is None:
            return write(within)
        return self._either(contains, partial(write, within), partial(write, self))

    def _within(self) -> Accesses | None:
        """Accesses of a tile that is in bounds up to its last chunks; None where it does not pay.

        It does not for few chunks, and in loops: ptxas gives both forms so many registers (115 in
        place of 71 of a running maximum) that fewer blocks are resident.
        """
        if self.runs_again:
            return None
        window = self.window
        chunks = thread_chunks(self.e, self.layout, bits_of(window.view.element))
        pieces = map(window.piece, chunks)
        tested = (piece for piece in pieces if not window.is_behind(piece))
        ends = sorted({end for end in map(_end_of, tested) if not window.is_within(end)})
        return None if len(ends) < WORTH_A_TEST else replace(self, inside=ends[-2])

    def _either(
        self,
        condition: SSAValue,
        first: Callable[[], list[SSAValue]],
        second: Callable[[], list[SSAValue]],
    ) -> list[SSAValue]:
        """The results of either, in a branch."""
        e = self.e
        blocks = (Block(), Block())
        given: list[list[SSAValue]] = []
        for block, write in zip(blocks, (first, second), strict=True):
            with e.within(block):
                given.append(write())
                e.insert(scf.YieldOp(*given[-1]))
        types = [value.type for value in given[0]]
        made = scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1]))
        return list(e.insert(made).results)


def _end_of(piece: AccessChunk) -> int:
    """The columns up to the end of a chunk in every thread; many where that is unknown."""
    return piece.shift + piece.span if piece.span > 1 else UNKNOWN
