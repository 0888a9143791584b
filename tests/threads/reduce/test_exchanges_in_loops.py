"""Rows reduced round after round: threads meet as often as what they exchange asks for."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from tileas_xdsl.compiler import compile

ROUNDS, TILE = 9, 512
ROWS = 2

Floats = NDArray[np.float32]


@ct.kernel
def largest(x, y, rounds: ct.Constant[int], tile: ct.Constant[int]):
    """The largest element of a row."""
    i = ct.bid(0)
    found = ct.full((1, 1), -1.0e30, ct.float32)
    for j in range(rounds):
        found = ct.maximum(found, ct.max(ct.load(x, (i, j), (1, tile)), 1, keepdims=True))
    ct.store(y, (i, 0), found)


@ct.kernel
def spread(x, y, rounds: ct.Constant[int], tile: ct.Constant[int]):
    """The largest element of a row less the smallest one."""
    i = ct.bid(0)
    most = ct.full((1, 1), -1.0e30, ct.float32)
    least = ct.full((1, 1), 1.0e30, ct.float32)
    for j in range(rounds):
        t = ct.load(x, (i, j), (1, tile))
        most = ct.maximum(most, ct.max(t, 1, keepdims=True))
        least = ct.minimum(least, ct.min(t, 1, keepdims=True))
    ct.store(y, (i, 0), most - least)


@ct.kernel
def log_sum(x, y, rounds: ct.Constant[int], tile: ct.Constant[int]):
    """The logarithm of the sum of a row's exponentials, as in a softmax of one pass."""
    i = ct.bid(0)
    most = ct.full((1, 1), -1.0e30, ct.float32)
    total = ct.zeros((1, 1), ct.float32)
    for j in range(rounds):
        t = ct.load(x, (i, j), (1, tile))
        new = ct.maximum(most, ct.max(t, 1, keepdims=True))
        total = total * ct.exp(most - new) + ct.sum(ct.exp(t - new), 1, keepdims=True)
        most = new
    ct.store(y, (i, 0), most + ct.log(total))


@ct.kernel
def log_sum_of_lines(x, y, rounds: ct.Constant[int], tile: ct.Constant[int]):
    """The same of tiles of one dimension, whose sums are scalars."""
    i = ct.bid(0)
    most, total = -1.0e30, 0.0
    for j in range(rounds):
        t = ct.gather(x, (i, j * tile + ct.arange(tile, dtype=ct.int32)), check_bounds=False)
        new = ct.maximum(most, ct.max(t))
        total = total * ct.exp(most - new) + ct.sum(ct.exp(t - new))
        most = new
    ct.scatter(y, (i, 0), most + ct.log(total))


def _log_sums(x: Floats) -> Floats:
    most = x.max(1, keepdims=True)
    return most + np.log(np.exp(x - most).sum(1, keepdims=True))


CASES = {
    "extremes": (largest, lambda x: x.max(1, keepdims=True), 1),
    "two of them": (spread, lambda x: np.ptp(x, axis=1, keepdims=True), 2),
    "sums, which are exchanged behind the loop": (log_sum, _log_sums, 1),
    "sums that are scalars": (log_sum_of_lines, _log_sums, 1),
}
"""A kernel, what it computes, and how often threads exchange something in a round."""


@pytest.mark.parametrize(("kernel", "expected", "exchanges"), CASES.values(), ids=CASES)
def test_threads_meet_once_for_each_exchange(kernel: Any, expected: Any, exchanges: int) -> None:
    """An exchange that is the only one of a loop waits for the round before.

    Where two rounds are loaded together there are more.
    """
    x = np.random.default_rng(4).standard_normal((ROWS, ROUNDS * TILE)).astype(np.float32)
    arguments = (x, np.zeros((ROWS, 1), np.float32), ROUNDS, TILE)
    made = compile(kernel, *arguments, target="sm_90a")
    found = made.emulate(*arguments, grid=ROWS, order="random")
    assert [str(finding) for finding in found.findings] == []
    np.testing.assert_allclose(found.arrays[1], expected(x), rtol=1e-5)
    loop = _first_loop(made.ptx)
    stored = sum("st.shared" in line for line in loop)
    assert stored % exchanges == 0
    assert sum("bar.sync" in line for line in loop) == max(stored, 2)


def _first_loop(ptx: str) -> list[str]:
    """What is between the first label that is branched back to and the last such branch."""
    found = re.search(r"^(\$L\d+):\n(?:.*\n)*.*bra \1;", ptx, re.MULTILINE)
    assert found is not None
    return found[0].splitlines()
