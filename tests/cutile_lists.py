# pyright: basic, reportArgumentType=false
"""Kernels that take lists of arrays."""

import cuda.tile as ct

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def listed_matmul(a, b, c, tile: ct.Constant[int], depth: ct.Constant[int]):
    """C[g] = A[g] B[g] of each array of the lists, in square tiles that blocks take in turn."""
    before = 0
    for g in range(len(a)):
        x, y, z = a[g], b[g], c[g]
        across = ct.num_tiles(y, 1, (depth, tile))
        tiles = ct.num_tiles(x, 0, (tile, depth)) * across
        first = (ct.bid(0) - before % ct.num_blocks(0) + ct.num_blocks(0)) % ct.num_blocks(0)
        for k in range(first, tiles, ct.num_blocks(0)):
            sums = ct.zeros((tile, tile), dtype=ct.float32)
            for deep in range(ct.num_tiles(x, 1, (tile, depth))):
                left = ct.load(x, (k // across, deep), shape=(tile, depth), padding_mode=ZERO)
                right = ct.load(y, (deep, k % across), shape=(depth, tile), padding_mode=ZERO)
                sums = ct.mma(left, right, sums)
            ct.store(z, (k // across, k % across), tile=ct.astype(sums, z.dtype))
        before += tiles


@ct.kernel
def first_products(a, b, c, tile: ct.Constant[int]):
    """The first tile of A[g] B[g] of each array of the lists, whatever their extents."""
    for g in range(len(a)):
        x, y, z = a[g], b[g], c[g]
        sums = ct.zeros((tile, tile), dtype=ct.float32)
        for deep in range(2):
            left = ct.load(x, (0, deep), shape=(tile, tile), padding_mode=ZERO)
            right = ct.load(y, (deep, 0), shape=(tile, tile), padding_mode=ZERO)
            sums = ct.mma(left, right, sums)
        ct.store(z, (0, 0), tile=ct.astype(sums, z.dtype))
