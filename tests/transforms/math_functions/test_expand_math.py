"""The functions of `math`: written out, they keep the errors that the table promises."""

from __future__ import annotations

import math as numbers

import numpy as np
import pytest
from xdsl.dialects import math

from tests.support.math_expansions import (
    EXPANSIONS,
    arguments,
    distance,
    evaluated,
    evaluated_by,
    reference,
)
from tests.support.plain_kernels import kernel, load, store
from tileas_xdsl.backend.ptx.lowering.arithmetic.functions import FUNCTIONS, WRITTEN_OUT
from tileas_xdsl.compiler import compile
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS
from tileas_xdsl.transforms.math_functions import coefficients
from tileas_xdsl.transforms.math_functions.coefficients import Polynomial
from tileas_xdsl.transforms.math_functions.expansions import (
    IN_ANY,
    IN_F32,
    OF_NORMAL,
    WHOLE_IN_F32,
)
from tileas_xdsl.transforms.math_functions.f32.exponentials import NEAR, near_exp, one_plus_tanh

SIZE = 3000


@pytest.mark.parametrize("name", EXPANSIONS)
def test_errors_are_within_the_bound(name: str) -> None:
    arrays = arguments(name, np.random.default_rng(20), SIZE)
    apart = distance(evaluated(name, *arrays), reference(name, *arrays))
    assert apart.max() <= MATH_FUNCTIONS[name].measured


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPANSIONS)
def test_errors_of_many_arguments_are_within_the_bound(name: str) -> None:
    for seed in range(8):
        arrays = arguments(name, np.random.default_rng(seed), 100_000)
        apart = distance(evaluated(name, *arrays), reference(name, *arrays))
        assert apart.max() <= MATH_FUNCTIONS[name].bound


def _exponentials_apart(bits: np.ndarray) -> int:
    """The largest error in ulp of `near_exp` on the numbers of some bits, of either sign."""
    x = bits.astype(np.uint32).view(np.float32)
    x = np.concatenate([x, -x])
    with np.errstate(over="ignore"):
        exact = np.exp(x.astype(np.float64))
    return int(distance(evaluated_by(near_exp, x), exact).max())


LAST = int(np.float32(NEAR).view(np.uint32)) + 1
"""Behind the bits of the largest argument of `near_exp`."""


def test_exponentials_near_zero_are_within_the_bound() -> None:
    """Numbers whose errors are the largest, and every 4,001st."""
    worst = np.float32([0.8164482, 11.4, 23.7, 46.1]).view(np.uint32)
    spread = worst[:, None] + np.arange(-4000, 4000)
    assert _exponentials_apart(spread.ravel()) <= MATH_FUNCTIONS["exp"].bound
    assert _exponentials_apart(np.arange(0, LAST, 4001)) <= MATH_FUNCTIONS["exp"].bound


@pytest.mark.slow
def test_exponentials_of_all_numbers_near_zero_are_within_the_bound() -> None:
    """Smaller ones than 2**-26 have 1 as their exponential."""
    for first in range(101 << 23, LAST, 1 << 21):
        bits = np.arange(first, min(first + (1 << 21), LAST))
        assert _exponentials_apart(bits) <= MATH_FUNCTIONS["exp"].bound, first


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_every_exponent_are_reduced(name: str) -> None:
    """Multiples of pi / 2 come closest to it where nearly all bits cancel."""
    exponents = np.arange(-10, 128)
    nearest = [np.ldexp(1 + k / 64, exponents) for k in range(64)]
    quarters = np.arange(1, 4000) * (numbers.pi / 2)
    x = np.concatenate([*nearest, quarters, -quarters]).astype(np.float32)
    apart = distance(evaluated(name, x), reference(name, x))
    assert apart.max() <= MATH_FUNCTIONS[name].bound


def test_every_operation_is_in_the_tables() -> None:
    """Each function of floats is an instruction, written out, or both."""
    written = {kind.name for table in (IN_ANY, IN_F32, WHOLE_IN_F32) for kind in table}
    named = {f"math.{name}" for name in MATH_FUNCTIONS}
    plain = {kind.name for kind in IN_ANY}
    assert written - plain | {"math.exp2", "math.sqrt", "math.rsqrt"} == named
    fast = {f"math.{name}" for name, function in MATH_FUNCTIONS.items() if function.fast}
    assert {kind.name for kind in FUNCTIONS} == fast
    assert {kind.name for kind in WRITTEN_OUT} == written - fast
    exact = {"absf", "absi", "ceil", "floor", "fma", "roundeven", "trunc"}
    counts = {"ctlz", "cttz", "ctpop"}
    every = {kind.name.removeprefix("math.") for kind in math.Math.operations}
    assert every == {name.removeprefix("math.") for name in named | written} | exact | counts


POLYNOMIALS = {
    name: polynomial
    for name, polynomial in vars(coefficients).items()
    if isinstance(polynomial, Polynomial)
}

WHOLE = {
    "EXP": lambda p, x: 1 + x + x * x * p(x),
    "SINH": lambda p, x: x + x**3 * p(x * x),
    "TANH": lambda p, x: x + x**3 * p(x * x),
    "LOG": lambda p, x: x + x * x * p(x),
    "LOG1P": lambda p, x: x + x * x * p(x),
    "LOG2": lambda p, x: x * np.longdouble(np.float32(1 / numbers.log(2))) + x * x * p(x),
    "LOG2_WIDE": lambda p, x: x * p(x),
    "EXP2": lambda p, x: p(x),
    "SIN": lambda p, x: x + x**3 * p(x * x),
    "COS": lambda p, x: 1 + x * x * p(x * x),
    "TAN": lambda p, x: x + x**3 * p(x * x),
    "ASIN": lambda p, x: x + x**3 * p(x * x),
    "ATAN": lambda p, x: x + x**3 * p(x * x),
}
"""The function that a polynomial is part of."""

