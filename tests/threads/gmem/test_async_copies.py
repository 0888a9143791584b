"""Threads copy what pointers reach into stages of shared memory by `cp.async`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct: Any = pytest.importorskip("cuda.tile")


@ct.kernel
def product_of_columns(a: Any, b: Any, c: Any, count: int, size: ct.Constant[int]) -> None:
    """A is gathered as K x M, and the product reads its transpose in other elements."""
    n = ct.arange(size, dtype=ct.int32)
    total = ct.zeros((size, 16), ct.float32)
    for k in range(count):
        tile = ct.gather(a, ((k * size + n)[:, None], n[None, :]))
        columns = ct.transpose(ct.astype(tile, ct.float16))
        total = ct.mma(columns, ct.load(b, (k, 0), (size, 16)), total)
    ct.store(c, (0, 0), total)


@pytest.mark.parametrize(("element", "bytes_"), [(np.float32, 4), (np.float64, 8)])
def test_elements_of_a_word_are_copied_one_by_one(element: Any, bytes_: int) -> None:
    """Rows 131 elements apart begin at no multiple of two."""
    rng = np.random.default_rng(0)
    a = rng.integers(-3, 4, (192, 131)).astype(element)[:, :64]
    b = rng.integers(-3, 4, (192, 16)).astype(np.float16)
    arguments = (a, b, np.zeros((64, 16), np.float32), 3, 64)
    kernel = tileas.compile(product_of_columns, *arguments, target="sm_90a")
    assert re.search(rf"cp\.async\.ca.*\], {bytes_}[,;]", kernel.ptx)
    found = kernel.emulate(*arguments, grid=(1, 1, 1))
    assert not found.findings
    expected = kernel.evaluate(*arguments, grid=(1, 1, 1))
    np.testing.assert_array_equal(found.arrays[2], expected.arrays[2])
