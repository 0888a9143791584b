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


@ct.kernel
def place_of_largest(x, y, rows: Extent, columns: Extent, axis: Extent):
    tile = ct.load(x, index=(0, 0), shape=(rows, columns))
    if axis < 2:
        ct.store(y, index=(0, 0), tile=ct.argmax(tile, axis=axis, keepdims=True))
    else:
        ct.store(y, index=(0, 0), tile=ct.argmax(tile, axis=None, keepdims=True))


@ct.kernel
def four_products(a, b, c):
    """C = A (B[0] + ... + B[3]), a tile of each after another: 288 KiB of operands in a round."""
    sums = ct.zeros((64, 128), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(64, 256))):
        x = ct.load(a, index=(0, k), shape=(64, 256))
        for which in ct.static_iter(range(4)):
            y = ct.load(b, index=(which, k, 0), shape=(1, 256, 128))
            sums = ct.mma(x, ct.reshape(y, (256, 128)), sums)
    ct.store(c, index=(0, 0), tile=sums)


@ct.kernel
def standardized(x, weights, y, largest, rows: Extent, columns: Extent):
    """Three phases: the mean, the variance and the maximum, the result."""
    count = x.shape[1]
    tile = ct.load(x, index=(0, 0), shape=(rows, columns), padding_mode=ct.PaddingMode.ZERO)
    mean = ct.sum(tile, axis=1, keepdims=True) / count
    inside = ct.arange(columns, dtype=ct.int32) < count
    centred = ct.where(inside, tile - mean, 0.0)
    variance = ct.sum(centred * centred, axis=1, keepdims=True) / count
    ct.store(largest, index=(0, 0), tile=ct.max(centred, axis=1, keepdims=True))
    weight = ct.load(weights, index=(0,), shape=(columns,), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, index=(0, 0), tile=centred * ct.rsqrt(variance) * weight)


@ct.kernel
def softmax_in_place(x, columns: Extent):
    """Of each row; the store waits for the load of its row."""
    i = ct.bid(0)
    tile = ct.load(x, index=(i, 0), shape=(1, columns), padding_mode=ct.PaddingMode.NEG_INF)
    powers = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
    ct.store(x, index=(i, 0), tile=powers / ct.sum(powers, axis=1, keepdims=True))


@ct.kernel
def threshold(x, y, bound, count: float, rounds: Extent, columns: Extent):
    """Halve the range of the number that `count` elements of a row reach; keep those that do."""
    row = ct.bid(0)
    tile = ct.load(x, (row, 0), (1, columns), padding_mode=ct.PaddingMode.NEG_INF)
    high = ct.max(tile)
    shifted = tile - high
    low, high = high * 0.0 - 8.0, high * 0.0
    for _ in range(rounds):
        middle = (low + high) * 0.5
        reach = ct.sum(ct.where(shifted >= middle, 1.0, 0.0))
        low = ct.where(reach >= count, middle, low)
        high = ct.where(reach >= count, high, middle)
    ct.store(y, (row, 0), ct.where(shifted >= low, shifted, 0.0))
    ct.scatter(bound, row, low)
