"""Ranges of expressions against all their values."""

from __future__ import annotations

from itertools import product

import pytest
from xdsl.ir.affine import AffineExpr

from tileas_xdsl.inference.ranges import range_of

I, J = AffineExpr.dimension(0), AffineExpr.dimension(1)
N = AffineExpr.symbol(0)
EXTENTS = (5, 12)

EXACT = [
    I * 12 + J,
    (I * 12 + J) // 7,
    (I * 12 + J) % 7,
    J % 16,
    (J + 20) % 16,
    J * -3 + 2,
    (J - 6).ceil_div(5),
    (J - 6) // 5,
    (I + 32) % 8,
]


@pytest.mark.parametrize("expression", EXACT, ids=str)
def test_a_range_has_the_least_and_the_greatest_value(expression: AffineExpr) -> None:
    values = [expression.eval(at, ()) for at in product(*map(range, EXTENTS))]
    assert range_of(expression, EXTENTS) == (min(values), max(values))


def test_what_a_symbol_may_be_is_unknown_but_its_remainder_is_not() -> None:
    assert range_of(N + I, EXTENTS) is None
    assert range_of(N % 4, EXTENTS) == (0, 3)
    assert range_of(N * 2 + I, EXTENTS, (3,)) == (0, 8)


def test_a_variable_that_occurs_twice_may_make_a_range_too_wide() -> None:
    assert range_of(I - I, EXTENTS) == (-4, 4)
