"""Tables over threads come back as sums or exclusive-ors of digits, if they are some."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.layout.expr.digit_fits import bit_rows, digit_rows, fit

THREADS = np.arange(64)


def test_a_sum_of_bits_comes_back_though_entries_are_unknown() -> None:
    table = THREADS % 4 * 8 + THREADS // 16 * 100 + 3
    table[[5, 17, 40]] = -1
    assert fit("add", table, bit_rows(64)) == (3, (8, 16, 0, 0, 100, 200))


def test_a_swizzle_is_an_exclusive_or_and_no_sum() -> None:
    table = THREADS % 8 * 16 ^ THREADS // 8 * 16 ^ 5
    assert fit("add", table, bit_rows(64)) is None
    assert fit("xor", table, bit_rows(64)) == (5, (16, 32, 64, 16, 32, 64))


@pytest.mark.parametrize("kind", ["add", "xor"])
def test_what_digits_do_not_decide_has_no_fit(kind: str) -> None:
    table = THREADS * THREADS % 61
    assert fit(kind, table, bit_rows(64)) is None


def test_digits_that_are_no_bits() -> None:
    table = THREADS % 48 // 3 % 16 * 5 + THREADS % 3
    assert fit("add", table[:48], bit_rows(48)) is None
    assert fit("add", table[:48], digit_rows(48, [(1, 3), (3, 16)])) == (0, (1, 5))


def test_of_a_table_of_unknowns_anything_fits() -> None:
    assert fit("add", np.full(8, -1), bit_rows(8)) == (0, (0, 0, 0))
