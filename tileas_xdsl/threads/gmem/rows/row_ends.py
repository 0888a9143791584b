"""Where a row that does not wrap around begins and ends in a piece of a thread, without branches.

    %left = %end - %first                        elements of the piece in front of the row's end
    %gone = -1 << max(16 * %left - 32 * w, 0)    ones in the bits of word w that are behind it
    %x = %word & ~%gone | %padding & %gone       three instructions for two elements of 16 bits

A shift by a word or more leaves zeros (PTX, shl).  A piece in which a row can but begin is compared
with that alone; that a row does not exist is part of where it begins.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    i32_constant,
    logical_and,
    multiply,
    subtract,
)
from tileas_xdsl.threads.gmem.rows.rotated_row import RotatedRow
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.vector_values import constant_elements, element, joined


@dataclass(frozen=True)
class RowEnds:
    """Which elements of a piece are in the row."""

    e: ThreadBuilder
    bits: int
    """Of an element."""
    further: int
    """The first element of the piece is so many columns behind the bases."""
    begins: SSAValue | None
    """The column of the base; None where the row begins in front of the piece."""
    behind: SSAValue | None
    """How far that is behind the row's end; None where no row that exists ends in the piece."""

    @staticmethod
    def of_existing(row: RotatedRow, piece: AccessChunk, end: SSAValue) -> RowEnds:
        """The ends of a row that is known to exist."""
        e = row.e
        base = add(e, cast_index(e, piece.column, i32), row.begin)
        begins = base if row.may_begin_in(piece) else None
        behind = subtract(e, base, end) if row.may_end_in(piece) or begins is None else None
        return RowEnds(e, 8 * row.size, piece.shift, begins, behind)

    @staticmethod
    def of(row: RotatedRow, piece: AccessChunk) -> RowEnds:
        """The ends of a row in a piece of it."""
        e = row.e
        base = add(e, cast_index(e, piece.column, i32), row.begin)
        begins = base if row.may_begin_in(piece) else None
        behind = subtract(e, base, row.end) if row.may_end_in(piece) or begins is None else None
        if begins is not None and behind is None:
            is_there = e.insert(arith.CmpiOp(row.end, i32_constant(e, 0), "sgt")).result
            nowhere = i32_constant(e, -2 * row.width)
            begins = e.insert(arith.SelectOp(is_there, base, nowhere)).result
        return RowEnds(e, 8 * row.size, piece.shift, begins, behind)

    def has(self, k: int) -> SSAValue:
        """Whether element `k` of the piece is in the row."""
        e, found = self.e, None
        if self.begins is not None:
            first = i32_constant(e, -self.further - k)
            found = e.insert(arith.CmpiOp(self.begins, first, "sge")).result
        if self.behind is not None:
            last = i32_constant(e, -self.further - k - 1)
            ends = e.insert(arith.CmpiOp(self.behind, last, "sle")).result
            found = logical_and(e, found, ends)
        assert found is not None
        return found

    def kept(self, values: SSAValue, padding: FloatAttr | IntegerAttr) -> SSAValue:
        """The elements of a vector that are in the row, and padding for the others."""
        (count,) = self._type_of(values).get_shape()
        return self.chosen(values, padding, self.choices(count))

    def choices(self, count: int) -> Sequence[SSAValue]:
        """What says which of so many elements are in the row: of each, or the bits of each word."""
        if self.bits >= WORD_BITS:
            return [self.has(k) for k in range(count)]
        return [self._word(first) for first in range(0, count * self.bits, WORD_BITS)]

    def chosen(
        self, values: SSAValue, padding: FloatAttr | IntegerAttr, choices: Sequence[SSAValue]
    ) -> SSAValue:
        """The elements of a vector that `choices` say are in the row, and padding for others."""
        e, type_ = self.e, self._type_of(values)
        (count,) = type_.get_shape()
        other = constant_elements(e, padding, count)
        if self.bits >= WORD_BITS:
            sides = [(element(e, values, k), element(e, other, k)) for k in range(count)]
            pairs = zip(choices, sides, strict=True)
            return joined(e, [e.insert(arith.SelectOp(has, *s)).result for has, s in pairs])
        words = VectorType(i32, [len(choices)])
        here, there = (e.insert(vector.BitcastOp(v, words)).result for v in (values, other))
        found = [
            self._mixed(kept, element(e, here, w), element(e, there, w))
            for w, kept in enumerate(choices)
        ]
        return e.insert(vector.BitcastOp(joined(e, found), type_)).result

    def _type_of(self, values: SSAValue) -> VectorType[Attribute]:
        assert isa(values.type, VectorType[Attribute])
        return values.type

    def _word(self, first: int) -> SSAValue:
        """Ones in the bits of a word, from bit `first` of the piece on, that are in the row."""
        e, kept = self.e, None
        if self.begins is not None:
            kept = self._from(self._bits_behind(self.begins), first)
        if self.behind is not None:
            gone = self._from(self._bits_behind(self.behind), first)
            inside = e.insert(arith.XOrIOp(gone, i32_constant(e, -1))).result
            kept = inside if kept is None else e.insert(arith.AndIOp(kept, inside)).result
        assert kept is not None
        return kept

    def _mixed(self, kept: SSAValue, value: SSAValue, other: SSAValue) -> SSAValue:
        """The bits of a value that are kept, and those of another one."""
        e, ones = self.e, i32_constant(self.e, -1)
        taken = e.insert(arith.AndIOp(value, kept)).result
        missing = e.insert(arith.AndIOp(other, e.insert(arith.XOrIOp(kept, ones)).result)).result
        return e.insert(arith.OrIOp(taken, missing)).result

    def _bits_behind(self, place: SSAValue) -> SSAValue:
        """How many bits the piece begins in front of a place that it is so far behind."""
        e = self.e
        behind = add(e, place, self.further)
        return multiply(e, subtract(e, i32_constant(e, 0), behind), self.bits)

    def _from(self, bits: SSAValue, first: int) -> SSAValue:
        """Ones in the bits of a word, whose first is `first`, from a number of bits on."""
        e, zero = self.e, i32_constant(self.e, 0)
        least = e.insert(arith.MaxSIOp(add(e, bits, -first), zero)).result
        return e.insert(arith.ShLIOp(i32_constant(e, -1), least)).result
