"""Elements of integer tiles as affine functions of coordinates, a loop's index and invariants.

    %c = generate { yield %column }; %s = splat (muli %j, 128); %t = addi %s, %c
    element (row, column) of %t  =  128 * %j + column

Sums wrap around as those of the tiles do, since wrapping commutes with sums and products: a
function says what an element is modulo 2^32, and what it is where it stays within 32 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import TypeAlias

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Block, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer, uniform_integer
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of

BITS = 32

Term: TypeAlias = "SSAValue | int"
"""An invariant or the index of the loop; or an axis of the tile, by its number."""

_NOTHING: Mapping[Term, int] = MappingProxyType({})


@dataclass(frozen=True)
class Affine:
    """A constant, and coefficients of terms."""

    constant: int = 0
    terms: Mapping[Term, int] = field(default_factory=lambda: _NOTHING)

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.terms.items())))

    def plus(self, other: Affine, times: int = 1) -> Affine:
        """Return the sum with a multiple of another one."""
        terms = dict(self.terms)
        for term, factor in other.terms.items():
            terms[term] = terms.get(term, 0) + times * factor
        kept = {term: factor for term, factor in terms.items() if factor}
        return Affine(self.constant + times * other.constant, kept)

    def product(self, other: Affine) -> Affine | None:
        """Return the product, if one of both is a constant."""
        if self.terms and other.terms:
            return None
        one, factor = (other, self.constant) if not self.terms else (self, other.constant)
        return Affine().plus(one, factor)

    def least(self, shape: Sequence[int]) -> Affine:
        """Return the least value over all coordinates of a tile: no axis is left in it."""
        axes = {term: factor for term, factor in self.terms.items() if isinstance(term, int)}
        rest = {term: factor for term, factor in self.terms.items() if term not in axes}
        low = sum(min(factor * (shape[axis] - 1), 0) for axis, factor in axes.items())
        return Affine(self.constant + low, rest)

    def most(self, shape: Sequence[int]) -> Affine:
        """Return the largest value over all coordinates."""
        return Affine().plus(Affine().plus(self, -1).least(shape), -1)


Axes: TypeAlias = Mapping[SSAValue, Affine]


@dataclass(frozen=True)
class AffineElements:
    """What is affine of the values in a loop."""

    loop: scf.ForOp

    def scalar(self, value: SSAValue, axes: Axes) -> Affine | None:
        """Return a number as a function; `axes` are those of the regions that it stands in."""
        return self._scalar(value, tuple(axes.items()))

    @memoized_walk
    def _scalar(self, value: SSAValue, axes: tuple[tuple[SSAValue, Affine], ...]) -> Affine | None:
        for axis, found in axes:
            if axis is value:
                return found
        if (known := constant_integer(value)) is not None:
            return Affine(_signed(known, value))
        if value is self.loop.body.block.args[0] or self._is_invariant(value):
            return Affine(0, {value: 1}) if _is_narrow(value) else None
        match value.owner:
            case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() as op:
                return _combined(op, *(self._scalar(each, axes) for each in op.operands))
            case arith.IndexCastOp() as op:
                return self._scalar(op.input, axes)
            case tensor.ExtractOp() as op:
                indices = [self._scalar(index, axes) for index in op.indices]
                coordinates = tuple(one for one in indices if one is not None)
                is_known = len(coordinates) == len(indices)
                return self.element(op.tensor, coordinates) if is_known else None
            case _:
                return None

    @memoized_walk
    def element(self, tile: SSAValue, coordinates: tuple[Affine, ...]) -> Affine | None:
        """Return the element of a tile at some coordinates as a function."""
        if element_of(tile.type) not in (IntegerType(BITS), IndexType()):
            return None
        match tile.owner:
            case tensor.SplatOp() as op:
                return self._scalar(op.input, ())
            case arith.ConstantOp():
                known = uniform_integer(tile)
                return None if known is None else Affine(_signed(known, tile))
            case GenerateOp() as op:
                block = op.body.block
                axes = tuple(zip(block.args, coordinates, strict=True))
                end = block.last_op
                return None if end is None else self._scalar(end.operands[0], axes)
            case ExpandDimsOp() as op:
                axis = op.axis.value.data
                return self.element(op.source, coordinates[:axis] + coordinates[axis + 1 :])
            case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() as op:
                return _combined(op, *(self.element(each, coordinates) for each in op.operands))
            case _:
                return None

    def _is_invariant(self, value: SSAValue) -> bool:
        """Whether a value is a number that is known in front of the loop."""
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        return block is not None and block.find_ancestor_op_in_block(self.loop) is not None


def _combined(
    op: arith.AddiOp | arith.SubiOp | arith.MuliOp, left: Affine | None, right: Affine | None
) -> Affine | None:
    if left is None or right is None:
        return None
    if isinstance(op, arith.MuliOp):
        return left.product(right)
    return left.plus(right, -1 if isinstance(op, arith.SubiOp) else 1)


def _is_narrow(value: SSAValue) -> bool:
    return isinstance(value.type, IndexType) or value.type == IntegerType(BITS)


def _signed(number: int, value: SSAValue) -> int:
    """A constant as it is written may be unsigned."""
    half = 1 << (BITS - 1)
    is_index = isinstance(element_of(value.type), IndexType)
    return number if is_index else (number + half) % (2 * half) - half
