"""Exact float arithmetic of the tile interpreter, at the ends of the range."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects import math, test
from xdsl.dialects.builtin import StringAttr, f64

from tileas_xdsl.dialects.nv_tileas.compute.float_modes import ROUNDING
from tileas_xdsl.interpreters.tile.numerics.floats import float_op

INFINITE = np.inf
LARGEST = float(np.finfo(np.float64).max)


@pytest.mark.parametrize("rounding", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(
    ("a", "b", "c", "wanted"),
    [
        (1e302, -3e38, INFINITE, INFINITE),
        (2.0**1000, 2.0**24, -(2.0**1023), 2.0**1023),
        (2.0**1000, -(2.0**25), 2.0**1023, -INFINITE),
        (2.0**-1000, 2.0**-74, 0.0, 5e-324),
    ],
)
def test_a_product_of_finite_numbers_is_finite(
    a: float, b: float, c: float, wanted: float, rounding: str
) -> None:
    values = test.TestOp(result_types=[f64] * 3).results
    op = math.FmaOp(*values)
    op.attributes[ROUNDING] = StringAttr(rounding)
    found = float_op(op, [np.array(value) for value in (a, b, c)])
    if np.isinf(wanted) and np.isfinite(c) and rounding in ("rz", "rp"):
        wanted = -LARGEST
    assert found == wanted
