"""What a program would leave if sums of products were off by their error bounds.

Levels add products in other orders and widths.  Where large products cancel, the error of a sum is
large beside the sum; what a program makes of it then differs by as much as here.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernels.elements import accumulated
from kernels.products import FP8_SUM_UNIT
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.interpreters.cuda_tile.launch import evaluate
from tileas_xdsl.interpreters.cuda_tile.semantics import shapes


def perturbed(module: Any, arguments: Sequence[Any], blocks: int) -> Sequence[Any]:
    """Return the arrays that a program leaves with every sum of products too large."""
    with _sums_off_by_their_bounds():
        return evaluate(module, arguments, grid=blocks).arrays


@contextmanager
def _sums_off_by_their_bounds() -> Generator[None]:
    exact = shapes.summed_products

    def summed(op: Any, lhs: Any, rhs: Any, acc: Any) -> Any:
        sizes = np.matmul(np.abs(lhs), np.abs(rhs)) + np.abs(acc.astype(np.float64))
        coarse = FP8_SUM_UNIT if bits_of(element_of(op.lhs.type)) == 8 else 0.0
        off = accumulated(lhs.shape[-1] + 1, sizes) + coarse * sizes
        return exact(op, lhs, rhs, acc.astype(np.float64) + off)

    shapes.summed_products = summed
    try:
        yield
    finally:
        shapes.summed_products = exact
