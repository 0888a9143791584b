"""Kernels that take the parameters of the program alone, and build their tensor maps themselves."""

from __future__ import annotations

from typing import Any

import cuda.tile as ct
import numpy as np
import pytest

from kernels.cutile.matmul import matmul
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.threads.gmem.launch_memory import resident_memory

PASSES = PIPELINES["tileas-to-standalone-ptx"].passes
TARGETS = ("sm_90a", "sm_100a")
TILE = (64, 64, 32)


def arguments(m: int = 100, n: int = 72, k: int = 64) -> tuple[Any, ...]:
    numbers = np.random.default_rng(m + n + k)
    a, b = (numbers.integers(-4, 5, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    return a, b, np.full((m, n), 7, np.float32), *TILE


def product(target: str = "sm_90a") -> CompiledKernel:
    return compile(matmul, *arguments(), target=target, passes=PASSES)


@pytest.mark.parametrize("target", TARGETS)
def test_a_cta_builds_the_maps_of_a_product(target: str) -> None:
    kernel = product(target)
    assert kernel.abi.tensor_maps == ()
    assert kernel.ptx.count("tensormap.cp_fenceproxy") == 3
    assert "cp.async.bulk.tensor.2d.shared" in kernel.ptx
    a, b, *_ = given = arguments()
    run = kernel.emulate(*given, grid=(2, 2))
    assert run.findings == []
    assert np.array_equal(run.arrays[2], a.astype(np.float32) @ b.astype(np.float32))


def test_a_cta_releases_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """With memory for one CTA at a time, those of a grid of four take it in turns."""
    monkeypatch.setattr(resident_memory, "resident_ctas", lambda e: 1)
    monkeypatch.setattr(resident_memory, "MULTIPROCESSORS", 1)
    kernel = product()
    assert "matmul_taken[4];" in kernel.ptx
    a, b, *_ = given = arguments()
    run = kernel.emulate(*given, grid=(2, 2))
    assert run.findings == []
    assert np.array_equal(run.arrays[2], a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("pipeline", ["tileas-to-ptx", "tileas-to-standalone-ptx"])
def test_maps_of_empty_arrays_reach_no_memory(pipeline: str) -> None:
    a, b, c, *_ = given = arguments(64, 64, 64)
    kernel = compile(matmul, *given, passes=PIPELINES[pipeline].passes)
    for m, k in ((64, 0), (0, 64)):
        run = kernel.emulate(a[:m, :k], b[:k], c, *TILE, grid=(1, 1))
        assert run.findings == []
        assert not run.arrays[2].any()


@ct.kernel
def move(x, y):
    i = ct.bid(0)
    ct.store(y, index=(i, 0), tile=ct.load(x, index=(i, 0), shape=(8, 64)))


def test_a_kernel_without_hidden_arguments_takes_no_memory() -> None:
    x = np.ones((16, 64), np.float16)
    kernel = compile(move, x, x.copy(), passes=PASSES)
    assert "atom" not in kernel.ptx
    assert ".global .align" not in kernel.ptx
