# pyright: basic, reportArgumentType=false
"""Products of what threads compute, over as many rounds as an argument says."""

import cuda.tile as ct


@ct.kernel
def unpacked_matmul(a, b, c, rounds):
    """C = A B of 64x64 tiles: a byte of B is two weights of 4 bits, columns apart by 32."""
    sums = ct.full((64, 64), 0, dtype=ct.float32)
    for k in range(rounds):
        x = ct.load(a, index=(0, k), shape=(64, 64))
        y = ct.load(b, index=(k, 0), shape=(64, 32))
        low, high = ct.bitwise_and(y, 15), y >> 4
        weights = ct.astype(ct.cat((low, high), 1), ct.float16)
        sums = ct.mma(x, weights, sums)
    ct.store(c, index=(0, 0), tile=sums)


@ct.kernel
def bytes_matmul(a, b, c, rounds):
    """C = A B of 128x128 tiles of e4m3: B is transposed in shared memory, 64 sums are promoted."""
    sums = ct.full((128, 128), 0, dtype=ct.float32)
    for k in range(rounds):
        x = ct.load(a, index=(0, k), shape=(128, 64))
        y = ct.load(b, index=(k, 0), shape=(64, 128))
        sums = ct.mma(x, y, sums)
    ct.store(c, index=(0, 0), tile=sums)


@ct.kernel
def few_rows_matmul(a, b, c, rounds, columns: ct.Constant[int]):
    """C = A B of 16 rows: weights of bytes, stored N x K."""
    sums = ct.full((16, columns), 0, dtype=ct.float32)
    for k in range(rounds):
        x = ct.load(a, index=(0, k), shape=(16, 64))
        y = ct.load(b, index=(0, k), shape=(columns, 64))
        sums = ct.mma(x, ct.astype(ct.transpose(y), ct.float16), sums)
    ct.store(c, index=(0, 0), tile=sums)


@ct.kernel
def scaled_rows_matmul(a, b, c, rounds, columns: ct.Constant[int]):
    """C = A (B / 2) of 16 rows: weights of bytes, stored K x N."""
    sums = ct.full((16, columns), 0, dtype=ct.float32)
    for k in range(rounds):
        x = ct.load(a, index=(0, k), shape=(16, 64))
        y = ct.load(b, index=(k, 0), shape=(64, columns))
        sums = ct.mma(x, ct.astype(y, ct.float16) * ct.float16(0.5), sums)
    ct.store(c, index=(0, 0), tile=sums)
