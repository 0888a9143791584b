"""Loads through pointers whose elements lie beside those of others: a stencil's.

    %l = load %p + (%row * %n + %first + column - 1)
    %m = load %p + (%row * %n + %first + column)
    %r = load %p + (%row * %n + %first + column + 1)

Where `%first` and `%n` are multiples of 16, a thread that takes the elements 16 to 31 of each row
reads the elements 15 to 32 of the array: one vector and two elements, not 48.  Addresses are sums
of terms and a constant; loads of one block that have the same terms differ by constants.

This says what is likely, not what is certain: sums are taken as if none wrapped around.  Threads
see at run time what they may load at once (`join-neighbouring-loads`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from math import gcd

from xdsl.dialects import arith, tensor
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import (
    promised_divisor,
    without_promises,
)
from tileas_xdsl.analysis.values.rows.divisors import MAX_DIVISOR, row_divisor
from tileas_xdsl.analysis.values.rows.strides import row_step
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer, uniform_integer
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp, pointer_of
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadBase
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ExpandDimsOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES


@dataclass(frozen=True)
class Sum:
    """A constant, and how often other numbers are in a sum."""

    constant: int = 0
    terms: Mapping[Hashable, int] = field(default_factory=dict[Hashable, int])
    divisor: int = MAX_DIVISOR
    """A power of two that divides all of it but the constant."""

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """The sum with another one so many times."""
        terms = dict(self.terms)
        for term, count in other.terms.items():
            terms[term] = terms.get(term, 0) + times * count
        kept = {term: count for term, count in terms.items() if count}
        divisor = min(self.divisor, other.divisor * promised_divisor(times), MAX_DIVISOR)
        return Sum(self.constant + times * other.constant, kept, divisor)

    def product(self, other: Sum) -> Sum:
        """The product, a number of its own if both have terms."""
        if not self.terms:
            return Sum().plus(other, self.constant)
        if not other.terms:
            return Sum().plus(self, other.constant)
        whole = min(self.whole_divisor * other.whole_divisor, MAX_DIVISOR)
        return Sum(0, {("product", self.key, other.key): 1}, whole)

    @property
    def key(self) -> Hashable:
        """What equal sums have in common."""
        return self.constant, self.same_but_for_constants

    @property
    def same_but_for_constants(self) -> Hashable:
        """What sums at a constant distance have in common."""
        return frozenset(self.terms.items())

    @property
    def whole_divisor(self) -> int:
        """A power of two that divides all of it."""
        return gcd(self.divisor, promised_divisor(self.constant))


Axes = Mapping[SSAValue, Sum]


@dataclass
class Neighbours:
    """The loads of blocks that have neighbours; a block is looked at once."""

    _known: dict[Block, Mapping[Operation, int]] = field(
        default_factory=dict[Block, Mapping[Operation, int]]
    )

    def alignment(self, op: Operation) -> int | None:
        """Bytes that divide where rows begin, but for a constant; None of a load on its own."""
        block = op.parent
        if block is None or not isinstance(op, LoadBase):
            return None
        if block not in self._known:
            self._known[block] = _with_neighbours(block)
        return self._known[block].get(op)


def _with_neighbours(block: Block) -> Mapping[Operation, int]:
    groups: dict[Hashable, list[tuple[LoadBase, Sum]]] = defaultdict(list)
    addresses = _Addresses()
    for op in block.ops:
        if isinstance(op, LoadBase) and _is_of_rows(op):
            found = addresses.first_of_rows(op.base)
            kind = op.loaded_type(), op.padding_value, found.same_but_for_constants
            groups[kind].append((op, found))
    aligned: dict[Operation, int] = {}
    for group in groups.values():
        size = _element_bytes(group[0][0])
        bytes_ = gcd(ACCESS_BYTES, group[0][1].divisor)
        begins = sorted({found.constant for _, found in group})
        if len(begins) > 1 and bytes_ > size and _cover_vectors(begins, bytes_):
            aligned |= {op: bytes_ for op, _ in group}
    return aligned


def _cover_vectors(begins: Sequence[int], size: int) -> bool:
    """Whether vectors that begin there, one after another, contain an aligned one."""
    is_dense = all(after - before <= size for before, after in pairwise(begins))
    return is_dense and begins[-1] // size * size >= begins[0]


def _is_of_rows(op: LoadBase) -> bool:
    """Whether a load takes neighbouring elements of rows through pointers, in no order."""
    is_weak = op.mem_semantic is None or op.mem_semantic.data is MemSemantic.WEAK
    return is_weak and pointer_of(op.base.type) is not None and row_step(op.base) == 1


def _element_bytes(op: LoadBase) -> int:
    pointer = pointer_of(op.base.type)
    assert pointer is not None
    return max(bits_of(pointer.pointee) // 8, 1)


@dataclass
class _Addresses:
    """Numbers and elements of tiles as sums."""

    known: dict[SSAValue, Sum] = field(default_factory=dict[SSAValue, Sum])
    """Of numbers outside of regions of tiles."""

    def first_of_rows(self, tile: SSAValue) -> Sum:
        """The address of the first element of a row."""
        *outer, _ = shape_of(tile.type) or (1,)
        rows = [Sum(0, {("axis", axis): 1}, 1) for axis in range(len(outer))]
        return self.element(tile, [*rows, Sum()])

    def number(self, value: SSAValue, axes: Axes) -> Sum:
        """A number; `axes` are the coordinates of the tile whose region it stands in."""
        if value in axes:
            return axes[value]
        is_inside = _is_inside(value, axes)
        if not is_inside and value in self.known:
            return self.known[value]
        found = self._number(value, axes)
        if not is_inside:
            self.known[value] = found
        return found

    def _number(self, value: SSAValue, axes: Axes) -> Sum:
        if (known := constant_integer(value)) is not None:
            return Sum(known)
        match value.owner:
            case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() as op:
                return _combined(op, *(self.number(one, axes) for one in op.operands))
            case arith.ExtSIOp() | arith.ExtUIOp() | arith.IndexCastOp() | arith.TruncIOp() as op:
                return self.number(op.operands[0], axes)
            case tensor.ExtractOp() as op:
                return self.element(op.tensor, [self.number(one, axes) for one in op.indices])
            case _:
                return Sum(0, {without_promises(value): 1}, row_divisor(value))

    def element(self, tile: SSAValue, at: Sequence[Sum]) -> Sum:
        """The element of a tile at some coordinates."""
        if (known := uniform_integer(tile)) is not None:
            return Sum(known)
        match tile.owner:
            case tensor.SplatOp() as op:
                return self.number(op.input, {})
            case GenerateOp() as op if op.body.block.last_op is not None:
                axes: Axes = dict[SSAValue, Sum](zip(op.body.block.args, at, strict=True))
                return self.number(op.body.block.last_op.operands[0], axes)
            case ExpandDimsOp() as op:
                axis = op.axis.value.data
                return self.element(op.source, [*at[:axis], *at[axis + 1 :]])
            case ConvertLayoutOp() as op:
                return self.element(op.source, at)
            case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() as op:
                return _combined(op, *(self.element(one, at) for one in op.operands))
            case arith.ExtSIOp() | arith.ExtUIOp() | arith.IndexCastOp() | arith.TruncIOp() as op:
                return self.element(op.operands[0], at)
            case AddPtrOp() as op:
                size = max(bits_of(_pointee(op)) // 8, 1)
                return self.element(op.base, at).plus(self.element(op.offset, at), size)
            case _:
                return Sum(0, {("element", tile, tuple(one.key for one in at)): 1}, 1)


def _pointee(op: AddPtrOp) -> Attribute:
    pointer = pointer_of(op.base.type)
    assert pointer is not None
    return pointer.pointee


def _combined(op: arith.AddiOp | arith.SubiOp | arith.MuliOp, left: Sum, right: Sum) -> Sum:
    if isinstance(op, arith.MuliOp):
        return left.product(right)
    return left.plus(right, -1 if isinstance(op, arith.SubiOp) else 1)


def _is_inside(value: SSAValue, axes: Axes) -> bool:
    """Whether a value is computed in the region of a tile."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return any(axis.owner is block for axis in axes)
