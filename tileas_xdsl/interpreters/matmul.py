"""Products of matrices for the interpreters, which never start threads.

OpenBLAS computes a product of more than 2^18 multiplications with all cores
(GEMM_MULTITHREAD_THRESHOLD).  The products of tiles are a little larger: their threads cost more
than they save, and a hundred times the product where another program has a core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

LARGEST = 1 << 18
"""Multiplications of a product that OpenBLAS computes in the thread that calls it."""


def matmul(a: Array, b: Array) -> Array:
    """Return `a` (..., M, K) times `b` (..., K, N), by eights of rows that one thread computes.

    Where a single thread does not even compute eight rows, threads are worth their start.
    """
    m, n = a.shape[-2], b.shape[-1]
    rows = LARGEST // max(a.shape[-1] * n, 1) // 8 * 8
    if m <= rows or not rows:
        return np.matmul(a, b)
    found = np.empty((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), m, n), a.dtype)
    for first in range(0, m, rows):
        part = np.s_[..., first : first + rows, :]
        np.matmul(a[part], b, out=found[part])
    return found
