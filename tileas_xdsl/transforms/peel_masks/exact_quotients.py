"""Bounds of loops as linear functions of numbers, with quotients that are known to be exact.

    %n = assume #div_by<64>, %keys
    ceildivsi %n, 64                  %n / 64: exact, however it is rounded
    floordivsi (addi %n, 63), 64      %n / 64, of which 63 / 64 is rounded alone
    maxsi %zero, (floordivsi %n, 64)  0 or more, and %n / 64 or more

Differences of such functions say whether a loop has rounds, and whether an inequality of its index
holds in all of them.  Sums are followed where they cannot wrap around: where what is added is less
than the divisor of the other operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from fractions import Fraction

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.integer_bounds import is_never_negative
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import without_promises
from tileas_xdsl.analysis.values.rows.divisors import MAX_DIVISOR, row_divisor
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.transforms.peel_masks.always_true import Inequality


@dataclass(frozen=True)
class Linear:
    """A constant, and coefficients of numbers."""

    constant: int = 0
    terms: Mapping[SSAValue, Fraction] = field(default_factory=dict[SSAValue, Fraction])
    divisor: int = MAX_DIVISOR
    """A power of two that divides what the terms come to, which is an integer."""

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """Return the sum with a multiple of another one."""
        terms = dict(self.terms)
        for term, factor in other.terms.items():
            terms[term] = terms.get(term, Fraction(0)) + times * factor
        kept = {term: factor for term, factor in terms.items() if factor}
        divisor = min(self.divisor, other.divisor)
        return Linear(self.constant + times * other.constant, kept, divisor)

    @property
    def is_never_negative(self) -> bool:
        """Whether it is a constant that is 0 or more."""
        return not self.terms and self.constant >= 0


def has_no_rounds(loop: scf.ForOp) -> bool:
    """Whether a loop is known to begin where it ends, or behind that."""
    return any(
        low.plus(high, -1).is_never_negative
        for low in _not_above(loop.lb)
        for high in _not_below(loop.ub)
    )


def holds_in_all_rounds(one: Inequality, loop: scf.ForOp) -> bool:
    """Whether an inequality is known to hold of every index: of the first one or the last."""
    rest = Linear(one.rest.constant)
    for term, factor in one.rest.terms.items():
        assert not isinstance(term, int)
        rest = rest.plus(_linear(term), factor)
    if one.factor < 0:
        ends = [bound.plus(Linear(1), -1) for bound in _not_below(loop.ub)]
    else:
        ends = [*_not_above(loop.lb)]
    return any(rest.plus(end, one.factor).is_never_negative for end in ends)


def _not_above(value: SSAValue) -> Iterator[Linear]:
    """Functions that a number is equal to, or larger than."""
    yield _linear(value)
    if is_never_negative(value):
        yield Linear()
    if isinstance(op := value.owner, arith.MaxSIOp):
        yield from (found for operand in op.operands for found in _not_above(operand))


def _not_below(value: SSAValue) -> Iterator[Linear]:
    """Functions that a number is equal to, or smaller than."""
    yield _linear(value)
    if isinstance(op := value.owner, arith.MinSIOp):
        yield from (found for operand in op.operands for found in _not_below(operand))


def _linear(value: SSAValue) -> Linear:
    """A number as a function; of nothing but itself, if no rule is known."""
    if (known := _constant(value)) is not None:
        return Linear(known)
    found = None
    match without_promises(value).owner:
        case arith.ExtSIOp() as op:
            found = _linear(op.input)
        case arith.IndexCastOp() as op if isinstance(op.result.type, IndexType):
            found = _linear(op.input)
        case arith.AddiOp() | arith.SubiOp():
            found = _sum(without_promises(value))
        case arith.CeilDivSIOp() | arith.FloorDivSIOp() | arith.DivSIOp() as op:
            found = _quotient(op)
        case _:
            pass
    return found or Linear(0, {without_promises(value): Fraction(1)}, row_divisor(value))


def _constant(value: SSAValue) -> int | None:
    """A constant that is the same number with and without a sign."""
    known = constant_integer(without_promises(value))
    if known is None or value.type not in (i32, i64, IndexType()):
        return None
    return known if 0 <= known < 1 << 31 else None


def _sum(value: SSAValue) -> Linear | None:
    """The sum of a multiple and a constant below its divisor, which does not wrap around."""
    multiple, known = without_constants(value)
    if multiple is value or not 0 <= known < row_divisor(multiple):
        return None
    return _linear(multiple).plus(Linear(known))


def without_constants(value: SSAValue) -> tuple[SSAValue, int]:
    """Return a number and what is added to it: of `%n + 128 - 1` this is 127."""
    total = 0
    while isinstance(op := value.owner, arith.AddiOp | arith.SubiOp):
        if (known := constant_integer(op.rhs)) is None:
            break
        total += known if isinstance(op, arith.AddiOp) else -known
        value = op.lhs
    return value, total


def _quotient(op: arith.CeilDivSIOp | arith.FloorDivSIOp | arith.DivSIOp) -> Linear | None:
    """The quotient of a multiple, plus that of the constant that was added, which is rounded."""
    by, dividend = _constant(op.rhs), _linear(op.lhs)
    if not by or (dividend.terms and dividend.divisor % by):
        return None
    if isinstance(op, arith.DivSIOp) and dividend.constant % by:
        return None
    up = by - 1 if isinstance(op, arith.CeilDivSIOp) else 0
    terms = {term: factor / by for term, factor in dividend.terms.items()}
    return Linear((dividend.constant + up) // by, terms, dividend.divisor // by)
