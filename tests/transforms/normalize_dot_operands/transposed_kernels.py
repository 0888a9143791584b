# pyright: basic, reportArgumentType=false
"""Kernels of cuTile Python that load tiles with their dimensions exchanged."""

import cuda.tile as ct


@ct.kernel
def multiplied(a, b, c):
    """A times B transposed, by the order of the dimensions of a load."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((64, 64), dtype=ct.float32)
    zero = ct.PaddingMode.ZERO
    for k in range(ct.cdiv(a.shape[1], 32)):
        x = ct.load(a, (i, k), (64, 32), padding_mode=zero)
        y = ct.load(b, (k, j), (32, 64), order=(1, 0), padding_mode=zero)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc)


@ct.kernel
def permuted(a, b, c):
    """The same, by a permutation of what was loaded."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((64, 64), dtype=ct.float32)
    zero = ct.PaddingMode.ZERO
    for k in range(ct.cdiv(a.shape[1], 32)):
        x = ct.load(a, (i, k), (64, 32), padding_mode=zero)
        y = ct.load(b, (j, k), (64, 32), padding_mode=zero)
        acc = ct.mma(x, ct.permute(y, (1, 0)), acc)
    ct.store(c, (i, j), acc)


@ct.kernel
def picked(a, b, rows, c):
    """Rows of A times rows of B transposed, both picked through pointers, B column by column."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((64, 64), dtype=ct.float32)
    mine = ct.gather(rows, i * 64 + ct.arange(64, dtype=ct.int32), padding_value=-1)
    columns = j * 64 + ct.arange(64, dtype=ct.int32)
    for k in range(ct.cdiv(a.shape[1], 32)):
        depth = k * 32 + ct.arange(32, dtype=ct.int32)
        x = ct.gather(a, (mine[:, None], depth[None, :]))
        y = ct.gather(b, (columns[None, :], depth[:, None]))
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc)


@ct.kernel
def picked_columns(a, b, c):
    """A transposed, picked through pointers row by row, times B."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((64, 64), dtype=ct.float32)
    rows = i * 64 + ct.arange(64, dtype=ct.int32)
    for k in range(ct.cdiv(a.shape[0], 32)):
        depth = k * 32 + ct.arange(32, dtype=ct.int32)
        x = ct.gather(a, (depth[None, :], rows[:, None]))
        y = ct.load(b, (k, j), (32, 64), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc)


@ct.kernel
def copied(x, y):
    """The transpose of a matrix."""
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, (i, j), ct.load(x, (i, j), (32, 32), order=(1, 0)))


@ct.kernel
def stepped(x, y):
    """Forty steps between two permutations, each of which reads what the one before made twice."""
    t = ct.transpose(ct.load(x, (0, 0), (32, 64)))
    for _ in ct.static_iter(range(40)):
        t = (t + t) * 0.5
    ct.store(y, (0, 0), ct.transpose(t))
