"""Warps of a producer that issue no copies wait for the others, or take no part.

One that loads an index of its own falls behind; by the stages of a ring it misses a phase, and the
block never ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tests.support.plain_checks import TARGETS

ct = pytest.importorskip("cuda.tile")

COLUMNS = 64


@ct.kernel
def gathered_by_number(indices, a, b, c):
    acc = ct.zeros((64, COLUMNS), dtype=ct.float32)
    for k in range(indices.shape[0]):
        i = ct.gather(indices, k).item()
        acc = ct.mma(ct.load(a, (0, i), (64, 64)), ct.load(b, (i, 0), (64, COLUMNS)), acc)
    ct.store(c, (0, 0), acc)


@ct.kernel
def gathered_by_tile(indices, a, b, c):
    acc = ct.zeros((64, COLUMNS), dtype=ct.float32)
    for k in range(indices.shape[0]):
        i = ct.max(ct.load(indices, (k,), (1,))).item()
        acc = ct.mma(ct.load(a, (0, i), (64, 64)), ct.load(b, (i, 0), (64, COLUMNS)), acc)
    ct.store(c, (0, 0), acc)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("kernel", "is_for_one"), [(gathered_by_number, True), (gathered_by_tile, False)]
)
def test_no_warp_is_left_behind(kernel: Any, is_for_one: bool, target: str) -> None:
    rng = np.random.default_rng(2)
    indices = rng.integers(0, 4, 24).astype(np.int32)
    a = rng.standard_normal((64, 256)).astype(np.float16)
    b = rng.standard_normal((256, COLUMNS)).astype(np.float16)
    c = np.full((64, COLUMNS), np.nan, np.float32)
    compiled = tileas.compile(kernel, indices, a, b, c, target=target)
    _, _, producer = compiled.ptx.partition("setmaxnreg.dec")
    issued, _, _ = producer.partition("cp.async.bulk.tensor")
    assert ("bar.sync 1, 128;" in issued) is not is_for_one
    found = compiled.emulate(indices, a, b, c, grid=1, order="random", seed=1)
    assert not found.findings
    parts = (a[:, 64 * i :][:, :64].astype(np.float64) @ b[64 * i :][:64] for i in indices)
    np.testing.assert_allclose(found.arrays[3], sum(parts), atol=2e-2)
