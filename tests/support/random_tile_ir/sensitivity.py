"""What a program would leave if its sums were off by their error bounds.

Levels add in other orders and widths: products, reductions and scans.  Where large terms cancel,
the error of a sum is large beside the sum; what a program makes of it then differs by as much as
here.  A scan of 40 numbers of f16 is 0.8256; one after another gives 0.8345, a tree 0.8145.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import sqrt
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np
from xdsl.ir import Operation

from kernels.elements import accumulated
from kernels.products import FP8_SUM_UNIT
from tileas_xdsl.dialects.cuda_tile.tiles.floats import AddFOp
from tileas_xdsl.dialects.cuda_tile.tiles.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.interpreters.cuda_tile import execution
from tileas_xdsl.interpreters.cuda_tile.block import Block
from tileas_xdsl.interpreters.cuda_tile.launch import evaluate
from tileas_xdsl.interpreters.cuda_tile.semantics import shapes


def perturbed(module: Any, arguments: Sequence[Any], blocks: int) -> Sequence[Any]:
    """Return the arrays that a program leaves with every sum too large."""
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
    sums = {kind: _added(execution.CONTROL[kind]) for kind in (ReduceOp, ScanOp)}
    try:
        with patch.dict(execution.CONTROL, sums):
            yield
    finally:
        shapes.summed_products = exact


def _added(exact: Any) -> Any:
    """Reductions or scans that are too large where they add floating-point numbers.

    A sum of n terms is off by about `sqrt(n)` rounding units of the sum of their absolute values
    (Higham, Accuracy and Stability of Numerical Algorithms, 2.8), in any order.
    """

    def summed(block: Block, op: Any) -> Sequence[Any]:
        found = exact(block, op)
        if not _adds(op):
            return found
        values = block.value(op.values[0])
        steps = values.shape[op.dim.value.data]
        block.values[op.values[0]] = np.abs(values)
        (sizes,) = exact(block, op)
        block.values[op.values[0]] = values
        unit = float(ml_dtypes.finfo(values.dtype).eps) / 2
        with np.errstate(all="ignore"):
            off = sqrt(steps) * unit * sizes.astype(np.float64)
            return [(found[0].astype(np.float64) + off).astype(values.dtype)]

    return summed


def _adds(op: Any) -> bool:
    """Whether a reduction or scan is a sum of floating-point numbers."""
    kinds: list[type[Operation]] = [type(inner) for inner in op.body.block.ops]
    return kinds[:-1] == [AddFOp]
