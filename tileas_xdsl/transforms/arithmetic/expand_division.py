"""The pass `expand-division`: exact quotients of fragments by fused multiply-adds.

    %q = arith.divf %a, %b : vector<8xf32>
    // becomes
    %r = approximate inverse of %b, and one step of Newton's method: 1 / b, rounded
    %ok = every |a| and b is so far from the ends of f32 that nothing under- or overflows
    %q = scf.if %ok {
      q0 = a * r;  e = b * q0 - a;  q = q0 - e * r
    } else {
      one exact division after another, in a loop
    }

A common divisor of zero, as masked rows have it, gives all quotients by a product with infinity.

Inverses of what is 2^-126 to 2^126, or infinite, need no test: the step of an infinite divisor is
that of the largest finite one, and its approximate inverse is 0 already.

The three operations round as a division does (Markstein; Brisebarre, Muller, Raina: Accelerating
Correctly Rounded Floating-Point Division When the Divisor Is Known in Advance, IEEE TC 53, 2004),
whatever both significands are, as long as the remainder `e` is exact and no number is subnormal.
The inverse is that of ptxas for `rcp.rn`: `rcp.approx` and one step.  A remainder of zero is +0, so
that `q0 - e * r` keeps the sign of a zero `q0` only where `r` is positive: other divisors give
their sign to the dividends.

Where dividends are exact in 16 bits and quotients become 16 bits, `r` is the approximate inverse
itself.  Quotients then may be an ulp of f32 off, but not next to the middle of two floats of 11
bits: of the 1.7 10^7 pairs that have such quotients none rounds otherwise, with any `r` within
2 ulp (`test_short_quotients_need_no_rounded_inverse`).  If both are f16 nothing is asked of the
operands: quotients that under- or overflow on the way are NaN or too small for f16, so one test
whether the sum of all quotients is a number does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.context import Context
from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E5M2Type,
    ModuleOp,
    bf16,
    f16,
    f32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.float_ranges import FloatRanges
from tileas_xdsl.analysis.values.operand_ranges import operand_ranges
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import as_vector, element_of, length_of
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.transforms.arithmetic.fma_quotients import (
    HALVES,
    UNCHANGED,
    Quotient,
    divided,
    operands_of,
)

MIN_ELEMENTS = 4
"""Quotients from which on a test of all of them costs less than one of each."""


def _is_rounded(op: Operation) -> bool:
    """Whether it is a division of fragments to nearest, of floats up to f32."""
    if type(op) is not arith.DivfOp or as_vector(op.result.type) is None:
        return False
    element = element_of(op.result.type)
    return element in (f32, f16, bf16) and float_mode(op).exact and not float_mode(op).approximate


def _target(value: SSAValue) -> Attribute:
    """The type of 16 bits that every element of a fragment is rounded to, or its own type."""
    if (own := element_of(value.type)) != f32:
        return own
    found = {_target_of_use(use.operation) for use in value.uses}
    return found.pop() if len(found) == 1 else f32


def _target_of_use(user: Operation) -> Attribute:
    if isinstance(user, arith.TruncFOp | MakeFragmentOp | SliceFragmentOp):
        found = _target(user.results[0])
        return found if found in HALVES else f32
    return f32


def _source(value: SSAValue) -> Attribute:
    """The type of 16 bits from which all elements of a fragment come as they are, or its own."""
    owner = value.owner
    if isinstance(owner, arith.ExtFOp) and element_of(owner.operands[0].type) in HALVES:
        return element_of(owner.operands[0].type)
    if not isinstance(owner, UNCHANGED):
        return element_of(value.type)
    found = {_source(operand) for operand in owner.operands}
    return found.pop() if len(found) == 1 else f32


def _quotient(op: arith.DivfOp, ranges: FloatRanges) -> Quotient:
    dividend, divisor = operand_ranges(op, ranges)
    return Quotient(
        op, dividend, divisor, _source(op.lhs), _target(op.result), _shows_tiny(op.result, ranges)
    )


COARSE = (f16, Float8E4M3FNType(), Float8E5M2Type())
"""Floats in which 2**-26 is zero; bf16 and `f8E8M0FNU` have smaller ones."""


ROUNDED = (math.RoundOp, math.RoundEvenOp, arith.FPToSIOp, arith.FPToUIOp)
"""What makes a zero of 2**-26, of its sign."""


def _shows_tiny(value: SSAValue, ranges: FloatRanges) -> bool:
    """Whether anything distinguishes elements below 2**-26 from a zero of their sign."""
    return any(_distinguishes(use, ranges) for use in value.uses)


def _distinguishes(use: Use, ranges: FloatRanges) -> bool:
    user = use.operation
    if isinstance(user, MakeFragmentOp | SliceFragmentOp | vector.ExtractOp):
        return _shows_tiny(user.results[0], ranges)
    if isinstance(user, arith.AddfOp | arith.SubfOp):
        # Next to one half 2**-26 is no more than half a unit of f32.
        other = ranges.of(user.operands[1 - use.index])
        return other.low < 0.5 and other.high > -0.5
    if isinstance(user, arith.TruncFOp):
        return element_of(user.result.type) not in COARSE
    return not isinstance(user, ROUNDED)


BETWEEN = (arith.ConstantOp, vector.BroadcastOp, vector.ExtractOp)
"""What may stand between divisions that are done together."""


def runs_of(block: Block) -> Iterator[list[arith.DivfOp]]:
    """Divisions that follow one another and do not depend on one another."""
    run: list[arith.DivfOp] = []
    for op in block.ops:
        # One test guards a whole run, so nothing in a run may wait for another of its quotients.
        depends = bool(run) and any(value.owner in run for value in op.operands)
        if run and (depends or not (_is_rounded(op) or isinstance(op, BETWEEN))):
            yield run
            run = []
        if type(op) is arith.DivfOp and _is_rounded(op):
            run.append(op)
    if run:
        yield run


def _expand(run: Sequence[arith.DivfOp], ranges: FloatRanges) -> None:
    """Replace divisions by a branch in front of the last one, behind all of their operands."""
    last = run[-1]
    block = last.parent_block()
    assert block is not None

    def insert(op: Operation) -> None:
        for inner in op.walk():
            inner.location = last.location
        Rewriter.insert_op(op, InsertPoint.before(last))

    operands = [operands_of(_quotient(op, ranges), insert) for op in run]
    for op, result in zip(run, divided(operands, insert), strict=True):
        if op.result.type != result.type:
            narrow = arith.TruncFOp(result, op.result.type)
            insert(narrow)
            result = narrow.result
        op.result.replace_all_uses_with(result)
    for op in run:
        Rewriter.erase_op(op)


@dataclass(frozen=True)
class ExpandDivision(ModulePass):
    """Expand exact divisions of fragments to fused multiply-adds, behind one test for all elements.

    Divisions of scalars and of f64 stay, and those that may be approximate or round otherwise.
    """

    name = "expand-division"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        blocks = {inner.parent_block() for inner in operations_in(op) if _is_rounded(inner)}
        ranges = FloatRanges()
        found = [run for block in blocks if block is not None for run in runs_of(block)]
        for run in found:
            if sum(length_of(each.result) for each in run) >= MIN_ELEMENTS:
                _expand(run, ranges)
