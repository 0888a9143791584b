# pyright: basic
"""Elements of rotated rows that are chosen by how their columns compare with a number."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

import tileas_xdsl as tileas

COLUMNS = 2048


@ct.kernel
def below(x: Any, y: Any, z: Any, n: int, columns: ct.Constant[int]) -> None:
    """Elements of `x` in front of column `n`, and 7 from it on; of `z` those up to it, and -x."""
    i, j = ct.bid(0), ct.arange(columns, dtype=ct.int32)
    row = ct.load(x, (i, 0), (1, columns))
    ct.store(y, (i, 0), ct.where(j < n, row, ct.full((1, columns), 7, dtype=x.dtype)))
    ct.store(z, (i, 0), ct.where(j <= n, row, -row))


@cache
def compiled() -> Any:
    rows = "f16[?, ?]"
    signature = f"x: {rows}, y: {rows}, z: {rows}, n: i32, columns={COLUMNS}"
    return tileas.compile(below, target="sm_90a", signature=signature)


@pytest.mark.parametrize("n", [-1, 0, 1, 9, 1027, 1998, 1999, 2047, 2048, 5000])
def test_each_element_is_chosen_by_its_column(n: int) -> None:
    """Wherever rows begin, whether the number is in a run, in front of all, or behind the row."""
    x = np.random.default_rng(abs(n)).standard_normal((9, 1999)).astype(np.float16)
    y, z = np.full_like(x, np.nan), np.full_like(x, np.nan)
    found = compiled().emulate(x, y, z, n, COLUMNS, grid=(9, 1, 1))
    assert not found.findings
    j = np.arange(1999)
    assert np.array_equal(found.arrays[1], np.where(j < n, x, np.float16(7)))
    assert np.array_equal(found.arrays[2], np.where(j <= n, x, -x))


def test_one_comparison_decides_for_a_run() -> None:
    """Those of its eight elements are in a branch that most threads do not take.

    So are those of what is loaded around the ends of a row.
    """
    blocks = re.split(r"^\$L.*$", compiled().ptx, flags=re.MULTILINE)
    counts = [block.count("selp.b16") for block in blocks]
    assert sum(counts) == 3 * COLUMNS // compiled().abi.threads
    assert max(counts) == 8
