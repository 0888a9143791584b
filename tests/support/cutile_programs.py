"""Kernels of a user, for tests of the drop-in."""

from types import FunctionType

import cuda.tile as ct

FACTORS = [2.0]


class Constants:
    FACTOR = 3


def copied(kernel):
    """A kernel of the same code that shares nothing with it."""
    one = kernel._pyfunc
    made = FunctionType(one.__code__, one.__globals__, one.__name__)
    made.__annotations__ = one.__annotations__
    return ct.kernel(made)


@ct.kernel
def add(a, b, c, tile: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (tile,)) + ct.load(b, (i,), (tile,)))


@ct.kernel
def increment(x, tile: ct.Constant[int], step):
    i = ct.bid(0)
    ct.store(x, (i,), ct.load(x, (i,), (tile,)) + step)


@ct.kernel
def row_sums(x, sums, rows: ct.Constant[int], columns: ct.Constant[int]):
    i = ct.bid(0)
    tile = ct.load(x, (i, 0), (rows, columns), padding_mode=ct.PaddingMode.ZERO)
    ct.store(sums, (i,), ct.sum(tile, 1))


@ct.kernel
def shifted(x, y):
    """Reads behind the end of `x`, without a check."""
    index = ct.arange(64, dtype=ct.int32) + 32
    ct.scatter(y, ct.arange(64, dtype=ct.int32), ct.gather(x, index, check_bounds=False))


@ct.kernel
def product(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    sums = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (ct.bid(0), k), (tm, tk))
        y = ct.load(b, (k, ct.bid(1)), (tk, tn))
        sums = ct.mma(x, y, sums)
    ct.store(c, (ct.bid(0), ct.bid(1)), sums.astype(ct.float16))


@ct.kernel
def total(arrays, out):
    sums = ct.zeros((32,), ct.float32)
    for i in range(len(arrays)):
        sums = sums + ct.load(arrays[i], (0,), (32,))
    ct.store(out, (0,), sums)


@ct.kernel
def histogram(values, counts):
    """Without atomics: blocks overwrite what others have added."""
    hits = ct.reshape(ct.load(values, (ct.bid(0),), (64,)), (64, 1)) == ct.reshape(
        ct.arange(8, dtype=ct.int32), (1, 8)
    )
    so_far = ct.load(counts, (0,), (8,))
    ct.store(counts, (0,), so_far + ct.sum(hits.astype(ct.int32), 0))


def factor():
    return Constants.FACTOR


@ct.kernel
def fill(y, tile: ct.Constant[int]):
    """A constant that a function returns."""
    ct.store(y, (ct.bid(0),), ct.full((tile,), factor(), ct.float32))


@ct.kernel
def fill_first(y, tile: ct.Constant[int]):
    """A constant out of a list, which may change in place."""
    ct.store(y, (ct.bid(0),), ct.full((tile,), ct.static_eval(FACTORS[0]), ct.float32))
