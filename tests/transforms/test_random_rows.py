"""Random kernels of rows compute in every form what Tile IR says."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from tests.support import random_rows as generator
from tests.support.random_rows import RowKernel, random_rows
from tileas_xdsl.compiler import compile
from tileas_xdsl.runtime.cutile.gpu.flat_arguments import flat_arguments
from tileas_xdsl.target.launches.specializations import LaunchPredicate, suits

ORDERS = "lazy", "eager", "random", "drift"
TARGETS = "sm_90a", "sm_100a"
MULTIPROCESSORS = 132, 2
"""Of the GPU: more than tile blocks, or fewer, whose CTAs take one after another."""

TOLERANCES = {"f16": 4e-3, "bf16": 3e-2, "f32": 1e-4}
"""Of elements, by their type: each is rounded once, and what is summed has another order."""

FIRST_RESULT = 3


def differing(expected: Any, found: Any, tolerance: float) -> int:
    """How many numbers differ by more than rounding explains."""
    a, b = (np.asarray(one).astype(np.float64) for one in (expected, found))
    scale = max(1, np.abs(a[np.isfinite(a)]).max(initial=0))
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= tolerance * np.maximum(np.abs(a), 0.05 * scale)
    return int((~(near | (a == b) | (np.isnan(a) & np.isnan(b)))).sum())


def check(kernel: RowKernel, target: str, order: str, folder: Path) -> None:
    """Compare the form for any launch, and the one that the launch chooses, with Tile IR."""
    given = kernel.arguments()
    made = compile(kernel.written(folder), *given, target=target)
    expected = made.evaluate(*given, grid=kernel.grid).arrays[FIRST_RESULT:]
    flat = flat_arguments(made.parameters, given)
    multiprocessors = random.Random(kernel.text).choice(MULTIPROCESSORS)

    def choose(predicate: LaunchPredicate) -> bool:
        return suits(predicate, flat, (kernel.grid, 1, 1), lambda count: multiprocessors)

    tolerances = TOLERANCES[kernel.element], TOLERANCES["f32"], 0
    for form in (made, made._made_again(choose=choose)):
        ran = form.emulate(*given, grid=kernel.grid, order=order, seed=1)
        assert not ran.findings
        found = ran.arrays[FIRST_RESULT:]
        compared = zip(expected, found, tolerances, strict=False)
        assert [differing(*one) for one in compared] == [0, 0, 0], form.abi.row_lengths


@pytest.mark.parametrize("seed", [6005, 6008, pytest.param(9027, marks=pytest.mark.slow)])
def test_long_rows(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of more columns than threads hold: taken part by part, kept as far as they reach."""
    monkeypatch.setattr(generator, "WIDTHS", (8192, 16384, 32768, 65536))
    check(random_rows(seed), "sm_90a", "lazy", tmp_path)


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(6))
def test_a_few_kernels(seed: int, tmp_path: Path) -> None:
    order = random.Random(seed).choice(ORDERS)
    check(random_rows(seed), TARGETS[seed % 2], order, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(6, 600, 27))
def test_many_kernels(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 27):
        order = random.Random(seed).choice(ORDERS)
        for target in TARGETS:
            check(random_rows(seed), target, order, tmp_path)
