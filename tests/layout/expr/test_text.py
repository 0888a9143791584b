"""Expressions as text, which Python reads as the same function."""

from __future__ import annotations

import pytest

from tileas_xdsl.layout.expr.expression import Number, dimension
from tileas_xdsl.layout.expr.tables import evaluated

I, J = dimension(0), dimension(1)

TEXTS = [
    (I * 16 + J, "d0 * 16 + d1"),
    ((I * 24 + J // 4) % 128, "(d0 * 24 + d1 // 4) % 128"),
    (I % 16 // 8 * 2, "d0 % 16 // 8 * 2"),
    ((I + J) // 3 * 2 - 2, "(d0 + d1) // 3 * 2 - 2"),
    (I + (J + 1), "d0 + d1 + 1"),
    (I // 4 % 2, "d0 // 4 % 2"),
]


@pytest.mark.parametrize(("expression", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_no_more_parentheses_than_needed(expression: Number, text: str) -> None:
    assert str(expression) == text
    for i in range(20):
        for j in range(20):
            assert eval(text, {"d0": i, "d1": j}) == evaluated(expression, (i, j))
