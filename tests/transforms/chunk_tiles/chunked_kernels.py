# pyright: basic
"""Kernels of cuTile whose live tiles need more registers than a block has."""

from __future__ import annotations

import cuda.tile as ct

Extent = ct.Constant[int]


@ct.kernel
def softmax(x, y):
    """Rows beyond the array are padding: 500 of 512 exist."""
    tile = ct.load(x, (0, 0), (512, 256), padding_mode=ct.PaddingMode.ZERO)
    powers = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
    ct.store(y, (0, 0), powers / ct.sum(powers, axis=1, keepdims=True))


@ct.kernel
def positions(x, y):
    """Coordinates of the whole tile, in a line that is one tile."""
    places = ct.arange(65536, dtype=ct.int32)
    tile = ct.load(x, (0,), (65536,))
    ct.store(y, (0,), ct.where(places % 3 == 0, ct.exp(tile), tile * places.astype(ct.float32)))


@ct.kernel
def in_place(x):
    """The store waits for the load of the whole tile."""
    ct.store(x, (0, 0), ct.load(x, (0, 0), (256, 512)) * 2 + 1)


@ct.kernel
def product(a, b, c):
    """A persistent product of 256 x 256 accumulators."""
    for row in range(ct.num_tiles(a, axis=0, shape=(256, 32))):
        sums = ct.zeros((256, 256), dtype=ct.float32)
        for k in range(ct.num_tiles(a, axis=1, shape=(256, 32))):
            x = ct.load(a, (row, k), (256, 32))
            y = ct.load(b, (k, 0), (32, 256))
            sums = ct.mma(x, y, sums)
        ct.store(c, (row, 0), ct.astype(sums, ct.float16))


@ct.kernel
def wide_product(a, b, c):
    """128 x 512 sums: on sm_90a those of the transposes, whose operands are transposed views."""
    sums = ct.zeros((128, 512), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(128, 16))):
        x, y = ct.load(a, (0, k), (128, 16)), ct.load(b, (k, 0), (16, 512))
        sums = ct.mma(x, y, sums)
    ct.store(c, (0, 0), ct.astype(sums, ct.float16))


@ct.kernel
def attention(q, k, v, out, size: Extent):
    """256 rows of queries, causal, of heads of a size."""
    queries = ct.load(q, (0, 0), (256, size))
    largest = ct.full((256, 1), -3e38, ct.float32)
    total = ct.zeros((256, 1), ct.float32)
    sums = ct.zeros((256, size), ct.float32)
    rows = ct.arange(256, dtype=ct.int32)[:, None]
    for j in range(ct.num_tiles(k, axis=0, shape=(128, size))):
        keys = ct.load(k, (j, 0), (128, size))
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((256, 128), ct.float32))
        columns = (j * 128 + ct.arange(128, dtype=ct.int32))[None, :]
        scores = ct.where(rows >= columns, scores * 0.1, -3e38)
        above = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        powers = ct.exp(scores - above)
        kept = ct.exp(largest - above)
        total = total * kept + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, (j, 0), (128, size))
        sums = ct.mma(ct.astype(powers, ct.float16), values, sums * kept)
        largest = above
    ct.store(out, (0, 0), ct.astype(sums / total, ct.float16))


@ct.kernel
def decoding(q, k, v, out):
    """Scores and values are transposed: heads are columns, and sums have a row for each value."""
    queries = ct.transpose(ct.load(q, (0, 0), (16, 64)))
    largest = ct.full((1, 16), -3e38, ct.float32)
    total = ct.zeros((1, 16), ct.float32)
    sums = ct.zeros((256, 16), ct.float32)
    for j in range(ct.num_tiles(k, axis=0, shape=(64, 64))):
        keys = ct.load(k, (j, 0), (64, 64))
        scores = ct.mma(keys, queries, ct.zeros((64, 16), ct.float32))
        above = ct.maximum(largest, ct.max(scores, axis=0, keepdims=True))
        powers, kept = ct.exp(scores - above), ct.exp(largest - above)
        total = total * kept + ct.sum(powers, axis=0, keepdims=True)
        values = ct.transpose(ct.load(v, (j, 0), (64, 256)))
        sums = ct.mma(values, ct.astype(powers, ct.float16), sums * kept)
        largest = above
    ct.store(out, (0, 0), ct.astype(ct.transpose(sums / total), ct.float16))


@ct.kernel
def long_product(a, b, c):
    """All of K is one tile, of which 104 exist; B is stored as N x K."""
    x = ct.load(a, (0, 0), (64, 128), padding_mode=ct.PaddingMode.ZERO)
    y = ct.load(b, (0, 0), (64, 128), padding_mode=ct.PaddingMode.ZERO)
    ct.store(c, (0, 0), ct.mma(x, ct.transpose(y), ct.full((64, 64), 1, dtype=ct.float32)))


@ct.kernel
def two_products(a, b, c, out):
    """Two sums of 64x256, both live: 256 registers of each thread of one warpgroup."""
    lhs, zero = ct.load(a, (0, 0), (64, 32)), ct.zeros((64, 256), ct.float32)
    first = ct.mma(lhs, ct.load(b, (0, 0), (32, 256)), zero)
    second = ct.mma(lhs, ct.load(c, (0, 0), (32, 256)), zero)
    ct.store(out, (0, 0), first * ct.exp(-second * second))


@ct.kernel
def gated_sums(a, b, c, out):
    """Two sums of 128x128 in a loop, and a gate of one behind it: a third tile of that size."""
    first = second = ct.zeros((128, 128), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(128, 64))):
        lhs = ct.load(a, (0, k), (128, 64))
        first = ct.mma(lhs, ct.load(b, (k, 0), (64, 128)), first)
        second = ct.mma(lhs, ct.load(c, (k, 0), (64, 128)), second)
    ct.store(out, (0, 0), (first / (1.0 + ct.exp(-first)) * second).astype(out.dtype))


@ct.kernel
def recurrence(q, k, v, y):
    """A state of 256 x 128 between products of all its rows: linear attention in chunks of 64."""
    state = ct.zeros((256, 128), dtype=ct.float32)
    for n in range(ct.num_tiles(q, axis=0, shape=(64, 256))):
        queries, values = ct.load(q, (n, 0), (64, 256)), ct.load(v, (n, 0), (64, 128))
        keys = ct.astype(ct.load(k, (n, 0), (64, 256)), ct.float32)
        scores = ct.mma(
            queries.astype(ct.tfloat32), ct.transpose(keys).astype(ct.tfloat32), _zeros(64, 64)
        )
        tile = ct.mma(scores.astype(ct.tfloat32), values.astype(ct.tfloat32), _zeros(64, 128))
        tile = ct.mma(queries.astype(ct.tfloat32), state.astype(ct.tfloat32), tile)
        ct.store(y, (n, 0), tile.astype(ct.float16))
        decayed = ct.transpose(keys * 0.5).astype(ct.tfloat32)
        state = state * 0.5 + ct.mma(decayed, values.astype(ct.tfloat32), _zeros(256, 128))


def _zeros(rows: int, columns: int):
    return ct.zeros((rows, columns), dtype=ct.float32)
