"""Gathers and scatters of rows: wide accesses where neighbours lie side by side."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

pytest.importorskip("cuda.tile")

from kernels.cutile.gather_scatter import embedding, scatter_rows

RNG = np.random.default_rng(11)
TILE = (16, 128)


def rows_of(count: int, width: int, begin: int, element: Any) -> Any:
    """Rows of a wider array, so that they begin where `begin` says."""
    whole = RNG.integers(-99, 99, (count, width + begin)).astype(element)
    return whole[:, begin:]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("width", "begin", "element"),
    [
        (128, 0, "f4"),
        (125, 0, "f4"),
        (128, 2, "f4"),
        (128, 1, "f2"),
        (120, 8, "f2"),
        (128, 0, "i1"),
    ],
)
def test_rows_are_gathered_and_scattered(width: int, begin: int, element: str) -> None:
    table = rows_of(20, width, begin, element)
    words = RNG.integers(-2, 22, 16).astype(np.int32)
    y = np.zeros((16, width), element)
    kernel = tileas.compile(embedding, table, words, y, *TILE)
    found = kernel.emulate(table, words, y, *TILE)
    assert [str(finding) for finding in found.findings] == []
    known = (words >= 0) & (words < 20)
    expected = np.where(known[:, None], table[np.where(known, words, 0)], 0)
    assert found.arrays[2].tolist() == expected.tolist()
    out = rows_of(20, width, begin, element)
    places = RNG.permutation(24)[:16].astype(np.int32)
    kernel = tileas.compile(scatter_rows, expected.astype(element), places, out, *TILE)
    found = kernel.emulate(expected.astype(element), places, out, *TILE)
    assert [str(finding) for finding in found.findings] == []
    wanted = out.copy()
    wanted[places[places < 20]] = expected[places < 20]
    assert found.arrays[2].tolist() == wanted.tolist()


def test_whole_rows_take_fewer_instructions() -> None:
    """Rows that begin between multiples of 16 bytes are loaded by neighbouring lanes instead."""
    words = RNG.integers(0, 20, 16).astype(np.int32)
    counts: list[int] = []
    for begin in (0, 1):
        table, y = rows_of(20, 128, begin, "f4"), np.zeros((16, 128), np.float32)
        kernel = tileas.compile(embedding, table, words, y, *TILE)
        assert bool(re.search(r"ld\.global\.v4\.\w+", kernel.ptx)) == (begin == 0)
        counts.append(kernel.emulate(table, words, y, *TILE).instructions)
    assert counts[0] < counts[1]
