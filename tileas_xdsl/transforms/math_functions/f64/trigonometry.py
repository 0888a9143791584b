"""sin, cos and tan in f64: the angle is reduced to the sum of two f64, polynomials do the rest.

Up to 2**30 three parts of pi / 2 are subtracted (Cody and Waite); beyond, the integer that the
number is times a power of two is multiplied with 192 bits of 2 / pi (Payne and Hanek).  Products
and sums are split exactly (Dekker, Knuth).  The polynomials are those of FreeBSD's msun (k_sin.c,
k_cos.c), which take both parts.
"""

from __future__ import annotations

import math as numbers
from collections.abc import Callable
from functools import cache

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f64, i32, i64

from tileas_xdsl.transforms.math_functions.coefficients import Polynomial
from tileas_xdsl.transforms.math_functions.expression_builder import (
    INFINITY,
    NAN,
    Value,
    renormalized,
)
from tileas_xdsl.transforms.math_functions.f32.range_reduction import branched

HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
"""pi / 2 as the sum of three f64."""
LARGE = 2.0**30
"""Up to it, products of a quotient with the first part of pi / 2 cancel exactly."""
TINY = 2.0**-27
"""Below it a sine and a tangent are the argument itself, in f64."""
WORDS = 35
"""Words of the table, so that every window of four is inside for five levels of selection."""

SIN = Polynomial(
    low=0,
    high=0.62,
    error=1e-17,
    coefficients=(
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ),
)
"""(sin(x) - x + x**3 / 6) / x**5 of x**2."""
CUBE = -1.66666666666666324348e-01
COS = Polynomial(
    low=0,
    high=0.62,
    error=1e-17,
    coefficients=(
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ),
)
"""(cos(x) - 1 + x**2 / 2) / x**4 of x**2."""

Reduced = tuple[Value, Value, Value]
"""`(r, rest, q)`: x = r + rest + q * pi / 2."""


def _sum(a: Value, b: Value) -> tuple[Value, Value]:
    """The rounded sum and its error (Knuth)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _near(x: Value) -> tuple[Value, Value, Value, Value]:
    """The reduction of moderate numbers, and whether a number is a large one."""
    q = (x * (2 / numbers.pi)).function(math.RoundEvenOp)
    first, second, third = HALF_PI
    product = q * second
    high, lost = _sum(q.fma(-first, x), -product)
    low = lost - q.fma(second, -product) - q * third
    return *renormalized(high, low), q.cast("fptosi", i32), abs(x).compare("ge", LARGE)


@cache
def _two_by_pi() -> tuple[int, ...]:
    """Bits of 2 / pi behind 64 zeros, as signed words; pi by Machin's formula."""
    bits = 64 * WORDS + 64

    def inverse_tangent(n: int) -> int:
        term = total = (1 << bits) // n
        k = 1
        while term:
            term //= -n * n
            k += 2
            total += term // k
        return total

    pi = 4 * (4 * inverse_tangent(5) - inverse_tangent(239))
    quotient = (2 << (64 * (WORDS - 1) + bits)) // pi
    words = [quotient >> 64 * k & (1 << 64) - 1 for k in reversed(range(WORDS))]
    return tuple(word - (1 << 64) if word >> 63 else word for word in words)


def _window(first: Value) -> tuple[Value, Value, Value]:
    """192 bits of the table from a bit on, as three words."""
    scope = first.scope
    words = [scope.constant(word, i64) for word in _two_by_pi()]
    for step in (16, 8, 4, 2, 1):
        chosen = (first & (64 * step)).compare("ne", 0)
        count = step + 3
        words = [chosen.then(b, a) for a, b in zip(words[:count], words[step:], strict=False)]
    left = first & 63
    right = 63 - left
    a, b, c, d = words

    def shifted(high: Value, low: Value) -> Value:
        # Two shifts: one by 64 is not defined.
        return (high << left) | ((low >> 1) >> right)

    return shifted(a, b), shifted(b, c), shifted(c, d)


def _product(a: Value, b: Value) -> tuple[Value, Value]:
    """The low and the high word of the product of unsigned words."""
    op = arith.MulUIExtendedOp(a.ssa, b.ssa)
    a.scope.insert(op)
    low, high = op.results
    return Value(a.scope, low, i64), Value(a.scope, high, i64)


