"""Matrix products in numpy, with error bounds from rounding."""

from __future__ import annotations

import numpy as np

from kernels.elements import F32, Array, Element, Reals, accumulated
from kernels.kernel import Reference

TF32_UNIT = 2.0**-11
"""The unit roundoff of tf32, which has 10 bits after the first."""

FP8_SUM_UNIT = 2.0**-11
"""What a sum of products of 8-bit floats may be off, relative to the sum of their magnitudes.

Tensor cores of Hopper cut addends to about 13 bits after the largest: an H200 was up to 2^-12.4
off.  Source: DeepSeek-V3 Technical Report, 3.3.2.
"""


def multiplied(
    a: Array, b: Array, out: Element, *, rounded: float = 0.0, sums: int = 1
) -> Reference:
    """Return `a @ b`, accumulated in f32 and rounded to `out`, with its error bound.

    Products of elements of up to 12 bits are exact in f32; f32 itself rounds once per term.
    `rounded` is the unit roundoff to which both operands are rounded before, and `sums` is the
    number of partial sums that are added.  Integers are exact.
    """
    left, right = (side.astype(np.float64) for side in (a, b))
    exact = left @ right
    if not out.unit:
        return Reference(exact.astype(np.int64))
    sizes = np.abs(left) @ np.abs(right)
    is_fp8 = a.dtype.itemsize == 1
    factors = (2 * rounded + rounded**2 + is_fp8 * FP8_SUM_UNIT) * sizes
    return Reference(exact, bound_of(exact, sizes + factors, a.shape[-1] + sums, out) + factors)


def bound_of(exact: Reals, sizes: Reals, terms: int, out: Element) -> Reals:
    """Return the error bound of a sum in f32, rounded to an element, from its terms' magnitudes."""
    summed = accumulated(terms, sizes)
    rounding = out.unit * (np.abs(exact) + summed) + out.least
    return summed + F32.unit * sizes + rounding
