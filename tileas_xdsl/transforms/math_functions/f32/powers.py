"""powf, fpowi, ipowi and cbrt.

The powers take the logarithm and its product with the exponent in f64: what an exponential makes of
their error is below half a unit of f32.
"""

from __future__ import annotations

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, f32, f64, i1, i32, i64
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.dialects.cute.types.elements import integer_bits
from tileas_xdsl.transforms.math_functions import coefficients
from tileas_xdsl.transforms.math_functions.expression_builder import (
    INFINITY,
    NAN,
    Scope,
    Value,
)
from tileas_xdsl.transforms.math_functions.f32.exponentials import scaled
from tileas_xdsl.transforms.math_functions.f32.logarithms import cut

WIDEST_POWER = 200.0
"""2 to the power of more is infinity, to that of less zero, in f32."""


def _log2_wide(x: Value) -> Value:
    """log2 of a positive f32, in f64."""
    k, f = cut(x)
    wide = f.wide()
    return wide.polynomial(coefficients.LOG2_WIDE).fma(wide, k.wide())


def _exp2_wide(t: Value) -> Value:
    """2 to the power of an f64, in f32."""
    inside = t.at_least(-WIDEST_POWER).at_most(WIDEST_POWER)
    n = inside.function(math.RoundEvenOp)
    rest = (inside - n).cast("truncf", f32)
    return scaled(rest.polynomial(coefficients.EXP2), n.cast("fptosi", i32))


def magnitude(a: Value, y: Value, finite: Value) -> Value:
    """`a**y` of a = |x|: `finite`, or what zero, one and infinity give."""
    element = a.element
    zero = a.compare("eq", 0.0)
    edge = zero | a.compare("eq", INFINITY)
    becomes_zero = y.compare("lt", 0.0) ^ zero
    found = edge.then(becomes_zero.then(0.0, INFINITY, element), finite)
    nothing = y.compare("eq", 0.0) | a.compare("eq", 1.0)
    return nothing.then(1.0, found, element)


def _wide_power(a: Value, y: Value) -> Value:
    """`a**y` of a = |x| in f32 and an exponent in f64."""
    return magnitude(a, y, _exp2_wide(y * _log2_wide(a)))


def _signed(found: Value, x: Value, odd: Value) -> Value:
    """A power with the sign bit of `x` where the exponent is odd."""
    word = i64 if x.element == f64 else i32
    sign = odd.then(x.cast("bitcast", word), 0, word) & -(1 << (integer_bits(word) - 1))
    return (found.cast("bitcast", word) ^ sign).cast("bitcast", x.element)


def powf(x: Value, y: Value) -> Value:
    """`x**y` in f32."""
    return power_of(x, y, _wide_power(abs(x), y.wide()))


def power_of(x: Value, y: Value, found: Value) -> Value:
    """`x**y` by `|x|**y`, specials as in C: negative numbers have whole powers only."""
    a = abs(x)
    whole = y.function(math.TruncOp).compare("eq", y)
    half = y * 0.5
    odd = whole & half.function(math.TruncOp).compare("eq", half).then(0, 1, i1)
    signed = _signed(found, x, odd)
    negative = x.compare("lt", 0.0) & a.compare("lt", INFINITY)
    fraction = negative & whole.then(0, 1, i1)
    plain = fraction.then(NAN, signed, x.element)
    unordered = (x.is_nan() | y.is_nan()) & y.compare("eq", 0.0).then(0, 1, i1)
    return (unordered & x.compare("eq", 1.0).then(0, 1, i1)).then(NAN, plain, x.element)


def fpowi(x: Value, n: Value) -> Value:
    """`x**n` with an integer."""
    zero = n.scope.constant(0, n.element)
    odd = (n & 1).compare("ne", 0)
    signed = _signed(_wide_power(abs(x), n.cast("sitofp", f64)), x, odd)
    return (x.is_nan() & n.compare("ne", zero)).then(NAN, signed)


def ipowi(x: Value, n: Value) -> Value:
    """`x**n` of integers, wrapped: squared and multiplied bit by bit.

    A negative power is 1, -1 or, of other numbers than these, 0.
    """
    (result,) = x.scope.stage(lambda *v: (_signed_power(*v),), x, n, _squared(x, n))
    return result


def _signed_power(x: Value, n: Value, power: Value) -> Value:
    unit = x.compare("eq", 1) | x.compare("eq", -1)
    odd = (n & 1).compare("ne", 0)
    inverse = unit.then(odd.then(x, 1, x.element), 0, x.element)
    return n.compare("lt", 0).then(inverse, power)


def _squared(x: Value, n: Value) -> Value:
    """A loop over the bits of the exponent: each multiplies by the base or by 1."""
    scope, element = x.scope, x.element
    bits = integer_bits(element)
    if scope.straight:
        state = (scope.constant(1, element), x, n)
        for _ in range(bits):
            state = _square(*state)
        return state[0]
    bounds = [_index(scope, number) for number in (0, bits, 1)]
    begin = [scope.constant(1, element).ssa, x.ssa, n.ssa]
    block = Block(arg_types=[IndexType(), *(value.type for value in begin)])
    inner = Scope(block.add_op, scope.length)
    after = _square(*(Value(inner, argument, element) for argument in block.args[1:]))
    block.add_op(scf.YieldOp(*(value.ssa for value in after)))
    loop = scf.ForOp(bounds[0], bounds[1], bounds[2], begin, Region(block))
    scope.insert(loop)
    return Value(scope, loop.results[0], element)


def _square(power: Value, base: Value, rest: Value) -> tuple[Value, Value, Value]:
    """The lowest bit of the exponent."""
    return power * ((base - 1) * (rest & 1) + 1), base * base, rest >> 1


def _index(scope: Scope, number: int) -> SSAValue:
    op = arith.ConstantOp(IntegerAttr(number, IndexType()))
    scope.insert(op)
    return op.result


FIRST_ROOT = 0x54A2FA8C
"""From it a third of the bits of a number is subtracted: 1 / cbrt within 3.5 %."""


def cbrt(x: Value) -> Value:
    """`a * r**2` of r = 1 / cbrt(a), refined twice, and once more in what the cube misses of a."""
    a = abs(x)
    small, large = a.compare("lt", 2.0**-60), a.compare("gt", 2.0**60)
    m = a * small.then(2.0**72, large.then(2.0**-48, 1.0))
    r = (FIRST_ROOT - m.bits() / 3).as_float()
    for _ in range(2):
        h = (r * r * r).fma(-m, 1.0)
        r = h.fma(14 / 81, 2 / 9).fma(h, 1 / 3).fma(h * r, r)
    square = r * r
    y = m * square
    power = y * y
    missing = power.fma(-y, m) - y.fma(y, -power) * y
    found = missing.fma(square * (1 / 3), y) * small.then(2.0**-24, large.then(2.0**16, 1.0))
    odd = a.compare("gt", 0.0) & a.compare("lt", INFINITY)
    return odd.then(found.signed_like(x), x)
