"""Kernels of cuTile Python that print and assert; the module needs the package cuda-tile."""

import inspect

import cuda.tile as ct


@ct.kernel
def prints(x):
    i = ct.bid(0)
    ct.print(f"tile[{i}]:{ct.load(x, index=(i,), shape=(8,))}")


@ct.kernel
def nested(x):
    tile = ct.load(x, index=(0,), shape=(8,)).reshape((2, 4))
    ct.printf("original: %i\n", tile)
    rows = ct.sum(tile, axis=1)
    kept = ct.sum(tile, axis=1, keepdims=True)
    ct.print(f"sum: {ct.sum(tile)}, of rows: {rows} {kept}, 100% of it: {tile > 3}")


@ct.kernel
def long(x, rows: ct.Constant[int], columns: ct.Constant[int]):
    tile = ct.load(x, index=(0, 0), shape=(rows, columns))
    ct.printf("all: %d ends %d\n", tile, ct.sum(tile, axis=0))


@ct.kernel
def asserts(x):
    tile = ct.load(x, index=(ct.bid(0),), shape=(8,))
    ct.assert_(tile >= 0, "a root of a negative number")  # noqa: PT009
    ct.store(x, index=(ct.bid(0),), tile=ct.sqrt(tile))


ASSERTION_LINE = next(
    number
    for number, line in enumerate(
        inspect.getsource(inspect.getmodule(asserts._pyfunc)).split("\n"), 1
    )
    if "ct.assert_(" in line
)
"""Line number of the assertion in this file."""


@ct.kernel
def prints_products(a, b):
    acc = ct.full((64, 64), 0, dtype=ct.float32)
    for k in range(2):
        acc = ct.mma(ct.load(a, (0, k), (64, 32)), ct.load(b, (k, 0), (32, 64)), acc)
        ct.print("step", k)
    ct.printf("sum %.1f\n", ct.sum(acc))
