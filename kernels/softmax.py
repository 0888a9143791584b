"""Softmax of each row of a matrix: reductions, exponentials, rows of any length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, F32, Array, Reals, accumulated
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill

EXP_ERROR = 2.0**-22
"""The relative error of an exponential, twice what f32 rounding needs (PTX ISA: ex2.approx)."""


@dataclass(frozen=True)
class Softmax(Kernel):
    """A block does `rows` rows of at most `columns` elements; the arithmetic is f32."""

    name: ClassVar[str] = "softmax"
    sizes: ClassVar[Sizes] = {"m": 5, "n": 45}

    element: str = "f32"
    rows: int = 2
    columns: int = 64

    def text(self) -> str:
        element = ELEMENTS[self.element]
        is_f32 = element is F32
        return fill(
            "softmax.mlir",
            {
                "ELEMENT": element.ir,
                "ROWS": self.rows,
                "COLUMNS": self.columns,
                "LOADED": "row" if is_f32 else "loaded",
                "WIDEN": "" if is_f32 else "%row = arith.extf %loaded : !read to !row",
                "DIVIDED": "result" if is_f32 else "divided",
                "NARROW": "" if is_f32 else "%result = arith.truncf %divided : !row to !read",
            },
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, shape = ELEMENTS[self.element], (sizes["m"], sizes["n"])
        return ((4 * element.random(rng, shape)).astype(element.dtype), element.unset(rng, shape))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        exact = inputs[0].astype(np.float64)
        shifted = exact - exact.max(axis=1, keepdims=True)
        powers = np.exp(shifted)
        result = powers / powers.sum(axis=1, keepdims=True)
        error = result * _relative_error(shifted)
        bound = error + ELEMENTS[self.element].rounding(result + error)
        return {1: Reference(result, bound)}

    def grid(self, sizes: Sizes) -> Grid:
        return (-(-sizes["m"] // self.rows), 1, 1)


def _relative_error(shifted: Reals) -> Reals:
    """Relative error of a quotient in f32: its exponential, the sum of all, the division.

    The difference x - max is rounded, which the exponential converts to a relative error.
    """
    powers = np.abs(shifted) * F32.unit + EXP_ERROR
    worst = powers.max(axis=1, keepdims=True)
    summed = accumulated(shifted.shape[1], np.ones_like(worst))
    return (powers + worst + summed + F32.unit) * (1 + 2.0**-10)
