# pyright: basic
"""Loops of blocks that have a multiprocessor each load the tiles of the next round early."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

pytest.importorskip("cuda.tile")

from tests.transforms.pipeline_loads import streamed_kernels as kernels
from tileas_xdsl.compiled_kernel import CompiledKernel

RNG = np.random.default_rng(8)
X = RNG.standard_normal((9, 512)).astype(np.float32)
TILES = RNG.standard_normal((17, 512)).astype(np.float16).astype(np.float32)
WEIGHTS = RNG.standard_normal(17).astype(np.float32)


@cache
def _shares_of_rows() -> CompiledKernel:
    args = (X, X, np.zeros(512, np.float32), 0, 9, 1)
    return _alone(tileas.compile(kernels.shares_of_rows, *args, target="sm_90a"))


@cache
def _rows_by_blocks(target: str) -> CompiledKernel:
    return _alone(tileas.compile(kernels.rows_by_blocks, TILES, WEIGHTS, TILES, target=target))


def _alone(kernel: CompiledKernel) -> CompiledKernel:
    """Specialized for a multiprocessor for each block: loops carry tiles."""
    assert [predicate.count for predicate in kernel.abi.few_tile_blocks][-1] == 1
    made = kernel.divided(1)
    text = made.ir("tileas-pipeline-loads")
    before, loop = text.split("scf.for", 1)
    assert "scf.if" in before
    assert loop.index("arith.select") < loop.index("nv_tileas.reduce")
    return made


@pytest.mark.parametrize(
    "bounds", [(0, 9, 1), (2, 9, 3), (5, 6, 1), (4, 4, 1), (7, 3, 2), (-3, 40, 4)]
)
def test_rows_through_pointers(bounds: tuple[int, int, int]) -> None:
    x = X
    args: tuple[Any, ...] = (x, np.full_like(x, 7), np.full(512, np.nan, np.float32), *bounds)
    found = _shares_of_rows().emulate(*args)
    assert not found.findings
    rows = [i for i in range(*bounds) if 0 <= i < 9]
    wanted = np.full_like(x, 7)
    wanted[rows] = x[rows] - x[rows].mean(axis=1, keepdims=True, dtype=np.float64)
    np.testing.assert_allclose(found.arrays[1], wanted, atol=1e-5)
    np.testing.assert_allclose(found.arrays[2], x[rows].sum(axis=0, dtype=np.float64), atol=1e-5)


@cache
def _wandering() -> CompiledKernel:
    args = (X, np.zeros((14, 512), np.float32), np.zeros(512, np.float32), 14, 5)
    return _alone(tileas.compile(kernels.wandering, *args, target="sm_90a"))


@pytest.mark.parametrize("count", [0, 1, 14])
def test_places_that_each_round_computes_for_the_next(count: int) -> None:
    args = (X, np.full((14, 512), 7, np.float32), np.zeros(512, np.float32), count, 5)
    found = _wandering().emulate(*args)
    assert not found.findings
    places = [1]
    while len(places) < count:
        places.append((places[-1] * 3 + 5) % 9)
    rows = X[places[:count]].astype(np.float64)
    wanted = np.full((14, 512), 7.0)
    wanted[:count] = rows - rows.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found.arrays[1], wanted, atol=1e-5)
    np.testing.assert_allclose(found.arrays[2], np.array(places[:count]) @ rows, atol=1e-4)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("blocks", [1, 3, 20])
def test_tiles_of_rows_in_turn(blocks: int, target: str) -> None:
    x, w = TILES, WEIGHTS
    args = (x, w, np.full_like(x, np.nan))
    found = _rows_by_blocks(target).emulate(*args, grid=(blocks, 1, 1), order="random")
    assert not found.findings
    wanted = (x - x.mean(axis=1, keepdims=True, dtype=np.float64)) * w[:, None]
    np.testing.assert_allclose(found.arrays[2], wanted, atol=1e-5)


@pytest.mark.parametrize("steps", [0, 3, 4, 9, 12])
def test_steps_of_a_recurrence(steps: int) -> None:
    """Its state is as large as that of any launch; what the next four steps load is small."""
    kernel = _recurrence()
    k, v, q = (RNG.standard_normal((steps, n)).astype(np.float32) for n in (128, 32, 128))
    found = kernel.emulate(k, v, q, np.full_like(v, np.nan), 128, 32, order="random")
    assert not found.findings
    state, wanted = np.zeros((128, 32)), np.zeros((steps, 32))
    for step, (key, value, query) in enumerate(zip(k, v, q, strict=True)):
        state = state + 0.01 * np.outer(key, value - key @ state)
        wanted[step] = query @ state
    np.testing.assert_allclose(found.arrays[3], wanted, atol=1e-3)


@cache
def _recurrence() -> CompiledKernel:
    lines = [np.zeros((9, n), np.float32) for n in (128, 32, 128, 32)]
    kernel = tileas.compile(kernels.delta_rule, *lines, 128, 32, target="sm_90a")
    before, _, loop = kernel.ir("tileas-pipeline-loads").partition("scf.for")
    assert "scf.if" in before
    assert loop.index("arith.select") < loop.index("nv_tileas.reduce")
    return kernel
