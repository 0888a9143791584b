# pyright: basic
"""Loops that load the tiles of several rounds together do as many rounds, and in order."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import tileas_xdsl as tileas

pytest.importorskip("cuda.tile")

from tests.transforms.pipeline_loads import streamed_kernels as kernels
from tileas_xdsl.compiled_kernel import CompiledKernel

RNG = np.random.default_rng(5)


X = RNG.standard_normal(500).astype(np.float32)
PLACES = RNG.integers(-100, 600, 256 * 7 - 50).astype(np.int32)


@cache
def _every_third() -> CompiledKernel:
    x, y = np.zeros(16 * 256, np.float32), np.zeros(256, np.float32)
    kernel = tileas.compile(kernels.every_third, x, y, 0, 16, target="sm_90a")
    assert re.search(r"rounds_loaded_together = 8\b", kernel.ir("tileas-pipeline-loads"))
    return kernel


@cache
def _picked() -> CompiledKernel:
    kernel = tileas.compile(kernels.picked, X, PLACES, X[:256], 7, target="sm_90a")
    assert re.search(r"rounds_loaded_together = [24]\b", kernel.ir("tileas-pipeline-loads"))
    return kernel


@pytest.mark.parametrize(("low", "high"), [(0, 16), (1, 14), (-3, 12), (3, 2), (20, -17)])
def test_rounds_that_are_left_over_or_none(low: int, high: int) -> None:
    x, y = RNG.standard_normal(16 * 256).astype(np.float32), np.full(256, np.nan, np.float32)
    found = _every_third().emulate(x, y, low, high)
    assert not found.findings
    wanted = sum((x[256 * i :][:256] for i in range(low, high, 3) if 0 <= i < 16), np.zeros(256))
    np.testing.assert_allclose(found.arrays[1], wanted, atol=1e-5)


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_elements_are_loaded_through_pointers_that_are_loaded(count: int) -> None:
    x, places, y = X, PLACES, np.full(256, np.nan, np.float32)
    found = _picked().emulate(x, places, y, count)
    assert not found.findings
    at = np.pad(places, (0, 50), constant_values=-1).reshape(7, 256)[:count]
    wanted = np.where((at >= 0) & (at < 500), x[at % 500], 0).sum(axis=0)
    np.testing.assert_allclose(found.arrays[2], wanted, atol=1e-5)


def test_a_chain_is_followed_step_by_step() -> None:
    x, y = RNG.permutation(256).astype(np.int32), np.zeros(256, np.int32)
    kernel = tileas.compile(kernels.followed, x, y, 5, target="sm_90a")
    assert "rounds_loaded_together" not in kernel.ir("tileas-pipeline-loads")
    wanted = np.arange(256)
    for _ in range(5):
        wanted = x[wanted]
    np.testing.assert_array_equal(kernel.emulate(x, y, 5).arrays[1], wanted)


@pytest.mark.parametrize("count", [0, 3, 8, 14])
def test_places_that_each_round_computes_for_the_next_are_known_ahead(count: int) -> None:
    x = RNG.standard_normal((9, 512)).astype(np.float32)
    args = (x, np.full((14, 512), 7, np.float32), np.zeros(512, np.float32), count, 5)
    kernel = tileas.compile(kernels.wandering, *args, target="sm_90a")
    assert re.search(r"rounds_loaded_together = [24]\b", kernel.ir("tileas-pipeline-loads"))
    found = kernel.emulate(*args)
    assert not found.findings
    places = [1]
    while len(places) < count:
        places.append((places[-1] * 3 + 5) % 9)
    rows, weights = x[places[:count]].astype(np.float64), np.array(places[:count])
    wanted = np.full((14, 512), 7.0)
    wanted[:count] = rows - rows.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found.arrays[1], wanted, atol=1e-5)
    np.testing.assert_allclose(found.arrays[2], weights @ rows, atol=1e-4)


def test_places_that_a_round_loads_are_known_late() -> None:
    x = RNG.standard_normal((9, 512)).astype(np.float32)
    places = RNG.permutation(9).astype(np.int32)
    args = (x, np.zeros((6, 512), np.float32), places, 6)
    kernel = tileas.compile(kernels.found_places, *args, target="sm_90a")
    assert "rounds_loaded_together" not in kernel.ir("tileas-pipeline-loads")
    at = [0]
    while len(at) < 6:
        at.append(places[at[-1]])
    np.testing.assert_array_equal(kernel.emulate(*args).arrays[1], x[at])


def test_rows_in_turn_whose_threads_wait_for_each_other() -> None:
    x = RNG.standard_normal((17, 512)).astype(np.float32)
    kernel = tileas.compile(kernels.rows_in_turn, x, x.copy(), target="sm_90a")
    found = kernel.emulate(x, np.full_like(x, np.nan), grid=(3, 1, 1), order="random")
    assert not found.findings
    wanted = x - x.sum(axis=1, keepdims=True, dtype=np.float64)
    np.testing.assert_allclose(found.arrays[1], wanted, atol=1e-4)


def test_an_update_behind_all_rounds_waits_for_the_loads_of_each() -> None:
    x = RNG.standard_normal((17, 512)).astype(np.float32)
    args = (x, np.full_like(x, np.nan), np.zeros((1, 512), np.float32))
    kernel = tileas.compile(kernels.summed_in_turn, *args, target="sm_90a")
    assert "rounds_loaded_together = 4" in kernel.ir("tileas-pipeline-loads")
    found = kernel.emulate(*args, grid=(3, 1, 1), order="random")
    assert not found.findings
    rows = x.astype(np.float64)
    np.testing.assert_allclose(found.arrays[1], rows - rows.sum(axis=1, keepdims=True), atol=1e-4)
    np.testing.assert_allclose(found.arrays[2], rows.sum(axis=0, keepdims=True), atol=1e-4)


@pytest.mark.parametrize("target", ["sm_90a", pytest.param("sm_100a", marks=pytest.mark.slow)])
def test_a_recurrence_loads_lines_for_several_steps(target: str) -> None:
    """Its state leaves registers for fewer warps than hide latency: lines take what is left."""
    k, v, q = (RNG.standard_normal((9, n)).astype(np.float32) for n in (128, 32, 128))
    args = (k, v, q, np.full_like(v, np.nan), 128, 32)
    kernel = tileas.compile(kernels.delta_rule, *args, target=target)
    assert re.search(r"rounds_loaded_together = 4\b", kernel.ir("tileas-pipeline-loads"))
    found = kernel.emulate(*args)
    assert not found.findings
    state, wanted = np.zeros((128, 32)), []
    for key, value, query in zip(k, v, q, strict=True):
        state = state + 0.01 * np.outer(key, value - key @ state)
        wanted.append(query @ state)
    np.testing.assert_allclose(found.arrays[3], wanted, atol=1e-3)


@pytest.mark.parametrize("steps", [1, 4, 11])
def test_rounds_that_wait_for_memory_alone_load_more_than_warps_hide(steps: int) -> None:
    """Lines of a round take eight registers each, and eight warps have room for those of eight."""
    r, v, ends = (RNG.standard_normal((n, 512)).astype(np.float32) for n in (11, 12, 11))
    args = (r, v, (ends > 1).astype(np.float32), np.full_like(r, np.nan), 0.9, steps)
    kernel = tileas.compile(kernels.returns_from_the_end, *args, target="sm_90a")
    assert "rounds_loaded_together = 8" in kernel.ir("tileas-pipeline-loads")
    found = kernel.emulate(*args, grid=2)
    assert not found.findings
    total, wanted = np.zeros(512), np.full(r.shape, np.nan)
    for t in reversed(range(steps)):
        left = 1 - args[2][t].astype(np.float64)
        total = r[t] + 0.9 * v[t + 1] * left - v[t] + 0.9 * left * total
        wanted[t] = total
    np.testing.assert_allclose(found.arrays[3], wanted, atol=1e-4)


@pytest.mark.parametrize(
    ("count", "is_written_out"), [(1, False), (3, True), (4, True), (9, False)]
)
def test_few_rounds_are_written_out_and_share_what_they_load(
    count: int, is_written_out: bool
) -> None:
    x = RNG.standard_normal((2, 1280)).astype(np.float32)
    w = RNG.standard_normal((2, count)).astype(np.float32)
    args = (x, w, np.full_like(x, np.nan), count)
    kernel = tileas.compile(kernels.taps, *args, target="sm_90a")
    ahead = kernel.ir("tileas-pipeline-loads")
    assert is_written_out == (ahead.count("scf.for") == 0 and count > 1)
    found = kernel.emulate(*args, grid=(2, 2, 1))
    assert not found.findings
    padded = np.pad(x.astype(np.float64), ((0, 0), (count - 1, 0)))
    wanted = sum(padded[:, k : k + 1280] * w[:, k : k + 1] for k in range(count))
    np.testing.assert_allclose(found.arrays[2], wanted, atol=1e-5)
    if is_written_out:
        assert re.search(r"ld\.global[.\w]*\.v4\.", kernel.ptx)
