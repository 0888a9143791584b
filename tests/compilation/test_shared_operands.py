"""Programs whose values are computed of shared operands compile in time that grows as they do."""

from __future__ import annotations

import cuda.tile as ct
import numpy as np

import tileas_xdsl as tileas

STEPS = 24
"""A pass that followed each way to an operand would follow 2^24."""


@ct.kernel
def squared(x, y, count, width: ct.Constant[int], steps: ct.Constant[int]):  # type: ignore[no-untyped-def]
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