EXACT = {
    "EXP": np.exp,
    "SINH": np.sinh,
    "TANH": np.tanh,
    "LOG": np.log1p,
    "LOG1P": np.log1p,
    "LOG2": lambda x: np.log1p(x) / np.log(np.longdouble(2)),
    "LOG2_WIDE": lambda x: np.log1p(x) / np.log(np.longdouble(2)),
    "EXP2": np.exp2,
    "SIN": np.sin,
    "COS": np.cos,
    "TAN": np.tan,
    "ASIN": np.arcsin,
    "ATAN": np.arctan,
}
SQUARED = ("SINH", "TANH", "SIN", "COS", "TAN", "ASIN", "ATAN")


@pytest.mark.parametrize("name", WHOLE)
def test_polynomials_are_as_close_as_they_say(name: str) -> None:
    polynomial = POLYNOMIALS[name]
    ends = np.array([polynomial.low, polynomial.high], np.longdouble)
    low, high = np.sqrt(ends) if name in SQUARED else ends
    x = np.linspace(low, high, 2001, dtype=np.longdouble)
    x = x[np.abs(x) > 1e-3]

    def value(s: np.ndarray) -> np.ndarray:
        return sum(np.longdouble(c) * s**k for k, c in enumerate(polynomial.coefficients))

    exact = EXACT[name](x)
    error = np.max(np.abs(WHOLE[name](value, x) / exact - 1))
    assert polynomial.error / 3 < error <= polynomial.error


@pytest.mark.parametrize("kind", OF_NORMAL, ids=lambda kind: kind.name)
def test_logarithms_of_normal_numbers_have_the_same_bits(kind: type) -> None:
    """Every 40,009th number that is no smaller than the smallest normal one; infinity and NaN."""
    bits = np.arange(0x00800000, 0x7F800001, 40_009, dtype=np.uint32)
    special = np.uint32([0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0xFFC00000])
    x = np.concatenate([bits, special]).view(np.float32)
    whole, normal = evaluated_by(IN_F32[kind], x), evaluated_by(OF_NORMAL[kind], x)
    np.testing.assert_array_equal(whole, normal)


def test_one_plus_a_tangent_is_as_close_as_both_and_closer_where_they_cancel() -> None:
    """3 units off at most from -1 on, relative to what is left below, and never by more of 1."""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-40, 40, 100_000), rng.standard_normal(100_000)])
    x = x.astype(np.float32)
    exact = 2 / (1 + np.exp(-2 * x.astype(np.float64)))
    found = evaluated_by(one_plus_tanh, x)
    apart = np.abs(found - exact)
    assert distance(found, exact)[x >= -1].max() <= 3
    assert (apart <= (6 + 3 * np.abs(x)) * 2.0**-24 * exact).all()
    edges = np.array([-np.inf, -1e30, 1e30, np.inf, np.nan, 0.0], np.float32)
    assert np.array_equal(evaluated_by(one_plus_tanh, edges), [0, 0, 2, 2, np.nan, 1], True)


def test_square_roots_of_fragments_have_all_bits() -> None:
    """Eight to a thread, on the emulator: plain ones, zeros among them, and any bits at all."""
    rng = np.random.default_rng(4)
    plain, normal = (rng.integers(0x0D000000, 0x7F800000, n, np.uint32) for n in (65536, 4096))
    normal[::7] = 0
    any_bits = rng.integers(0, 1 << 32, 4096, np.uint32)
    x = np.concatenate([plain, normal, any_bits]).view(np.float32)
    tile = "tensor<1024xf32>"
    body = f"%r = math.sqrt %t : {tile}\n  "
    memref = f"memref<{len(x)}xf32>"
    text = kernel(
        f"%a: {memref}, %o: {memref}",
        load("t", "a", memref, "1024xf32", "%x") + body + store("r", "o", memref, "1024xf32", "%x"),
    )
    made = compile(text, "sm_90a")
    run = made.emulate(x, np.zeros_like(x), grid=len(x) // 1024)
    assert run.findings == []
    assert made.ptx.count("rsqrt.approx.ftz.f32") == 8
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(run.arrays[1], np.sqrt(x))


def test_logarithms_of_inverse_roots_know_that_zero_has_a_sign() -> None:
    """The inverse of the root of -0.0 is -inf, and no sum with it has a logarithm."""
    x = np.resize(np.float32([0.0, -0.0, 1.0, 4.0, -1.0, np.inf, 1e-38, 9.0]), 1024)
    tile, memref = "tensor<1024xf32>", f"memref<{len(x)}xf32>"
    body = f"""%ones = arith.constant dense<1.0> : {tile}
  %i = math.rsqrt %t : {tile}
  %s = arith.addf %i, %ones : {tile}
  %r = math.log %s : {tile}
  """
    text = kernel(
        f"%a: {memref}, %o: {memref}",
        load("t", "a", memref, "1024xf32", "%x") + body + store("r", "o", memref, "1024xf32", "%x"),
    )
    run = compile(text, "sm_90a").emulate(x, np.zeros_like(x), grid=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_allclose(run.arrays[1], np.log(1 + 1 / np.sqrt(x)), rtol=1e-6)
