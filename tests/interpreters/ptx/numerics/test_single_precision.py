"""Operations by numpy's f32 and f64 against those that work for every format and direction."""

import numpy as np
import pytest

from tileas_xdsl.interpreters.ptx.numerics.directed_rounding import fused, rounded, two_product
from tileas_xdsl.interpreters.ptx.numerics.float_formats import FORMATS, encode
from tileas_xdsl.interpreters.ptx.numerics.single_precision import fused_single, single_operation

RNG = np.random.default_rng(7)
SPECIAL = (0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00001, 0x3F800000, 0x33800000)


def words(count: int) -> np.ndarray:
    """Bits of any f32, of numbers near 1 with short mantissas, and of special ones."""
    anything = RNG.integers(0, 1 << 32, count)
    short = (127 + RNG.integers(-26, 26, count) << 23) | RNG.integers(0, 8, count) << 20
    special = RNG.choice(SPECIAL, count)
    signs = RNG.integers(0, 2, count) << 31
    parts = np.stack([anything, short | signs, special | signs])
    return RNG.permuted(parts, axis=0)[0].astype(np.uint32)


@np.errstate(all="ignore")
def test_fused_rounds_once() -> None:
    """Random operands, of which some hundred sums lie halfway or are subnormal."""
    bits = [words(20_000) for _ in range(3)]
    doubles = [b.view(np.float32).astype(np.float64) for b in bits]
    found = single_operation(fused_single, ftz=False)(*bits).view(np.uint32)
    assert np.array_equal(found, rounded(fused(*doubles), "f32", "rn"))


@np.errstate(all="ignore")
def test_subnormal_operands_and_results_are_flushed() -> None:
    bits = [words(5_000) for _ in range(2)]
    doubles = [b.view(np.float32).astype(np.float64) for b in bits]
    small = [np.where(abs(d) < 2.0**-126, np.copysign(0, d), d) for d in doubles]
    wanted = rounded(two_product(*small), "f32", "rn")
    is_small = (wanted & 0x7F800000) == 0
    wanted = np.where(is_small, wanted & 0x80000000, wanted)
    found = single_operation(np.multiply, ftz=True)(*bits).view(np.uint32)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("name", ["f32", "f16"])
@np.errstate(all="ignore")
def test_conversions_round_once(name: str) -> None:
    """Against halves away from zero, which agree but for what lies halfway and is even below."""
    mantissa = FORMATS[name].mantissa
    values = np.ldexp(1.0 + RNG.integers(0, 1 << 12, 9_000) / 4096, RNG.integers(-160, 140, 9_000))
    values += np.ldexp(1.0, np.frexp(values)[1] - 2 - mantissa) * RNG.integers(0, 4, 9_000) / 2
    down, up, near = (encode(values, name, mode).astype(int) for mode in ("rz", "rp", "rn"))
    low, high = (np.abs(values - _value(bits, name)) for bits in (down, up))
    even = np.where(down % 2 == 0, down, up)
    assert np.array_equal(near, np.where(low == high, even, np.where(low < high, down, up)))


def _value(bits: np.ndarray, name: str) -> np.ndarray:
    """The number of positive bits; of infinity the power of two that rounding stands for."""
    f = FORMATS[name]
    exponent = bits >> f.mantissa
    fraction = bits & ((1 << f.mantissa) - 1)
    whole = np.where(exponent > 0, fraction + (1 << f.mantissa), fraction)
    return np.ldexp(whole.astype(np.float64), np.maximum(exponent, 1) - 1 + f.smallest)
