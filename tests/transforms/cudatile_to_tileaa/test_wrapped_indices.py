# pyright: basic
"""Gathers whose indices wrap around an extent check no bounds of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

import tileas_xdsl as tileas
from tests.support.plain_checks import TARGETS


@ct.kernel
def neighbours(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Sums of the two neighbours along both axes of a torus, in bytes that wrap as well."""
    height, width = x.shape
    i = ct.bid(0) * rows + ct.arange(rows, dtype=ct.int32)
    j = ct.bid(1) * columns + ct.arange(columns, dtype=ct.int32)
    above, left = ((i - 1) % height)[:, None], ((j - 1) % width)[None, :]
    below, right = ((i + 1) % height)[:, None], ((j + 1) % width)[None, :]
    found = ct.gather(x, (above, left)) + ct.gather(x, (below, right))
    ct.scatter(y, (i[:, None], j[None, :]), found * 3 - ct.gather(x, (above, right)))


@ct.kernel
def rolled(x, y, shift: int, other: int, tile: ct.Constant[int]):
    """Elements further on, around the end; and by a number that is no extent."""
    i = ct.bid(0) * tile + ct.arange(tile, dtype=ct.int32)
    found = ct.gather(x, (i + shift) % x.shape[0])
    ct.store(y, (ct.bid(0),), found + ct.gather(x, (i + shift) % other, padding_value=7))


def compiled(kernel: Any, *arguments: Any, target: str = "sm_90a") -> Any:
    return tileas.compile(kernel, *arguments, target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_neighbours_on_a_torus(target: str) -> None:
    x = np.random.default_rng(3).integers(0, 256, (24, 40)).astype(np.uint8)
    arguments = x, np.zeros_like(x), 16, 32
    found = compiled(neighbours, *arguments, target=target).emulate(*arguments, grid=(2, 2, 1))
    assert found.finished
    assert not found.findings
    shifted = [np.roll(x, by, (0, 1)) for by in ((1, 1), (-1, -1), (1, -1))]
    wanted = (shifted[0] + shifted[1]) * np.uint8(3) - shifted[2]
    np.testing.assert_array_equal(found.arrays[1], wanted)


@pytest.mark.parametrize(("shift", "other"), [(5, 50), (-1000, 300), (77, -90)])
def test_around_an_extent_and_around_another_number(shift: int, other: int) -> None:
    """A remainder by another number may be outside; so is one with a negative divisor."""
    x = np.random.default_rng(4).standard_normal(200).astype(np.float32)
    arguments = x, np.full_like(x, np.nan), shift, other, 128
    kernel = compiled(rolled, *arguments)
    for found in (kernel.emulate(*arguments, grid=2), kernel.evaluate(*arguments, grid=2)):
        at = np.arange(200) + shift
        beside = at % other
        padded = np.where((beside >= 0) & (beside < 200), x[np.clip(beside, 0, 199)], 7)
        np.testing.assert_array_equal(found.arrays[1], x[at % 200] + padded)


def test_an_extent_decides_for_all_elements() -> None:
    """Of an empty array nothing is loaded; a remainder by its extent is undefined."""
    x = np.ones(64, np.float32)
    text = compiled(rolled, x, x.copy(), 3, 9, 64).ir("convert-cudatile-to-tileaa")
    assert text.count("arith.cmpi sgt") == 1
    assert text.count("arith.cmpi ult") == 1


@ct.kernel
def halves(x, y, first: ct.Constant[int], width: ct.Constant[int], tile: ct.Constant[int]):
    """Products of the left and the right half of rows, by the numbers of their elements."""
    i = first + ct.bid(0) * tile + ct.arange(tile, dtype=ct.int32)
    at = i // width * (2 * width) + i % width
    ct.scatter(y, i, ct.gather(x, at) * ct.gather(x, at + width))


@pytest.mark.parametrize(("width", "first"), [(64, 0), (64, -128), (24, 0), (24, -51)])
def test_neighbours_stay_neighbours_around_a_constant(width: int, first: int) -> None:
    """Rows of whole vectors are loaded by these, whatever sign the numbers may have."""
    x = np.random.default_rng(6).standard_normal(2 * 10 * width).astype(np.float16)
    arguments = x, np.full(10 * width, 7, np.float16), first, width, 64
    kernel = compiled(halves, *arguments)
    found = kernel.emulate(*arguments, grid=(-(-10 * width // 64), 1, 1))
    assert not found.findings
    assert ("ld.global.b16" in kernel.ptx) == (first % 2 != 0)
    wanted = np.prod(x.reshape(10, 2, width), axis=1, dtype=np.float16).reshape(-1)
    last = first + 64 * (-(-10 * width // 64))
    wanted[max(last, 0) :] = 7
    np.testing.assert_array_equal(found.arrays[1], wanted)


@ct.kernel
def remainders(y, first: int, by: ct.Constant[int], tile: ct.Constant[int]):
    """Of numbers of both signs, rounded down as those of Python."""
    ct.store(y, (0,), (first + ct.arange(tile, dtype=ct.int32)) % by)


@pytest.mark.parametrize("by", [1, 7, 8, -5, 2**31 - 1])
@pytest.mark.parametrize("first", [-40, -(2**31), 2**31 - 64])
def test_remainders_by_constants_have_the_sign_of_these(first: int, by: int) -> None:
    arguments = np.zeros(64, np.int32), first, by, 64
    found = compiled(remainders, *arguments).emulate(*arguments)
    wanted = (np.int64(first) + np.arange(64)) % by
    np.testing.assert_array_equal(found.arrays[0], wanted)
