"""The pass `tileas-relax-functions`: what is made of functions is as exact as its roundings show.

    %n = negf %s                                  %y = mulf %s, -1.442695
    %e = math.exp %n : 64x64xf32          ->      %e = math.exp2 %y {ftz}
    %d = addf %e, 1.0                             %d = addf %e, 1.0
    %q = divf %s, %d                              %q = divf %s, %d {approx, ftz}
    %p = truncf %q : f16                          %p = truncf %q : f16

Exponentials are two units of f32 off, so that nothing says what the last place of a quotient of
them is; where all of it is rounded to 16 bits (`analysis/values/roundings.py`) it may be two units
more.  An exponential is `|x| 2**-24` further off by one product and the instruction, as weights of
rows are (`tileas-relax-weights`), which is 2**-17.5 at most where it is no infinity: 2**-9 of half
a unit of bf16, and nothing of f16, for which it is too small there.  Constants that arguments and
dividends are multiplied by are one each.

What is lost is what the instructions flush: exponentials below 2**-126 beside numbers that are
2**-100 or more, and quotients below 2**-126 of what is divided.  A divisor of which `rcp.approx`
is flushed, 2**126 or more, asks for the form that scales it (`full`), unless what it divides is
bounded, or a multiple of the argument of its exponential, as in `x / (1 + exp(-x))`: that is 88
times a constant where the exponential is so large, and finite.
"""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, ModuleOp, StringAttr, UnitAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.float_ranges import FloatRanges
from tileas_xdsl.analysis.values.roundings import is_inexact, largest_gain
from tileas_xdsl.analysis.values.rows.row_sums import plain, readers
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FLUSH, ROUNDING, float_mode
from tileas_xdsl.dialects.nv_tileas.spaces import element_of

LOG2_E = 1.4426950408889634
MAX_GAIN = 2.0**16
"""What quotients are multiplied by before they are rounded: those that are flushed stay tiny."""
LEAST_DIVISOR = 2.0**-16
"""Dividends that are flushed, below 2**-126, have tiny quotients by it."""
LARGEST_DIVISOR = 2.0**126
"""The inverses of larger ones are flushed."""
LEAST_TERM = 2.0**-100
"""What is added to a number from here on is not seen if it is below 2**-126."""


@dataclass(frozen=True)
class TileasRelaxFunctions(ModulePass):
    """Take exponentials and quotients of functions from instructions, where 16 bits are seen.

    Needs: kernels of tiles, whose element-wise operations are not fused yet.

    Leaves: exponentials of f32 that are added to positive numbers, and quotients of what functions
    give, of which only roundings to 16 bits or less are made, as `exp2` with `nv_tileas.ftz` and
    `divf` with `approx` or `full`.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-relax-functions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ranges = FloatRanges()
        quotients = [(one, _form(one, ranges)) for one in instances_in(op, arith.DivfOp)]
        powers = [one for one in instances_in(op, math.ExpOp) if _is_added(one, ranges)]
        for quotient, form in quotients:
            if form is not None:
                quotient.attributes.update({ROUNDING: StringAttr(form), FLUSH: UnitAttr()})
                _scale_dividend(quotient)
        for power in powers:
            _relax(power)


def _form(op: arith.DivfOp, ranges: FloatRanges) -> str | None:
    """Return the approximate form of a quotient that suffices; None if none does."""
    if element_of(op.result.type) != f32 or not float_mode(op).exact:
        return None
    divisor, gain = ranges.of(op.rhs), largest_gain(op.result, ranges)
    if gain is None or gain > MAX_GAIN or divisor.low < LEAST_DIVISOR:
        return None
    if not is_inexact(op.lhs) and not is_inexact(op.rhs):
        return None
    is_tiny = ranges.of(op.lhs).largest * gain <= MAX_GAIN or _is_multiple_of_argument(op)
    return "approx" if is_tiny or divisor.finite <= LARGEST_DIVISOR else "full"


def _is_multiple_of_argument(op: arith.DivfOp) -> bool:
    """Whether a dividend is small where its divisor is large: `x / (c + exp(-x))`."""
    terms = made.operands if isinstance(made := plain(op.rhs).owner, arith.AddfOp) else ()
    powers = [one.owner for one in map(plain, terms)]
    dividend, factor = _multiple(op.lhs)
    return any(
        isinstance(power, math.ExpOp | math.Exp2Op)
        and (argument := _multiple(power.operand))[0] is dividend
        and abs(factor) <= MAX_GAIN * abs(argument[1])
        and all(uniform_constant(term) for term in terms if plain(term).owner is not power)
        for power in powers
    )


def _multiple(value: SSAValue) -> tuple[SSAValue, float]:
    """Read a value as a constant times another one."""
    factor = 1.0
    while isinstance(made := plain(value).owner, arith.MulfOp | arith.NegfOp):
        if isinstance(made, arith.NegfOp):
            value, factor = made.operand, -factor
            continue
        numbers = [uniform_constant(side) for side in made.operands]
        number = next((one for one in numbers if isinstance(one, FloatAttr)), None)
        if number is None:
            break
        value, factor = made.operands[numbers[0] is number], factor * number.value.data
    return plain(value), factor


def _scale_dividend(quotient: arith.DivfOp) -> None:
    """Let a dividend that is scaled have the scale of its quotient, too: a product less.

    A scale above 1 would make a large dividend infinite in front of an infinite divisor.
    """
    scaled, (dividend, factor) = quotient.result.get_user_of_unique_use(), _multiple(quotient.lhs)
    if not isinstance(scaled, arith.MulfOp) or not isinstance(quotient.lhs.owner, arith.MulfOp):
        return
    whole, both = _multiple(scaled.result)
    factor *= both
    if whole is not plain(quotient.result) or dividend.type != quotient.lhs.type:
        return
    if float_mode(scaled).exact and _is_factor(factor) and abs(factor) <= 1:
        builder = Builder(InsertPoint.before(quotient))
        quotient.operands[0] = _product(builder, dividend, factor)
        Rewriter.replace_op(scaled, [], [quotient.result])


def _is_factor(number: float) -> bool:
    """Whether products with a constant overflow only where others beside them do."""
    return MAX_GAIN**-2 <= abs(number) <= MAX_GAIN


def _product(builder: Builder, value: SSAValue, factor: float) -> SSAValue:
    """Multiply by a constant."""
    number = constant(builder, factor, value.type)
    return builder.insert(arith.MulfOp(value, number)).result


def _is_added(op: math.ExpOp, ranges: FloatRanges) -> bool:
    """Whether all that reads an exponential adds it to a positive number, and is rounded."""
    mode = float_mode(op)
    if element_of(op.result.type) != f32 or mode.approximate or not mode.exact:
        return False
    return largest_gain(op.result, ranges) is not None and all(
        isinstance(reader, arith.AddfOp) and _is_beside_number(reader, op, ranges)
        for reader in readers(op.result)
    )


def _is_beside_number(sum_: arith.AddfOp, power: Operation, ranges: FloatRanges) -> bool:
    others = [side for side in sum_.operands if plain(side).owner is not power]
    return len(others) == 1 and ranges.of(others[0]).low >= LEAST_TERM


def _relax(power: math.ExpOp) -> None:
    """Let the instruction compute an exponential, with one product in front of it."""
    argument, factor = _multiple(power.operand)
    if not _is_factor(factor) or argument.type != power.operand.type:
        argument, factor = power.operand, 1.0
    relaxed = math.Exp2Op(_product(Builder(InsertPoint.before(power)), argument, factor * LOG2_E))
    relaxed.attributes[FLUSH] = UnitAttr()
    Rewriter.replace_op(power, relaxed)