def _carry(total: Value, part: Value) -> Value:
    return total.compare("ult", part).then(1, 0, i64)


def _far(x: Value) -> Reduced:
    """The reduction of a finite number of at least 2**-7: of its product with 2 / pi, modulo 4."""
    bits = x.cast("bitcast", i64)
    whole = (bits & ((1 << 52) - 1)) | (1 << 52)
    # Bit i of the table has the weight 2**(63 - i): the first one that counts gives 2.
    first = ((bits >> 52) & 0x7FF) - (1075 - 62)
    high, middle, low = _window(first)
    _, from_low = _product(whole, low)
    second, from_middle = _product(whole, middle)
    middle = second + from_low
    top = whole * high + from_middle + _carry(middle, second)
    quadrant = (top + (1 << 61)) >> 62
    rest = top - (quadrant << 62)
    parts = (
        rest.shifted(32).cast("sitofp", f64) * 2.0**-30,
        (rest & 0xFFFFFFFF).cast("sitofp", f64) * 2.0**-62,
        (middle >> 32).cast("sitofp", f64) * 2.0**-94,
        (middle & 0xFFFFFFFF).cast("sitofp", f64) * 2.0**-126,
    )
    total, lost = _sum(parts[0], parts[1])
    total, more = _sum(total, parts[2])
    total, lost = renormalized(total, lost + more + parts[3])
    r = total * HALF_PI[0]
    error = total.fma(HALF_PI[0], -r)
    r, lost = renormalized(r, lost.fma(HALF_PI[0], total.fma(HALF_PI[1], error)))
    turns = quadrant.cast("trunci", i32)
    negative = bits.compare("lt", 0)
    return negative.then(-r, r), negative.then(-lost, lost), negative.then(-turns, turns)


def _chosen(x: Value, r: Value, rest: Value, quadrant: Value, large: Value) -> Reduced:
    """The reduction of large numbers, what was found before of others."""
    near = (r, rest, quadrant)
    found = [large.then(one, other) for one, other in zip(_far(x), near, strict=True)]
    return found[0], found[1], found[2]


def _sine(r: Value, rest: Value) -> Value:
    square = r * r
    cube = square * r
    tail = square * (rest * 0.5 - cube * square.polynomial(SIN)) - rest
    return r - (tail - cube * CUBE)


def _cosine(r: Value, rest: Value) -> Value:
    square = r * r
    half = square * 0.5
    near = 1.0 - half
    return near + (((1.0 - near) - half) + (square * square * square.polynomial(COS) - r * rest))


def _in_quadrant(r: Value, rest: Value, quadrant: Value) -> Value:
    """The sine of `r + rest + quadrant * pi / 2`."""
    odd = (quadrant & 1).compare("ne", 0)
    found = odd.then(_cosine(r, rest), _sine(r, rest))
    return (quadrant & 2).compare("ne", 0).then(-found, found)


def _of_finite(x: Value, result: Value) -> Value:
    return abs(x).compare("lt", INFINITY).then(result, NAN, f64)


def _staged(x: Value, function: Callable[..., Value]) -> Value:
    reduced = branched(x, _near, _chosen)
    (result,) = x.scope.stage(lambda *v: (function(*v),), x, *reduced)
    return result


def _sin_of(x: Value, r: Value, rest: Value, quadrant: Value) -> Value:
    found = _of_finite(x, _in_quadrant(r, rest, quadrant))
    return abs(x).compare("lt", TINY).then(x, found)


def _cos_of(x: Value, r: Value, rest: Value, quadrant: Value) -> Value:
    return _of_finite(x, _in_quadrant(r, rest, quadrant + 1))


def _tan_of(x: Value, r: Value, rest: Value, quadrant: Value) -> Value:
    sine, cosine = _sine(r, rest), _cosine(r, rest)
    odd = (quadrant & 1).compare("ne", 0)
    found = _of_finite(x, odd.then(cosine, sine) / odd.then(-sine, cosine))
    return abs(x).compare("lt", TINY).then(x, found)


def sin(x: Value) -> Value:
    """The sine."""
    return _staged(x, _sin_of)


def cos(x: Value) -> Value:
    """The cosine: the sine of a quadrant more."""
    return _staged(x, _cos_of)


def tan(x: Value) -> Value:
    """The tangent: sine by cosine, or minus the inverse."""
    return _staged(x, _tan_of)
