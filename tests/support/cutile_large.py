# pyright: basic
"""Kernels of cuTile whose tiles are larger than the registers of four warps."""

from __future__ import annotations

import cuda.tile as ct

Extent = ct.Constant[int]


@ct.kernel
def softmax(x, y, rows: Extent, columns: Extent):
    tile = ct.load(x, index=(0, 0), shape=(rows, columns))
    powers = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
    ct.store(y, index=(0, 0), tile=powers / ct.sum(powers, axis=1, keepdims=True))


@ct.kernel
def running_sums(x, y, rows: Extent, columns: Extent):
    tile = ct.load(x, index=(0, 0), shape=(rows, columns))
    ct.store(y, index=(0, 0), tile=ct.cumsum(tile, axis=1))


@ct.kernel
def largest(x, y, rows: Extent, columns: Extent):
    tile = ct.load(x, index=(0, 0), shape=(rows, columns))
    ct.store(y, index=(0, 0), tile=ct.max(tile, axis=None, keepdims=True))
