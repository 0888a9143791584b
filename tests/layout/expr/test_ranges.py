"""Ranges of expressions against all their values."""

from __future__ import annotations

from itertools import product

import pytest

from tileas_xdsl.layout.expr.expression import Number, ceildiv, dimension, symbol
from tileas_xdsl.layout.expr.ranges import box, range_of
from tileas_xdsl.layout.expr.tables import evaluated

I, J = dimension(0), dimension(1)
N = symbol(0)
EXTENTS = (5, 12)
BOX = box(EXTENTS)

EXACT = [
    I * 12 + J,
    (I * 12 + J) // 7,
    (I * 12 + J) % 7,
    J % 16,
    (J + 20) % 16,
    J * -3 + 2,
    ceildiv(J - 6, 5),
    (J - 6) // 5,
    (I + 32) % 8,
]


@pytest.mark.parametrize("expression", EXACT, ids=str)
def test_a_range_has_the_least_and_the_greatest_value(expression: Number) -> None:
    values = [int(evaluated(expression, at)) for at in product(*map(range, EXTENTS))]
    assert range_of(expression, BOX) == (min(values), max(values))


def test_what_a_symbol_may_be_is_unknown_but_its_remainder_is_not() -> None:
    assert range_of(N + I, BOX) is None
    assert range_of(N % 4, BOX) == (0, 3)
    assert range_of(N * 2 + I, box(EXTENTS, (3,))) == (0, 8)


def test_a_variable_that_occurs_twice_may_make_a_range_too_wide() -> None:
    assert range_of(I - I, BOX) == (-4, 4)
