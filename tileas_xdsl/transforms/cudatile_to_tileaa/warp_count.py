"""Choose the number of warps of a kernel without a hint."""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation

from tileas_xdsl.dialects.cuda_tile.matches import shape_of
from tileas_xdsl.dialects.cuda_tile.matmul import MmaFOp, MmaIOp

DEFAULT_WARPS = 4

MAX_ACCUMULATORS_PER_THREAD = 64
"""Sums of a product in a thread from which on more threads share them, where they can.

With 128 of them, the addresses and the tiles that a thread loads beside do not fit.
"""

REGISTER_LIMITED_WARPS = 16
"""Warps whose threads have 128 registers at most, where more sums than that would never fit."""

LANES = 32

ROWS = 16
"""Rows of a product that each warp has at least (PTX ISA, wgmma and mma)."""


def default_warps(kernel: Operation) -> int:
    """The warps that the products of a kernel need, or the usual ones."""
    shapes = [shape_of(op.acc.type) for op in kernel.walk() if isinstance(op, MmaFOp | MmaIOp)]
    return max((_warps(shape) for shape in shapes), default=DEFAULT_WARPS)


def _warps(shape: tuple[int, ...]) -> int:
    warps, rows, sums = DEFAULT_WARPS, prod(shape[:-1]), prod(shape)
    while sums > MAX_ACCUMULATORS_PER_THREAD * LANES * warps and rows % (2 * warps * ROWS) == 0:
        if (
            2 * warps >= REGISTER_LIMITED_WARPS
            and sums > MAX_ACCUMULATORS_PER_THREAD * LANES * REGISTER_LIMITED_WARPS
        ):
            break
        warps *= 2
    return warps
