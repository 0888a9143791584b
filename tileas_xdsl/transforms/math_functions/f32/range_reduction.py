"""Reduce angles modulo pi / 2, for arguments of any size.

Up to 105615 three parts of pi / 2 are subtracted (Cody and Waite); beyond, the integer that the
number is times a power of two is multiplied with 96 bits of 2 / pi (Payne and Hanek, "Radian
reduction for trigonometric functions").
"""

from __future__ import annotations

import math as numbers
from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import f32, f64, i1, i32, i64
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.transforms.math_functions.expression_builder import INFINITY, NAN, Scope, Value

HALF_PI = (1.570796251296997, 7.549789415861596e-08, 5.390302953474238e-15)
"""pi / 2 as the sum of three f32, the first of 22 bits, so that products with 16 bits are exact."""

LARGE = 105615.0
"""Up to it what is left has a relative error of half a unit of f32."""

UNITS = 1.5 * 2.0**23
"""Numbers near it differ by one."""

TWO_BY_PI = (0x00517CC1, 0xB727220A, 0x94FE13AB, 0xE8FA9A6E, 0xE06DB14A, 0xCC9E21C8, 0x20FF28B1)
"""Bits of 2 / pi behind nine zeros: bit i has the weight 2**(8 - i)."""


def near(x: Value) -> tuple[Value, Value, Value]:
    """`(r, q, large)`: x = r + q * pi / 2 with |r| about pi / 4 at most, unless |x| is large.

    A sum with `UNITS` rounds to an integer, whose lowest bits are those of the sum.
    """
    shifted = x * (2 / numbers.pi) + UNITS
    q = shifted - UNITS
    high, middle, low = HALF_PI
    r = q.fma(-low, q.fma(-middle, q.fma(-high, x)))
    return r, shifted.bits(), abs(x).compare("ge", LARGE)


def far(x: Value, r: Value, quadrant: Value, large: Value) -> tuple[Value, Value]:
    """`(r, q)` of large numbers, NaN of infinity, what was found before of others."""
    found, turns = _far(x)
    found = abs(x).compare("lt", INFINITY).then(found, NAN)
    return large.then(found, r), large.then(turns, quadrant)


def reduced(x: Value) -> tuple[Value, Value]:
    """`(r, q)` of any finite number, a float and an i32; large ones are a branch if they can."""
    r, quadrant = branched(x, near, far)
    return r, quadrant


def branched(
    x: Value, near: Callable[..., Sequence[Value]], far: Callable[..., Sequence[Value]]
) -> Sequence[Value]:
    """The results of `near`, whose last one says for which elements `far` replaces the others.

    `far` takes the argument and all results of `near`; it runs only where an element needs it.
    """
    scope = x.scope
    if scope.straight:
        return far(x, *near(x))
    *found, large = scope.stage(near, x)
    blocks = (Block(), Block())
    inner = Scope(blocks[0].add_op, scope.length)
    operands = [Value(inner, value.ssa, value.element) for value in (x, *found, large)]
    for block, results in zip(blocks, (inner.stage(far, *operands), found), strict=True):
        block.add_op(scf.YieldOp(*(value.ssa for value in results)))
    types = [value.ssa.type for value in found]
    op = scf.IfOp(_any(scope, large), types, Region(blocks[0]), Region(blocks[1]))
    scope.insert(op)
    return [scope.take(result) for result in op.results]


def _any(scope: Scope, mask: Value) -> SSAValue:
    """Whether a bit of a fragment is set."""
    if scope.length is None:
        return mask.ssa
    bits: list[SSAValue] = []
    for index in range(scope.length):
        op = vector.ExtractOp(mask.ssa, [index], i1)
        scope.insert(op)
        bits.append(op.result)
    total = bits[0]
    for bit in bits[1:]:
        op = arith.OrIOp(total, bit)
        scope.insert(op)
        total = op.result
    return total


def _far(x: Value) -> tuple[Value, Value]:
    """Of a finite number of at least 2**-7; `r` of others is not used."""
    bits = x.bits()
    whole = ((bits & 0x7FFFFF) | 0x800000).cast("extui", i64)
    first = ((bits >> 23) & 0xFF) - 143
    high, middle, low = (word.cast("extui", i64) for word in _window(first))
    product = ((whole * high) << 32) + whole * middle + ((whole * low) >> 32)
    turns = product + (1 << 61)
    rest = product - ((turns >> 62) << 62)
    r = (rest.cast("sitofp", f64) * (numbers.pi / 2 * 2.0**-62)).cast("truncf", f32)
    quadrant = (turns >> 62).cast("trunci", i32)
    negative = bits.compare("lt", 0)
    return negative.then(-r, r), negative.then(-quadrant, quadrant)


def _window(first: Value) -> tuple[Value, Value, Value]:
    """96 bits of the table from a bit on, as three words."""
    scope = first.scope
    words = [scope.constant(_signed(word), i32) for word in TWO_BY_PI]
    for step in (2, 1):
        chosen = (first & (32 * step)).compare("ne", 0)
        words = [chosen.then(b, a) for a, b in zip(words, words[step:], strict=False)]
    left = first & 31
    right = 32 - left
    a, b, c, d = words
    return (
        (a << left) | (b >> right),
        (b << left) | (c >> right),
        (c << left) | (d >> right),
    )


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word
