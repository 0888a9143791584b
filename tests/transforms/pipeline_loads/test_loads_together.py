"""Loops that load the tiles of several rounds together do as many rounds, and in order."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tileas_xdsl as tileas

pytest.importorskip("cuda.tile")

from tests.transforms.pipeline_loads import streamed_kernels as kernels

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(("low", "high"), [(0, 16), (1, 14), (-3, 12), (3, 2), (20, -17)])
def test_rounds_that_are_left_over_or_none(low: int, high: int) -> None:
    x, y = RNG.standard_normal(16 * 256).astype(np.float32), np.full(256, np.nan, np.float32)
    kernel = tileas.compile(kernels.every_third, x, y, low, high, target="sm_90a")
    assert re.search(r"rounds_loaded_together = 4\b", kernel.ir("tileas-pipeline-loads"))
    found = kernel.emulate(x, y, low, high)
    assert not found.findings
    wanted = sum((x[256 * i :][:256] for i in range(low, high, 3) if 0 <= i < 16), np.zeros(256))
    np.testing.assert_allclose(found.arrays[1], wanted, atol=1e-5)


def test_rows_in_turn_whose_threads_wait_for_each_other() -> None:
    x = RNG.standard_normal((17, 512)).astype(np.float32)
    kernel = tileas.compile(kernels.rows_in_turn, x, x.copy(), target="sm_90a")
    found = kernel.emulate(x, np.full_like(x, np.nan), grid=(3, 1, 1), order="random")
    assert not found.findings
    wanted = x - x.sum(axis=1, keepdims=True, dtype=np.float64)
    np.testing.assert_allclose(found.arrays[1], wanted, atol=1e-4)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
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
