# pyright: basic, reportInvalidTypeForm=false
"""Slices that a tile of indices picks: what is outside of the array, and how they are read."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct: Any = pytest.importorskip("cuda.tile")

RNG = np.random.default_rng(5)
ROWS = np.array([7, 0, 19, 3, 21, 5, -1, 2, *range(8, 16)], np.int32)
KNOWN = (ROWS >= 0) & (ROWS < 20)
Int, Mode = ct.Constant[int], ct.Constant[Any]
MODES = ct.PaddingMode


@ct.kernel
def picked(x: Any, rows: Any, y: Any, first: Int, mode: Mode) -> None:
    """Rows by their numbers, 64 columns of them."""
    indices = ct.load(rows, 0, 16)
    ct.store(
        y, (0, 0), ct.load_advanced_indexing(x, (indices, ct.Slice(first, 64)), padding_mode=mode)
    )


@ct.kernel
def gathered(x: Any, rows: Any, y: Any, first: Int) -> None:
    """The same by a gather."""
    columns = first + ct.arange(64, dtype=ct.int32)
    ct.store(y, (0, 0), ct.gather(x, (ct.load(rows, 0, 16)[:, None], columns[None, :])))


@ct.kernel
def inner(x: Any, chosen: Any, y: Any, plane: int) -> None:
    """Columns by their numbers, of some rows of a plane."""
    indices = ct.load(chosen, 0, 8)
    places = (ct.Slice(plane, 1), ct.Slice(2, 4), indices)
    tile = ct.load_advanced_indexing(x, places, padding_mode=MODES.ZERO)
    ct.store_advanced_indexing(y, places, tile * 2)


@ct.kernel
def experts(x: Any, w: Any, rows: Any, chosen: Any, y: Any, tm: Int, tn: Int, tk: Int) -> None:
    """Rows by their numbers times the weights of the expert that a number says."""
    i, j = ct.bid(0), ct.bid(1)
    expert = ct.gather(chosen, i).item()
    mine, acc = ct.load(rows, i, tm), ct.zeros((tm, tn), ct.float32)
    for k in range(ct.cdiv(x.shape[1], tk)):
        slices = (mine, ct.Slice(k * tk, tk))
        a = ct.load_advanced_indexing(x, slices, padding_mode=MODES.ZERO)
        b = ct.load(w, (expert, j, k), (1, tn, tk)).reshape((tn, tk))
        acc = ct.mma(a, b.transpose(), acc)
    ct.store(y, (i, j), acc)


def emulated(kernel: Any, *args: Any, grid: Any = (1,)) -> Any:
    found = kernel.emulate(*args, grid=grid, order="random", seed=1)
    assert [str(finding) for finding in found.findings] == []
    return found.arrays


@pytest.mark.parametrize(
    ("mode", "element", "outside"),
    [
        (MODES.ZERO, "f2", 0.0),
        (MODES.NEG_INF, "f4", -np.inf),
        (MODES.POS_INF, "f8", np.inf),
        (MODES.NAN, "f2", np.nan),
        (MODES.ZERO, "i2", 0),
        (MODES.ZERO, "u1", 0),
    ],
)
@pytest.mark.parametrize("first", [0, 40])
def test_what_the_array_does_not_have(mode: Any, element: str, outside: float, first: int) -> None:
    x = RNG.integers(1, 99, (20, 96)).astype(element)
    y = np.zeros((16, 64), element)
    kernel = tileas.compile(picked, x, ROWS, y, first, mode)
    wanted = np.full((16, 64), outside).astype(element)
    width = min(64, 96 - first)
    wanted[KNOWN, :width] = x[ROWS[KNOWN], first : first + width]
    arguments = (x, ROWS, y, first, mode)
    np.testing.assert_array_equal(kernel.evaluate(*arguments).arrays[2], wanted)
    np.testing.assert_array_equal(emulated(kernel, *arguments)[2], wanted)


def test_a_slice_is_read_as_a_gather_is() -> None:
    """By as wide loads, which rows that begin at multiples of 16 bytes let threads do."""
    x, y = np.zeros((20, 96), np.float16), np.zeros((16, 64), np.float16)
    slices = tileas.compile(picked, x, ROWS, y, 0, MODES.ZERO).ptx
    words = re.findall(r"ld\.global\.\w+\.b32 \{", slices)
    assert words == re.findall(
        r"ld\.global\.\w+\.b32 \{", tileas.compile(gathered, x, ROWS, y, 0).ptx
    )
    assert words
    assert "ld.global.b16" not in slices


@pytest.mark.parametrize("width", [32, 64])
def test_indices_of_the_last_dimension_of_three(width: int) -> None:
    """Those of 64 bits are narrowed, as all of Tile IR are."""
    x = RNG.integers(-99, 99, (3, 7, 30)).astype(np.int16)
    chosen = np.array([29, 30, -1, 0, 4, 11, 3, 1 << 30], f"i{width // 8}")
    kernel = tileas.compile(inner, x, chosen, x, 1)
    wanted, inside = np.full_like(x, 5), chosen[(chosen >= 0) & (chosen < 30)]
    wanted[1, 2:6, inside] = 2 * x[1, 2:6, inside]
    np.testing.assert_array_equal(emulated(kernel, x, chosen, np.full_like(x, 5), 1)[2], wanted)


@pytest.mark.parametrize(("target", "tm"), [("sm_90a", 64), ("sm_90a", 16), ("sm_100a", 128)])
def test_rows_and_weights_are_copied_ahead(target: str, tm: int) -> None:
    """Both agents read the expert's number, which is no tile; rows go through `cp.async`."""
    x, w = (RNG.standard_normal(shape).astype(np.float16) for shape in ((50, 128), (3, 64, 128)))
    rows, chosen = RNG.integers(0, 50, 2 * tm).astype(np.int32), np.array([2, 0], np.int32)
    rows[5] = -1
    arguments = (x, w, rows, chosen, np.zeros((2 * tm, 64), np.float32), tm, 64, 32)
    kernel = tileas.compile(experts, *arguments, target=target)
    assert "not_pipelined" not in kernel.ir("tileas-pipeline-loads")
    assert "cp.async.c" in kernel.ptx
    a = np.where((rows >= 0)[:, None], x[rows], 0).astype(np.float64)
    b = w[np.repeat(chosen, tm)].astype(np.float64)
    found = emulated(kernel, *arguments, grid=(2, 1))
    np.testing.assert_allclose(found[4], np.einsum("mk,mnk->mn", a, b), atol=1e-3)
