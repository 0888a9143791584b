"""exp, expm1, sinh, cosh and tanh in f32.

expm1 cuts the argument into a multiple of log(2) and a rest (Cody and Waite, with fused
multiply-adds); a polynomial gives the exponential of the rest, and the multiple goes into the
exponent.  exp, sinh, cosh and tanh take exponentials and inverses from the instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import math, scf, vector
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Region

from tileas_xdsl.dialects.cute import MakeFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import VoteOp
from tileas_xdsl.dialects.interned import vector_of
from tileas_xdsl.transforms.math_functions import coefficients
from tileas_xdsl.transforms.math_functions.alike_elements import alike_elements, first_elements
from tileas_xdsl.transforms.math_functions.expression_builder import Scope, Value
from tileas_xdsl.transforms.math_functions.fragment_reductions import largest, least

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125
"""log(2) in 17 bits: its products with exponents are exact."""
LN2_LOW = 1.4286068203094173e-06
LN2, LN2_REST = 0.6931471824645996, -1.904654212125934e-09
"""log(2) as the sum of two f32."""
LAST_BITS_OF_QUARTER = 1.5 * 2.0**23 + 125
"""Its sum with n has the exponent of `2**n / 4` in its last bits."""
LOG2_E_HIGH, LOG2_E_LOW = 1.4426950216293335, 1.925963033500011e-08
"""log2(e) as the sum of two f32."""
LN2_REST_OF_POWERS = -1.5e-09
"""`LN2_REST`, moved by the mean error of `ex2` on negative numbers, which is one of magnitude."""
NEAR = 87.0
"""Up to it exponentials and their inverses are normal numbers."""
EXPONENTS = 252.0
"""How many powers of two exp scales by: those between 2**-126 and 2**126."""
LAST_BITS_OF_EXPONENT = 1.5 * 2.0**23 + 1
"""Its sum with `n + 126` has the bits of the exponent of `2**n` in its last bits."""


def _cut(x: Value) -> tuple[Value, Value]:
    """`(n, exp(r) - 1)` where `x = n * log(2) + r`."""
    n = (x * LOG2_E).function(math.RoundEvenOp)
    r = n.fma(-LN2_LOW, n.fma(-LN2_HIGH, x))
    return n, r.polynomial(coefficients.EXP).fma(r * r, r)


def power_of_two(exponent: Value) -> Value:
    """2 to the power of an i32 between -126 and 127."""
    return ((exponent + 127) << 23).as_float()


def scaled(x: Value, exponent: Value) -> Value:
    """`x` times 2 to the power of an i32, in two steps: each factor is a normal number."""
    half = exponent.halved()
    return x * power_of_two(half) * power_of_two(exponent - half)


def exp(x: Value) -> Value:
    """The exponential: `2**n * 2**f`, where `x * log2(e) = n + f` and f is in [0, 1).

    `n + 126` is the integer part of `252 * saturate(x * log2(e) / 252 + 0.5)`: below and above the
    saturated range f grows instead, and 2**f ends at zero and infinity.  The last product rounds
    subnormal results.
    """
    share = x.fma(LOG2_E_HIGH / EXPONENTS, 0.5, saturate=True)
    shifted = share.fma(EXPONENTS, LAST_BITS_OF_EXPONENT, rounding="rm")
    n = shifted - (LAST_BITS_OF_EXPONENT + EXPONENTS / 2)
    f = x.fma(LOG2_E_LOW, x.fma(LOG2_E_HIGH, -n))
    return f.exp2() * (shifted.bits() << 23).as_float()


def near_exp(x: Value) -> Value:
    """The exponential of a number up to `NEAR` in magnitude: `2**y * (1 + r)`.

    `y` is `x * log2(e)`, rounded, and `r = x - y * log(2)` what that leaves.  Of all such numbers
    none is more than 2 ulp off with `ex2` of an H200 (tested on each of them).
    """
    y = x * LOG2_E
    r = y.fma(-LN2_REST_OF_POWERS, y.fma(-LN2, x))
    power = y.exp2()
    return power.fma(r, power)


def exp_of_fragment(x: Value, highest: float, *, is_uniform: bool = False) -> Value:
    """The exponentials of a fragment: five instructions each and a test of all, or eight each.

    No element is greater than `highest`, which spares half of the test if that is small.  Where all
    threads of a warp are there (`is_uniform`) they choose together: lanes that differ take both.

    Elements at the end that are one number, as those behind the end of a row, are computed once.
    """
    alike, length = alike_elements(x.ssa), x.scope.length
    if length is not None and 1 < alike < length:
        return _of_alike(x, length - alike, highest, is_uniform=is_uniform)
    is_near = least(x).compare("ge", -NEAR) if highest <= NEAR else largest(x).compare("le", NEAR)
    if is_uniform:
        is_near = is_near.scope.take(VoteOp(is_near.ssa).result)
    arms = (_of_each(x, near_exp), _of_each(x, exp))
    choice = scf.IfOp(is_near.ssa, [x.ssa.type], *arms)
    x.scope.insert(choice)
    return x.scope.take(choice.output[0])


def _of_alike(x: Value, front: int, highest: float, *, is_uniform: bool) -> Value:
    """The exponentials of a fragment whose elements behind the first ones are alike."""
    insert, length = x.scope.insert, x.scope.length
    assert length is not None
    first = Scope(insert, front).take(first_elements(x.ssa, front, insert))
    last = Scope(insert).take(vector.ExtractOp(x.ssa, [front], x.element).result)
    ends = vector.BroadcastOp(exp(last).ssa, vector_of(x.element, length - front))
    insert(ends)
    begins = exp_of_fragment(first, highest, is_uniform=is_uniform)
    return x.scope.take(MakeFragmentOp([begins.ssa, ends.vector]).result)


def _of_each(x: Value, function: Callable[[Value], Value]) -> Region:
    """The arm of a branch that yields a function of each element."""
    block = Block()
    inner = Scope(block.add_op, x.scope.length)

    def body(*elements: Value) -> Sequence[Value]:
        return [function(one) for one in elements]

    (found,) = inner.stage(body, Value(inner, x.ssa, x.element))
    block.add_op(scf.YieldOp(found.ssa))
    return Region(block)


def expm1(x: Value) -> Value:
    """`exp(x) - 1`: `2**n * p + (2**n - 1)`, in halves so that 2**128 is never needed."""
    n, p = _cut(x.at_least(-25.0).at_most(89.0))
    half = power_of_two(n.cast("fptosi", i32) - 1)
    result = p.fma(half, half - 0.5)
    near = n.compare("eq", 0.0)
    found = near.then(p, result + result)
    return abs(x).compare("lt", 2.0**-25).then(x, found)


def _quarter_exp(x: Value) -> Value:
    """`exp(|x|) / 4`, infinity where `exp(|x|) / 2` is.

    The multiple of log(2) is rounded towards zero, and its power ends at 2**126, so that the
    power of the rest is the one that becomes infinite.
    """
    a = abs(x)
    n = (a * LOG2_E).function(math.TruncOp).at_most(126.0)
    rest = n.fma(-LN2_REST, n.fma(-LN2, a))
    return (rest * LOG2_E).exp2() * ((n + LAST_BITS_OF_QUARTER).bits() << 23).as_float()


def sinh(x: Value) -> Value:
    """A polynomial up to 1, then half the difference of exponentials."""
    quarter = _quarter_exp(x)
    large = quarter.fma(2.0, quarter.reciprocal() * -0.125)
    square = x * x
    small = x.fma(square * square.polynomial(coefficients.SINH), x)
    return abs(x).compare("ge", 1.0).then(large.signed_like(x), small)


def cosh(x: Value) -> Value:
    """Half the sum of exponentials."""
    quarter = _quarter_exp(x)
    return quarter.fma(2.0, quarter.reciprocal() * 0.125)


def one_plus_tanh(x: Value) -> Value:
    """`1 / (exp(-2 x) / 2 + 1 / 2)`: nothing cancels where `tanh(x)` is near -1."""
    return (x * (-2 * LOG2_E)).exp2().fma(0.5, 0.5).reciprocal()


def tanh(x: Value) -> Value:
    """A polynomial up to 0.6, then `1 - 1 / (exp(2 |x|) / 2 + 1 / 2)`, which is 1 from 9.01 on."""
    inverse = (abs(x) * (2 * LOG2_E)).exp2().fma(0.5, 0.5).reciprocal()
    square = x * x
    small = x.fma(square.polynomial(coefficients.TANH).fma(square, 0.0), x)
    return abs(x).compare("ge", 0.6).then((1.0 - inverse).signed_like(x), small)
