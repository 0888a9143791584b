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
def copied(x, y):
    """The transpose of a matrix."""
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, (i, j), ct.load(x, (i, j), (32, 32), order=(1, 0)))
