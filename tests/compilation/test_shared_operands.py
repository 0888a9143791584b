# pyright: basic
"""Programs whose values are computed of shared operands compile in time that grows as they do."""

from __future__ import annotations

import cuda.tile as ct
import numpy as np

import tileas_xdsl as tileas

STEPS = 22
"""A pass that followed each way to an operand would follow 2^22."""


@ct.kernel
def squared(x, y, count, width: ct.Constant[int], steps: ct.Constant[int]):
    i = ct.bid(0)
    at = ct.arange(width, dtype=ct.int32)
    index, total = i + count, ct.zeros((width,), ct.float32)
    for _ in ct.static_iter(range(steps)):
        index = index + index
    for j in range(count):
        place, weight = j * width + at, ct.load(x, (j,), (width,))
        for _ in ct.static_iter(range(steps)):
            place, weight = place * place + place, weight * weight + weight
        total = total + ct.gather(x, place) * weight + ct.gather(x, at + index)
    ct.store(y, (index,), total)


def test_chains_of_sums_and_squares_compile() -> None:
    """As coordinates of tiles, as indices of elements, and as what is stored."""
    x, y = np.zeros(256, np.float32), np.zeros(256, np.float32)
    made = tileas.compile(squared, x, y, 2, 32, STEPS, target="sm_90a")
    assert "ld.global" in made.ptx


@ct.kernel
def shifted(x, y, count, steps: ct.Constant[int]):
    index = ct.bid(0) + count
    for _ in ct.static_iter(range(steps)):
        index = index - (index + 1)
    ct.store(y, (0,), ct.gather(x, ct.arange(32, dtype=ct.int32) + index))


def test_long_chains_compile() -> None:
    """Of more dependent operations than Python's own limit of frames allows to follow."""
    x, y = np.zeros(256, np.float32), np.zeros(32, np.float32)
    assert "ld.global" in tileas.compile(shifted, x, y, 2, 250, target="sm_90a").ptx


@ct.kernel
def product(x, y, z, steps: ct.Constant[int]):
    total = ct.zeros((64, 64), ct.float32)
    for j in range(2):
        total = ct.mma(ct.load(x, (0, j), (64, 64)), ct.load(y, (j, 0), (64, 64)), total)
    for _ in ct.static_iter(range(steps)):
        total = total * total + total
    ct.store(z, (0, 0), total)


def test_sums_and_squares_of_products_compile() -> None:
    """What is computed of an accumulator behind its loop is followed to where it is stored."""
    x, y, z = np.zeros((64, 128), np.float16), np.zeros((128, 64), np.float16), np.zeros((64, 64))
    made = tileas.compile(product, x, y, z.astype(np.float32), STEPS, target="sm_90a")
    assert "wgmma" in made.ptx
