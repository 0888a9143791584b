# pyright: basic
"""Warps of a producer that issue no copies wait for the others, or take no part.

One that loads an index of its own falls behind; by the stages of a ring it misses a phase, and the
block never ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tests.support.plain_checks import TARGETS
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.runtime.arguments.cutile_arguments import held
from tileas_xdsl.runtime.emulation import emulate

ct = pytest.importorskip("cuda.tile")

COLUMNS = 64
TOGETHER = "bar.sync 1, 128;"
SEEDS = range(12)


def arguments() -> Sequence[Any]:
    """Indices of 24 blocks of K, the operands, and a place for the product."""
    rng = np.random.default_rng(2)
    indices = rng.integers(0, 4, 24).astype(np.int32)
    a = rng.standard_normal((64, 256)).astype(np.float16)
    b = rng.standard_normal((256, COLUMNS)).astype(np.float16)
    return indices, a, b, np.full((64, COLUMNS), np.nan, np.float32)


@ct.kernel
def gathered_by_number(indices, a, b, c):
    acc = ct.zeros((64, COLUMNS), dtype=ct.float32)
    for k in range(indices.shape[0]):
        i = ct.gather(indices, k).item()
        acc = ct.mma(ct.load(a, (0, i), (64, 64)), ct.load(b, (i, 0), (64, COLUMNS)), acc)
    ct.store(c, (0, 0), acc)


@ct.kernel
def gathered_by_word(indices, a, b, c):
    acc = ct.zeros((64, COLUMNS), dtype=ct.float32)
    for k in range(indices.shape[0]):
        i = ct.load(indices, (k,), (1,)).item()
        acc = ct.mma(ct.load(a, (0, i), (64, 64)), ct.load(b, (i, 0), (64, COLUMNS)), acc)
    ct.store(c, (0, 0), acc)


@ct.kernel
def gathered_by_tile(indices, a, b, c):
    acc = ct.zeros((64, COLUMNS), dtype=ct.float32)
    for k in range(indices.shape[0]):
        i = ct.max(ct.load(indices, (k // 2,), (2,))).item()
        acc = ct.mma(ct.load(a, (0, i), (64, 64)), ct.load(b, (i, 0), (64, COLUMNS)), acc)
    ct.store(c, (0, 0), acc)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("kernel", "is_for_one"),
    [(gathered_by_number, True), (gathered_by_word, True), (gathered_by_tile, False)],
)
def test_no_warp_is_left_behind(kernel: Any, is_for_one: bool, target: str) -> None:
    made = arguments()
    indices, a, b, _ = made
    if kernel is gathered_by_tile:
        indices = np.repeat(indices.reshape(-1, 2).max(axis=1), 2)
    compiled = tileas.compile(kernel, *made, target=target)
    _, _, producer = compiled.ptx.partition("setmaxnreg.dec")
    issued, _, _ = producer.partition("cp.async.bulk.tensor")
    assert (TOGETHER in issued) is not is_for_one
    parts = (a[:, 64 * i :][:, :64].astype(np.float64) @ b[64 * i :][:64] for i in indices)
    expected = sum(parts)
    for seed in SEEDS[:4]:
        found = compiled.emulate(*made, grid=1, order="drift", seed=seed)
        assert not found.findings
        np.testing.assert_allclose(found.arrays[3], expected, atol=2e-2)


@pytest.mark.parametrize("target", TARGETS)
def test_a_warp_that_is_left_behind_is_found(target: str) -> None:
    """Where warps drift, and in no other order: without the barrier nobody waits for it."""
    made = arguments()
    compiled = tileas.compile(gathered_by_tile, *made, target=target)
    assert compiled.ptx.count(TOGETHER) == 1
    wrong = compiled.ptx.replace(TOGETHER, "")
    assert compiled.parameters is not None
    given = held(compiled.parameters, made)

    def kinds(order: Order, seed: int) -> set[str]:
        run = emulate(wrong, compiled.abi, given, (1, 1, 1), order=order, seed=seed)
        return {found.kind for found in run.findings}

    assert not any(kinds(order, 0) for order in ("eager", "lazy", "random"))
    found = [kinds("drift", seed) for seed in SEEDS]
    assert 4 * sum("deadlock" in one for one in found) >= len(SEEDS)
