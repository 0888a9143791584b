"""For which rounds of a loop a comparison holds for all elements of a tile.

    %p = cmpi slt, (128 * %j + column), %keys     over 128 columns
    holds where  %keys - 1 - 128 * %j - 127 >= 0,  of rounds that begin with the first one

Each is a linear inequality of the index, so that those of all comparisons hold in one interval.
Numbers stay within 32 bits in it, by inequalities of their own: what wraps around compares as
something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i32, i64
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.transforms.peel_masks.affine_elements import BITS, Affine

LARGEST = (1 << (BITS - 1)) - 1
MAX_FACTOR = 1 << 20
"""So that sums of some products with numbers of 32 bits are numbers of 64 bits."""

_SMALLER_FIRST = {"slt": 1, "sle": 0, "ult": 1, "ule": 0}
_LARGER_FIRST = {"sgt": 1, "sge": 0, "ugt": 1, "uge": 0}
"""How much the larger operand exceeds the smaller one at least, by predicate."""

_PAIRS = (("slt", "sge"), ("sgt", "sle"), ("ult", "uge"), ("ugt", "ule"))
_NEGATED = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
"""Which predicate says that another one does not hold."""


@dataclass(frozen=True)
class Inequality:
    """`factor` times the index and an invariant number are 0 or more."""

    factor: int
    rest: Affine
    is_mask: bool
    """Whether it is what the comparison says; else that numbers do not wrap around."""


def inequalities(
    op: arith.CmpiOp,
    operands: tuple[Affine, Affine],
    truth: bool,
    shape: Sequence[int],
    index: SSAValue,
) -> Sequence[Inequality] | None:
    """Return what has to hold for a comparison to be true, or false, of all elements.

    None for others; one that says the same in every round is none of those.
    """
    left, right = operands
    predicate = str(arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data])
    predicate = predicate if truth else _NEGATED.get(predicate, "")
    exceeds = _SMALLER_FIRST.get(predicate)
    small, large = left, right
    if exceeds is None:
        exceeds, small, large = _LARGER_FIRST.get(predicate), right, left
    if exceeds is None or op.lhs.type != i32:
        return None
    holds = _inequality(large.plus(small, -1).plus(Affine(-exceeds)).least(shape), index, True)
    if not holds.factor:
        return None
    is_signed = predicate.startswith("s")
    ranges: list[Affine] = []
    if not (is_signed and _is_number(small)):
        ranges.append(small.least(shape).plus(Affine(LARGEST + 1 if is_signed else 0)))
    if not _is_number(large):
        ranges.append(Affine(LARGEST).plus(large.most(shape), -1))
    bounds = [_inequality(one, index, False) for one in ranges]
    kept = [one for one in bounds if one.factor or one.rest.terms or one.rest.constant < 0]
    factors = [x for one in (holds, *kept) for x in (one.factor, *one.rest.terms.values())]
    return [holds, *kept] if all(abs(factor) <= MAX_FACTOR for factor in factors) else None


def _inequality(value: Affine, index: SSAValue, is_mask: bool) -> Inequality:
    terms = dict(value.terms)
    factor = terms.pop(index, 0)
    return Inequality(factor, Affine(value.constant, terms), is_mask)


def _is_number(value: Affine) -> bool:
    """Whether a value is a number of the kernel as it is, which has 32 bits."""
    terms = list(value.terms.items())
    return (
        not value.constant
        and [(i32, 1)]
        == [(term.type, factor) for term, factor in terms if not isinstance(term, int)]
        and len(terms) == 1
    )


@dataclass(frozen=True)
class RoundsWriter:
    """Writes in front of a loop where its rounds begin and end in which inequalities hold."""

    loop: scf.ForOp
    builder: Builder

    def interval(self, found: Sequence[Inequality]) -> tuple[SSAValue | None, SSAValue]:
        """Return the first round (None: that of the loop) and the one behind the last."""
        low, high = (self.wide(value) for value in (self.loop.lb, self.loop.ub))
        behind, begin, end = self._larger(low, high), low, high
        for one in found:
            if one.is_mask and one.factor > 0:
                begin = self._larger(begin, self._divided(arith.CeilDivSIOp, one, -1))
            elif one.factor < 0:
                last = self._divided(arith.FloorDivSIOp, one, 1)
                end = self._smaller(end, self._add(last, self.number(1)))
            elif not self._is_known(one):
                value = self._add(self.value(one.rest), self._times(low, one.factor))
                holds = self.builder.insert(arith.CmpiOp(value, self.number(0), "sge")).result
                end = self.builder.insert(arith.SelectOp(holds, end, low)).result
        is_later = begin is not low
        if is_later:
            begin = self._smaller(self._aligned(self._smaller(begin, behind), low), behind)
        end = self._smaller(self._aligned(self._larger(begin, end), low), behind)
        return (self._narrow(begin) if is_later else None), self._narrow(end)

    def _is_known(self, one: Inequality) -> bool:
        """Whether an inequality holds of all rounds from a constant on."""
        first = constant_integer(self.loop.lb)
        is_constant = first is not None and not one.rest.terms
        return is_constant and one.rest.constant + one.factor * (first or 0) >= 0

    def number(self, value: int) -> SSAValue:
        """Write a constant of 64 bits."""
        return self.builder.insert(arith.ConstantOp(IntegerAttr(value, i64))).result

    def wide(self, value: SSAValue) -> SSAValue:
        """Write a number of the kernel as one of 64 bits."""
        kind = arith.IndexCastOp if isinstance(value.type, IndexType) else arith.ExtSIOp
        return value if value.type == i64 else self.builder.insert(kind(value, i64)).results[0]

    def value(self, affine: Affine) -> SSAValue:
        """Write an invariant number."""
        total = self.number(affine.constant)
        for term, factor in affine.terms.items():
            assert not isinstance(term, int)
            total = self._add(total, self._times(self.wide(term), factor))
        return total

    def _divided(
        self, kind: type[arith.FloorDivSIOp | arith.CeilDivSIOp], one: Inequality, sign: int
    ) -> SSAValue:
        """Write the invariant, or its negative, over the size of the factor."""
        number = self.value(Affine().plus(one.rest, sign))
        return self.builder.insert(kind(number, self.number(abs(one.factor)))).result

    def _aligned(self, value: SSAValue, low: SSAValue) -> SSAValue:
        """Write the first index of a round from some number on."""
        step = constant_integer(self.loop.step)
        if step == 1:
            return value
        distance = self.builder.insert(arith.SubiOp(value, low)).result
        steps = self.wide(self.loop.step)
        rounds = self.builder.insert(arith.CeilDivSIOp(distance, steps)).result
        return self._add(low, self.builder.insert(arith.MuliOp(rounds, steps)).result)

    def _narrow(self, value: SSAValue) -> SSAValue:
        type_ = self.loop.lb.type
        if isinstance(type_, IndexType):
            return self.builder.insert(arith.IndexCastOp(value, type_)).result
        return value if type_ == i64 else self.builder.insert(arith.TruncIOp(value, i32)).result

    def _add(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.builder.insert(arith.AddiOp(left, right)).result

    def _times(self, value: SSAValue, factor: int) -> SSAValue:
        if factor == 1:
            return value
        return self.builder.insert(arith.MuliOp(value, self.number(factor))).result

    def _smaller(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.builder.insert(arith.MinSIOp(left, right)).result

    def _larger(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.builder.insert(arith.MaxSIOp(left, right)).result
