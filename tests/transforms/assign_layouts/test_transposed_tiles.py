"""Tiles that are read from shared memory and written there transposed, by blocks of 16 bytes."""

from __future__ import annotations

import numpy as np

from kernels.cutile.matmul import matmul_tf32
from tileas_xdsl.compiler import compile


def test_a_product_of_tf32_transposes_b_alone_by_16_bytes() -> None:
    """A goes from its stage to registers by ldmatrix, and no element is stored by itself."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((64, 40), (40, 72)))
    kernel = compile(matmul_tf32, a, b, c := np.full((64, 72), np.nan, np.float32), 64, 64, 32)
    loop = kernel.ptx.partition("setmaxnreg.inc")[2].partition("wgmma.mma_async")[0]
    counts = {
        "ldmatrix": 4,
        "ld.shared.v4.f32": 4,
        "ld.shared": 4,
        "st.shared.v4.b32": 4,
        "st.shared": 4,
    }
    assert {word: loop.count(word) for word in counts} == counts
    run = kernel.emulate(a, b, c, 64, 64, 32, grid=(1, 2))
    assert run.findings == []
    np.testing.assert_allclose(run.arrays[2], a @ b, atol=0.02)
    table = run.arrays[2] - kernel.simulate(a, b, c, 64, 64, 32, grid=(1, 2)).arrays[2]
    assert np.abs(table).max() < 1e-5
