"""Simplified expressions have the values of the ones they stand for, and are shorter."""

from __future__ import annotations

import random

import numpy as np
import pytest
from xdsl.ir.affine import AffineExpr

from tileas_xdsl.inference.fragment_map import Table, coordinates_of
from tileas_xdsl.inference.simplify import simplified, substituted, variables_of

I, J = AffineExpr.dimension(0), AffineExpr.dimension(1)
S = AffineExpr.symbol(0)


@pytest.mark.parametrize(
    ("expression", "extents", "expected"),
    [
        ((I * 16 + J) // 32, (4, 16), "(d0 floordiv 2)"),
        ((I * 128 + J) // 4 % 128, (128, 128), "(((d0 mod 4) * 32) + (d1 floordiv 4))"),
        ((I * 96 + J) // 4 % 128, (64, 96), "(((d0 * 24) + (d1 floordiv 4)) mod 128)"),
        (I // 8 * 8 + I % 8, (64,), "d0"),
        (I % 16 % 8, (64,), "(d0 mod 8)"),
        ((I * 4 + 64) // 32, (8,), "2"),
        (J * 5, (4, 1), "0"),
    ],
)
def test_digits_come_out_of_sums(
    expression: AffineExpr, extents: tuple[int, ...], expected: str
) -> None:
    assert str(simplified(expression, extents)) == expected


def test_unbounded_symbols_stay() -> None:
    assert str(simplified((S * 64 + I) // 64, (64,))) == "s0"
    assert str(simplified((S + I) // 64, (64,))) == "((s0 + d0) floordiv 64)"


def test_arguments_are_put_in() -> None:
    thread = substituted(I * 16 + J, [I * 2 + J, AffineExpr.constant(0)], extents=(2, 2))
    assert str(thread) == "((d0 * 32) + (d1 * 16))"
    assert variables_of(thread) == {0, 1}


def _random_expression(source: random.Random, depth: int = 0) -> AffineExpr:
    kind = source.choice(["leaf", "sum", "sum", "multiple", "quotient", "remainder"])
    if depth > 4 or kind == "leaf":
        leaves = [I, J, AffineExpr.dimension(2), AffineExpr.constant(source.randrange(-3, 20))]
        return source.choice(leaves)
    first = _random_expression(source, depth + 1)
    if kind == "sum":
        return first + _random_expression(source, depth + 1)
    if kind == "multiple":
        return first * source.choice([1, 2, 3, 4, 8, 16, -1])
    divisor = source.choice([1, 2, 3, 4, 6, 8, 16, 32])
    return first // divisor if kind == "quotient" else first % divisor


def _values(expression: AffineExpr, extents: tuple[int, ...]) -> Table:
    values = expression.eval(coordinates_of(extents), [])  # pyright: ignore[reportArgumentType]
    return np.broadcast_to(np.asarray(values, dtype=np.int64), extents)


def test_values_stay() -> None:
    source = random.Random(11)
    for _ in range(400):
        extents = (source.choice([1, 2, 3, 8, 16]), source.choice([1, 4, 6]), source.choice([2, 5]))
        expression = _random_expression(source)
        shorter = simplified(expression, extents)
        assert np.array_equal(_values(expression, extents), _values(shorter, extents)), (
            extents,
            str(expression),
            str(shorter),
        )
