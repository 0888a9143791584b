# pyright: basic
"""Quotients and remainders of numbers: shifts and masks where none is negative, else rounded."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

import tileas_xdsl as tileas


@ct.kernel
def never_negative(x, y):
    """Of numbers of tile blocks and of extents."""
    i, n = ct.bid(0), x.shape[0]
    ct.scatter(y, (i, 0), i // 8)
    ct.scatter(y, (i, 1), i % 8)
    ct.scatter(y, (i, 2), i // 8 % 2)
    ct.scatter(y, (i, 3), ct.cdiv(n, 16))
    ct.scatter(y, (i, 4), n // 16 // 1)


@ct.kernel
def of_any_sign(x, y, by: int):
    """Of differences, and by a number that may be negative."""
    i = ct.bid(0)
    ct.scatter(y, (i, 0), (i - 9) // 8)
    ct.scatter(y, (i, 1), (i - 9) % 8)
    ct.scatter(y, (i, 2), i // by)
    ct.scatter(y, (i, 3), i % by)
    ct.scatter(y, (i, 4), ct.cdiv(i - 9, 4))


COUNT, EXTENT = 20, 100
I = np.arange(COUNT)


def _emulated(kernel: Any, *numbers: int) -> tuple[Any, str]:
    arguments = np.zeros(EXTENT, np.float32), np.full((COUNT, 5), -77, np.int32), *numbers
    compiled = tileas.compile(kernel, *arguments, target="sm_90a")
    run = compiled.emulate(*arguments, grid=(COUNT, 1, 1))
    assert run.finished
    assert not run.findings
    return run.arrays[1], compiled.ptx


def test_numbers_that_are_never_negative_are_shifted_and_masked() -> None:
    found, ptx = _emulated(never_negative)
    rounded_up, rounded_down = np.full(COUNT, -(-EXTENT // 16)), np.full(COUNT, EXTENT // 16)
    wanted = [I // 8, I % 8, I // 8 % 2, rounded_up, rounded_down]
    np.testing.assert_array_equal(found, np.stack(wanted, 1))
    assert re.findall(r"shr\.\w+", ptx).count("shr.u32") >= 3
    assert not re.search(r"\b(shr\.s32|selp|div|rem)\b", ptx.partition(".file")[0])


@pytest.mark.parametrize("by", [3, -3])
def test_others_are_rounded_down_and_up(by: int) -> None:
    found, ptx = _emulated(of_any_sign, by)
    wanted = [(I - 9) // 8, (I - 9) % 8, I // by, I % by, -((9 - I) // 4)]
    np.testing.assert_array_equal(found, np.stack(wanted, 1))
    assert "shr.s32" in ptx
