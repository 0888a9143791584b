"""Slices of arrays: along unit dimensions, and of rows that a launch knows when it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.pipelines import PIPELINES

ct = pytest.importorskip("cuda.tile")


@ct.kernel
def column(x: Any, y: Any) -> None:
    ct.store(y, (0, 0), ct.load(x.slice(1, 1, 2), (0, 0), (16, 1)))


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_one_column(target: str) -> None:
    """cuTile says that 4 divides the stride of the only column, which is 1."""
    x = np.random.default_rng(0).standard_normal((16, 4)).astype(np.float32)
    y = np.zeros((16, 1), np.float32)
    kernel = tileas.compile(column, x, y, target=target)
    for run in (kernel.evaluate, kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(x, y, grid=1).arrays[1], x[:, 1:2])


@ct.kernel
def of_groups(a: Any, b: Any, c: Any, ends: Any, t: ct.Constant[int], tk: ct.Constant[int]) -> None:
    """Rows `ends[g]` to `ends[g + 1]` of A times B[g]; tiles that begin behind them are none."""
    i, group = ct.bid(0), ct.bid(1)
    first, last = ct.load(ends, group, (1,)).item(), ct.load(ends, group + 1, (1,)).item()
    rows, out = a.slice(0, first, last), c.slice(0, first, last)
    acc = ct.zeros((t, t), ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(rows, (i, k), (t, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (group, k, 0), (1, tk, t), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y.reshape((tk, t)), acc)
    ct.store(out, (i, 0), acc.astype(c.dtype))


@ct.kernel
def in_turn(
    a: Any, b: Any, c: Any, ends: Any, groups: int, t: ct.Constant[int], tk: ct.Constant[int]
) -> None:
    """The same, group after group in a block, from the rows of the group before on, if any."""
    i = ct.bid(0)
    for group in range(groups):
        first = 0
        if group > 0:
            first = ct.load(ends, group, (1,)).item()
        rows = a.slice(0, first, ct.load(ends, group + 1, (1,)).item())
        out = c.slice(0, first, ct.load(ends, group + 1, (1,)).item())
        acc = ct.zeros((t, t), ct.float32)
        for k in range(ct.cdiv(a.shape[1], tk)):
            x = ct.load(rows, (i, k), (t, tk), padding_mode=ct.PaddingMode.ZERO)
            y = ct.load(b, (group, k, 0), (1, tk, t), padding_mode=ct.PaddingMode.ZERO)
            acc = ct.mma(x, y.reshape((tk, t)), acc)
        ct.store(out, (i, 0), acc.astype(c.dtype))


SIZES = (70, 0, 33, 64, 1)


def _groups(width: int = 96) -> tuple[Any, ...]:
    rng, rows = np.random.default_rng(1), sum(SIZES)
    a, b = (rng.integers(-4, 5, shape) for shape in ((rows, width), (len(SIZES), width, 64)))
    ends = np.array([0, *np.cumsum(SIZES)], np.int32)
    unset = np.full((rows, 64), 777, np.float32)
    return a.astype(np.float16), b.astype(np.float16), unset, ends


def _expected(a: Any, b: Any, c: Any, ends: Any) -> Any:
    parts = np.split(a.astype(np.float32), ends[1:-1])
    return np.concatenate([part @ b[g].astype(np.float32) for g, part in enumerate(parts)])


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("name", ["tileas-to-ptx", "tileas-to-standalone-ptx"])
def test_slices_of_rows_are_moved_by_tma(target: str, name: str) -> None:
    """Rows behind a slice are those of the next group, which no tile reads or writes."""
    args = (*_groups(), 64, 32)
    kernel = tileas.compile(of_groups, *args, target=target, passes=PIPELINES[name].passes)
    assert kernel.ptx.count("cp.async.bulk.tensor.4d") == 3  # A, two panels of C
    run = kernel.emulate(*args, grid=(2, len(SIZES)), order="random", seed=2)
    assert run.findings == []
    np.testing.assert_array_equal(run.arrays[2], _expected(*_groups()))


def test_slices_mean_the_same_behind_every_pass() -> None:
    args, grid = (*_groups(), 64, 32), (2, len(SIZES))
    kernel = tileas.compile(of_groups, *args, target="sm_90a")
    lowered = replace(kernel, source=kernel.module_after("lower-tma-load-store-to-async"))
    assert "slice_tma_desc" in lowered.ir()
    for found in (kernel.evaluate, kernel.simulate, lowered.simulate):
        np.testing.assert_array_equal(found(*args, grid=grid).arrays[2], _expected(*_groups()))


def test_host_code_encodes_the_map_of_slices() -> None:
    pytest.importorskip("llvmlite")
    args = (*_groups(), 64, 32)
    kernel = tileas.compile(of_groups, *args, target="sm_90a", host_code=True)
    assert kernel.ptx.count("cp.async.bulk.tensor.4d") == 3
    run = kernel.emulate(*args, grid=(2, len(SIZES)))
    assert run.findings == []
    np.testing.assert_array_equal(run.arrays[2], _expected(*_groups()))


def test_control_flow_may_choose_where_a_slice_begins() -> None:
    args = (*_groups(), len(SIZES), 64, 32)
    kernel = tileas.compile(in_turn, *args, target="sm_90a")
    assert "cp.async.bulk.tensor.4d" in kernel.ptx
    run = kernel.emulate(*args, grid=2, order="random", seed=2)
    assert run.findings == []
    np.testing.assert_array_equal(run.arrays[2], _expected(*_groups()))


@ct.kernel
def around(x: Any, w: Any, y: Any, first: int, last: int) -> None:
    """The tile in front of each: there is none in front of the first one of a slice."""
    i, head = ct.bid(0), ct.bid(1)
    rows, out = x.slice(0, first, last), y.slice(0, first, last)
    tile = ct.load(rows, (i - 1, head, 0), (64, 1, 64), padding_mode=ct.PaddingMode.ZERO)
    factor = ct.load(w, (0, 0), (64, 64))
    acc = ct.mma(tile.reshape((64, 64)), factor, ct.zeros((64, 64), ct.float32))
    ct.store(out, (i, head, 0), acc.reshape((64, 1, 64)))


def test_rows_in_front_of_a_slice_are_no_rows_of_it() -> None:
    rng = np.random.default_rng(3)
    x, w = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((300, 2, 64), (64, 64)))
    args = (x, w, np.full((300, 2, 64), 777, np.float32), 100, 230)
    kernel = tileas.compile(around, *args, target="sm_90a")
    assert kernel.ptx.count("cp.async.bulk.tensor.5d") == 3
    expected = args[2].copy()
    expected[100:164] = 0
    expected[164:230] = x[100:166].astype(np.float32) @ w.astype(np.float32)
    for run in (kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(*args, grid=(3, 2)).arrays[2], expected)
