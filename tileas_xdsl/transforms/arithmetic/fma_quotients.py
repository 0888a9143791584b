"""Exact quotients of fragments by fused multiply-adds, where nothing under- or overflows.

What is known of a division, the test of its operands, and the code of both branches; the pass
`expand-division` says why the three operations round as a division does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from math import inf

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import bf16, f16, f32, i1, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.analysis.values.float_intervals import LARGEST_F32, FloatRange, is_plain_inverse
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.float_bits import bits_of_float
from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import element_of, length_of
from tileas_xdsl.dialects.interned import UNIT
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import BY_DOUBLES
from tileas_xdsl.transforms.math_functions.expression_builder import SIGN, Scope, Value
from tileas_xdsl.transforms.math_functions.fragment_parts import (
    cut,
    joined,
    made,
    rotated,
)
from tileas_xdsl.transforms.math_functions.fragment_reductions import largest, least, reduced

LARGEST = 2.0**60
"""Dividends and divisors up to here have quotients that do not overflow."""

SMALLEST_DIVISOR = 2.0**-60
SMALLEST_DIVIDEND = 2.0**-64
"""From here on remainders are exact and quotients are normal."""

LARGEST_WITH_INVERSE = 2.0**126
"""Divisors up to here have normal inverses; where small quotients are zeros that suffices."""

ARGUMENT_OF_SMALLEST = -44.0
"""Exponentials of arguments from here on are no smaller."""

KEY_OF_SMALLEST = 2 * ((127 - 64) << 23) - 1
"""`_key` of the smallest dividend."""

ONE = 127 << 23
"""The bits of 1.0."""

HALVES = (f16, bf16)
UNCHANGED = (arith.NegfOp, math.AbsFOp, vector.BroadcastOp, MakeFragmentOp, SliceFragmentOp)
"""What leaves significands and magnitudes of its operands as they are."""

Insert = Callable[[Operation], object]


@dataclass(frozen=True)
class Quotient:
    """One division of fragments, and what is known of its operands."""

    op: arith.DivfOp
    dividend: FloatRange
    divisor: FloatRange
    source: Attribute = f32
    """The narrowest float that holds every dividend exactly."""
    target: Attribute = f32
    """What becomes of every quotient, of 16 bits."""
    tiny: bool = True
    """Whether quotients below 2**-26 are distinguished from zero."""

    @property
    def is_short(self) -> bool:
        """Whether the approximate inverse suffices."""
        return self.source != f32 and self.target != f32

    @property
    def shows_in_result(self) -> bool:
        """Whether a quotient that is not the right one is NaN."""
        return self.source == f16 and self.target == f16 and not self.inverts

    @property
    def length(self) -> int:
        """The number of elements."""
        return length_of(self.op.result)

    @property
    def inverts(self) -> bool:
        """Whether every dividend is 1."""
        return self.dividend.low == self.dividend.high == 1

    @property
    def is_always_rounded(self) -> bool:
        """Whether no operands are asked for: inverses of finite divisors are normal, others 0."""
        return is_plain_inverse(self.dividend, self.divisor)

    @property
    def largest_dividend(self) -> float:
        """Up to here no quotient overflows."""
        return LARGEST if self.divisor.low < 1 else LARGEST_WITH_INVERSE

    @property
    def divisors(self) -> tuple[float, float]:
        """Between them inverses are normal, and no quotient over- or underflows."""
        if self.inverts:
            return 1 / LARGEST_WITH_INVERSE, LARGEST_WITH_INVERSE
        return SMALLEST_DIVISOR, LARGEST if self.tiny else LARGEST_WITH_INVERSE


@dataclass(frozen=True)
class Operands:
    """The operands of a quotient in f32; the divisor is a scalar if it is common.

    It is positive unless the dividend is 1.
    """

    quotient: Quotient
    dividend: Value
    divisor: Value

    def over_all(self, value: Value) -> Value:
        """The scalar of a common divisor for each element."""
        if value.scope.length == self.dividend.scope.length:
            return value
        scope = self.dividend.scope
        return scope.take(vector.BroadcastOp(value.ssa, scope.type(value.element)).vector)

    def inside(self, insert: Insert) -> Operands:
        """Return these operands for operations that are inserted somewhere else."""
        dividend, divisor = (
            Scope(insert, v.scope.length).take(v.ssa) for v in (self.dividend, self.divisor)
        )
        return Operands(self.quotient, dividend, divisor)

    def rounded(self) -> Value:
        """The quotients where nothing under- or overflows."""
        b = self.divisor
        inverse = about = b.reciprocal()
        if self.quotient.inverts or not self.quotient.is_short:
            finite = b.at_most(LARGEST_F32) if self.quotient.is_always_rounded else b
            inverse = about.fma((-finite).fma(about, 1.0), about)
        if self.quotient.inverts:
            return self.over_all(inverse)
        a = self.dividend
        first = a * self.over_all(inverse)
        remainder = self.over_all(b).fma(first, -a)
        return remainder.fma(self.over_all(-inverse), first)


def operands_of(quotient: Quotient, insert: Insert) -> Operands:
    """Extend 16-bit floats; give the sign of divisors to dividends unless it is known."""
    scope = Scope(insert, quotient.length)
    a, b = scope.take(quotient.op.lhs), scope.take(quotient.op.rhs)
    owner = quotient.op.rhs.owner
    if isinstance(owner, vector.BroadcastOp):
        b = Scope(insert).take(owner.source)
    if a.element != f32:
        a, b = a.wide_to(f32), b.wide_to(f32)
    found = Operands(quotient, a, b)
    if quotient.divisor.low >= 0 or quotient.inverts:
        return found
    sign = (b.bits() & SIGN | ONE).as_float()
    return Operands(quotient, a * found.over_all(sign), abs(b))


@dataclass
class _Tested:
    """Values of which one maximum, minimum or sum is compared: not each element by itself."""

    most: dict[float, list[Value]] = field(default_factory=lambda: defaultdict(list))
    divisors: dict[int, list[Value]] = field(default_factory=lambda: defaultdict(list))
    """By the bits of their limit, as integers: the maximum of three is one instruction."""
    fewest: dict[float, list[Value]] = field(default_factory=lambda: defaultdict(list))
    dividends: list[Value] = field(default_factory=list[Value])
    """Of which each is to be zero or large."""
    results: list[Value] = field(default_factory=list[Value])
    """Of which none may be NaN."""

    def add(self, each: Operands, result: Value) -> None:
        """What is asked of one quotient."""
        quotient, a, b = each.quotient, each.dividend, each.divisor
        if quotient.is_always_rounded:
            return
        if quotient.shows_in_result:
            self.results.append(result)
            return
        low, high = quotient.divisors
        size = abs(b) if quotient.divisor.low < 0 and quotient.inverts else b
        if quotient.divisor.largest > high:
            self.divisors[bits_of_float(high, f32)].append(size.bits())
        if quotient.divisor.low < low:
            self.fewest[low].append(size)
        if quotient.inverts:
            return
        if quotient.dividend.largest > quotient.largest_dividend:
            self.most[quotient.largest_dividend].append(largest(a))
        if quotient.tiny and quotient.dividend.least < SMALLEST_DIVIDEND:
            self.dividends.append(a)

    def conditions(self) -> Iterator[Value]:
        """One for each limit."""
        for limit, values in self.most.items():
            yield reduced(values, arith.MaxnumfOp).compare("le", limit)
        for limit, values in self.divisors.items():
            yield reduced(values, arith.MaxUIOp).compare("ule", limit)
        for limit, values in self.fewest.items():
            yield reduced(values, arith.MinnumfOp).compare("ge", limit)
        if self.dividends:
            yield _are_zero_or_large(self.dividends)
        if self.results:
            total = reduced(self.results, arith.AddfOp)
            yield total.compare("eq", total)


def test_of(operands: Sequence[Operands], results: Sequence[Value], scope: Scope) -> Value:
    """One bit: whether all quotients are those of `Operands.rounded`."""
    tested = _Tested()
    for each, result in zip(operands, results, strict=True):
        tested.add(each, result)
    conditions = list(tested.conditions())
    whole = conditions[0] if conditions else scope.constant(1, i1)
    for condition in conditions[1:]:
        whole = whole & condition
    return whole


def _are_zero_or_large(dividends: Sequence[Value]) -> Value:
    """Whether no dividend is smaller than the smallest but zero.

    Exponentials are not where no argument is far below zero, which is tested for them anyway.
    """
    arguments = [_argument_of(dividend) for dividend in dividends]
    known = [least(x).compare("ge", ARGUMENT_OF_SMALLEST) for x in arguments if x is not None]
    if len(known) < len(dividends):
        return _have_large_keys(dividends)
    scope, whole = Scope(dividends[0].scope.insert), known[0]
    for one in known[1:]:
        whole = whole & one
    yes, keys = Block(), Block()
    yes.add_op(scf.YieldOp(Scope(yes.add_op).constant(1, i1).ssa))
    inside = [Scope(keys.add_op, v.scope.length).take(v.ssa) for v in dividends]
    keys.add_op(scf.YieldOp(_have_large_keys(inside).ssa))
    choice = scf.IfOp(whole.ssa, [i1], Region(yes), Region(keys))
    scope.insert(choice)
    return scope.take(choice.output[0])


def _argument_of(dividend: Value) -> Value | None:
    """The argument of a fragment of exponentials."""
    owner = dividend.ssa.owner
    if not isinstance(owner, math.ExpOp) or element_of(owner.operand.type) != f32:
        return None
    return dividend.scope.take(owner.operand)


def _have_large_keys(dividends: Sequence[Value]) -> Value:
    keys = [_key(dividend) for dividend in dividends]
    return reduced(keys, arith.MinUIOp).compare("uge", KEY_OF_SMALLEST)


def _key(x: Value) -> Value:
    """An unsigned integer that grows with the magnitude, except that zero has the largest one."""
    bits = x.bits()
    return bits + bits + -1


def divided(operands: Sequence[Operands], insert: Insert) -> Sequence[SSAValue]:
    """The quotients of all, by fused multiply-adds or one by one."""
    if all(each.quotient.is_always_rounded for each in operands):
        return [each.rounded().ssa for each in operands]
    shows = any(each.quotient.shows_in_result for each in operands)
    fast, slow = Block(), Block()
    inside = operands if shows else [each.inside(fast.add_op) for each in operands]
    results = [each.rounded() for each in inside]
    fast_results = [result.ssa for result in results]
    fast.add_op(scf.YieldOp(*fast_results))
    test = test_of(operands, results, Scope(insert))
    slow.add_op(scf.YieldOp(*_of_any_size([each.inside(slow.add_op) for each in operands], slow)))
    types = [value.type for value in fast_results]
    choice = scf.IfOp(test.ssa, types, Region(fast), Region(slow))
    insert(choice)
    return choice.output


def _common_divisor(operands: Sequence[Operands]) -> Value | None:
    """The scalar that all elements are divided by, if there is one."""
    found = {each.divisor.ssa for each in operands}
    divisor = operands[0].divisor
    return divisor if len(found) == 1 and divisor.scope.length is None else None


def _is_never_by_zero(each: Operands) -> bool:
    """Whether the divisor is known to be positive, or a quotient is an inverse."""
    return each.quotient.inverts or each.quotient.divisor.low > 0


def _of_any_size(operands: Sequence[Operands], block: Block) -> Sequence[SSAValue]:
    """Quotients one by one, but by a common divisor of zero at once: rows that are masked have it.

    The inverse of a zero is infinite and exact, and the product with it is the quotient.
    """
    divisor = _common_divisor(operands)
    if divisor is None or any(map(_is_never_by_zero, operands)):
        return _one_by_one(operands, block)
    zero, other = Block(), Block()
    inside = [each.inside(zero.add_op) for each in operands]
    inverse = (inside[0].divisor.bits() | bits_of_float(inf, f32)).as_float()
    products = [(each.dividend * each.over_all(inverse)).ssa for each in inside]
    zero.add_op(scf.YieldOp(*products))
    other.add_op(scf.YieldOp(*_one_by_one([each.inside(other.add_op) for each in operands], other)))
    types = [value.type for value in products]
    choice = scf.IfOp(divisor.compare("eq", 0.0).ssa, types, Region(zero), Region(other))
    block.add_op(choice)
    return choice.output


def _one_by_one(operands: Sequence[Operands], block: Block) -> Sequence[SSAValue]:
    """A loop in which fragments rotate: its first element is divided and becomes the last one.

    Where all dividends are 1, only divisors rotate, and become the quotients.
    """
    # A divisor that is one scalar for all elements needs no fragment that rotates with the rest.
    common = _common_divisor(operands)
    is_common = common is not None
    inverts = not is_common and all(each.quotient.inverts for each in operands)
    carried: list[SSAValue] = []
    if not inverts:
        carried.append(joined(block, [each.dividend for each in operands]))
    if not is_common:
        carried.append(joined(block, [each.over_all(each.divisor) for each in operands]))
    scope = Scope(block.add_op)
    zero, count, one = (scope.constant(x, i32).ssa for x in (0, length_of(carried[0]), 1))
    body = Block(arg_types=[i32, *(value.type for value in carried)])
    # A register cannot be indexed at run time, so the loop moves the fragment past a fixed
    # position: after `count` turns every element has been divided, and the order is as before.
    first, *rests = (rotated(body, argument) for argument in body.args[1:])
    last = rests[0][0] if rests else None if common is None else common.ssa
    dividend = Scope(body.add_op).constant(1.0, f32).ssa if last is None else first[0]
    quotient = arith.DivfOp(dividend, first[0] if last is None else last)
    quotient.attributes[BY_DOUBLES] = UNIT
    body.add_op(quotient)
    ends = [quotient.result, *(head for head, _ in rests)]
    tails = [first[1], *(tail for _, tail in rests)]
    body.add_op(
        scf.YieldOp(
            *(made(body, [tail, end]) for tail, end in zip(tails, ends, strict=True)),
        )
    )
    loop = scf.ForOp(zero, count, one, carried, body)
    block.add_op(loop)
    return cut(block, loop.results[0], [each.quotient.length for each in operands])
