"""Simplified expressions have the values of the ones they stand for, and are shorter."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tileas_xdsl.layout.expr.expression import Number, dimension, dimensions_of, substituted, symbol
from tileas_xdsl.layout.expr.simplification import simplified
from tileas_xdsl.layout.expr.tables import table_of

I, J = dimension(0), dimension(1)
S = symbol(0)


@pytest.mark.parametrize(
    ("expression", "extents", "expected"),
    [
        ((I * 16 + J) // 32, (4, 16), "d0 // 2"),
        ((I * 128 + J) // 4 % 128, (128, 128), "d0 % 4 * 32 + d1 // 4"),
        ((I * 96 + J) // 4 % 128, (64, 96), "(d0 * 24 + d1 // 4) % 128"),
        (I // 8 * 8 + I % 8, (64,), "d0"),
        (I % 16 % 8, (64,), "d0 % 8"),
        ((I * 4 + 64) // 32, (8,), "2"),
        (J * 5, (4, 1), "0"),
    ],
)
def test_digits_come_out_of_sums(
    expression: Number, extents: tuple[int, ...], expected: str
) -> None:
    assert str(simplified(expression, extents)) == expected


def test_unbounded_symbols_stay() -> None:
    assert str(simplified((S * 64 + I) // 64, (64,))) == "s0"
    assert str(simplified((S + I) // 64, (64,))) == "(s0 + d0) // 64"


def test_arguments_are_put_in() -> None:
    thread = simplified(substituted(I * 16 + J, [I * 2 + J, 0]), (2, 2))
    assert str(thread) == "d0 * 32 + d1 * 16"
    assert dimensions_of(thread) == {0, 1}


def _random_expression(source: random.Random, depth: int = 0) -> Number:
    kind = source.choice(["leaf", "sum", "sum", "multiple", "quotient", "remainder"])
    if depth > 4 or kind == "leaf":
        leaves = [I, J, dimension(2), source.randrange(-3, 20)]
        return source.choice(leaves)
    first = _random_expression(source, depth + 1)
    if kind == "sum":
        return first + _random_expression(source, depth + 1)
    if kind == "multiple":
        return first * source.choice([1, 2, 3, 4, 8, 16, -1])
    divisor = source.choice([1, 2, 3, 4, 6, 8, 16, 32])
    return first // divisor if kind == "quotient" else first % divisor


def test_values_stay() -> None:
    source = random.Random(11)
    for _ in range(400):
        extents = (source.choice([1, 2, 3, 8, 16]), source.choice([1, 4, 6]), source.choice([2, 5]))
        expression = _random_expression(source)
        shorter = simplified(expression, extents)
        assert np.array_equal(table_of(expression, extents), table_of(shorter, extents)), (
            extents,
            str(expression),
            str(shorter),
        )
