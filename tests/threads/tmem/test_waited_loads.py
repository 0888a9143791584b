# pyright: basic
"""Loads from tensor memory are waited for in pieces, so that what is computed of one frees it."""

from __future__ import annotations

import cuda.tile as ct
import numpy as np
from support.assembling import needs_ptxas

from tileas_xdsl.compiler import compile


@ct.kernel
def negated(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Sums of products that a branch negates on the way: registers hold them."""
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        sums = ct.mma(ct.load(a, (0, k), (tm, tk)), ct.load(b, (k, 0), (tk, tn)), sums)
        if k == 0:
            sums = -sums
    ct.store(c, (0, 0), ct.astype(sums, c.dtype))


@needs_ptxas
def test_sums_of_128x256_in_registers_are_not_spilled() -> None:
    """128 registers of a thread hold them, and 216 all: not all of a product is there at once."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-3, 4, s).astype(np.float16) for s in ((128, 128), (128, 256)))
    c, tiles = np.full((128, 256), np.nan, np.float16), (128, 256, 64)
    kernel = compile(negated, a, b, c, *tiles, target="sm_100a")
    assert kernel.ptx.count("tcgen05.ld.sync.aligned.32x32b.x64.b32") == 2
    assert kernel.ptx.count("tcgen05.wait::ld") == 2
    assert kernel.assemble().spills == 0
    run = kernel.emulate(a, b, c, *tiles, grid=(1, 1))
    assert run.findings == []
    first, last = (a[:, k].astype(np.float32) @ b[k] for k in (slice(64), slice(64, 128)))
    np.testing.assert_array_equal(run.arrays[2], last - first)
