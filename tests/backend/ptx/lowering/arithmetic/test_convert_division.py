"""The multipliers that stand for a division by a constant, for every number of 8 bits."""

import pytest

from tileas_xdsl.backend.ptx.lowering.arithmetic.division import (
    signed_multiplier,
    unsigned_multiplier,
)

BITS = 8
MODULUS = 2**BITS


@pytest.mark.parametrize("divisor", [d for d in range(3, MODULUS) if d & (d - 1)])
def test_unsigned(divisor):
    multiplier, shift, add = unsigned_multiplier(divisor, BITS)
    assert 0 <= multiplier < MODULUS
    for value in range(MODULUS):
        high = value * multiplier >> BITS
        quotient = ((value - high >> 1) + high if add else high) >> shift
        assert quotient == value // divisor


@pytest.mark.parametrize("divisor", [d for d in range(3, MODULUS // 2) if d & (d - 1)])
def test_signed(divisor):
    multiplier, shift = signed_multiplier(divisor, BITS)
    assert 0 < multiplier < MODULUS
    wrapped = multiplier - MODULUS if multiplier >= MODULUS // 2 else multiplier
    for value in range(-MODULUS // 2, MODULUS // 2):
        high = (value * wrapped >> BITS) + (value if wrapped < 0 else 0)
        quotient = (high >> shift) + (value < 0)
        assert quotient == (abs(value) // divisor) * (1 if value >= 0 else -1)
