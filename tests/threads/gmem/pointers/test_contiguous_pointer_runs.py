"""Pointer tiles whose chunks are contiguous at run time only are accessed both ways."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.compiler import compile

ct = pytest.importorskip("cuda.tile")


@ct.kernel
def copy_elements(x, y, block: ct.Constant[int]):  # pyright: ignore
    """Copy an array; its extent is no multiple of a chunk, so that masks within one may differ."""
    index = ct.bid(0) * block + ct.arange(block, dtype=ct.int32)
    ct.scatter(y, index, ct.gather(x, index))


def test_chunks_under_one_mask_are_accessed_at_once_and_others_by_elements() -> None:
    source = np.random.default_rng(0).standard_normal(1001).astype(np.float16)
    target = np.zeros_like(source)
    kernel = compile(copy_elements, source, target, 1024, target="sm_90a")
    for access in ("ld.global.v4.b32", "ld.global.b16", "st.global.v4.b32", "st.global.b16"):
        assert access in kernel.ptx
    run = kernel.emulate(source, target, 1024, grid=1)
    assert not run.findings
    np.testing.assert_array_equal(run.arrays[1], source)
