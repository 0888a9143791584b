"""Programs that reduce rows or columns: softmax, RMS norm, sums of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, F32, Array, accumulated
from kernels.kernel import Grid, Reference, Sizes, tiles_of
from kernels.tl.base import EXP_ERROR, BlockProgram


@dataclass(frozen=True)
class Softmax(BlockProgram):
    """Softmax of rows of at most `columns` elements; the arithmetic is f32."""

    name: ClassVar[str] = "softmax"
    sizes: ClassVar[Sizes] = {"m": 21, "n": 45}

    element: str = "f32"
    rows: int = 8
    columns: int = 64
    threads: int = 128

    def text(self) -> str:
        return self.filled(
            {
                "ELEMENT": ELEMENTS[self.element].ir,
                "ROWS": self.rows,
                "COLUMNS": self.columns,
                "THREADS": self.threads,
            }
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, shape = ELEMENTS[self.element], (sizes["m"], sizes["n"])
        return ((4 * element.random(rng, shape)).astype(element.dtype), element.unset(rng, shape))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """The difference x - max is rounded, which the exponential converts to a relative error."""
        exact = inputs[0].astype(np.float64)
        shifted = exact - exact.max(axis=1, keepdims=True)
        powers = np.exp(shifted)
        result = powers / powers.sum(axis=1, keepdims=True)
        error = np.abs(shifted) * F32.unit + EXP_ERROR
        worst = error.max(axis=1, keepdims=True)
        summed = accumulated(shifted.shape[1], np.ones_like(worst))
        off = result * (error + worst + summed + F32.unit) * (1 + 2.0**-10)
        return {1: Reference(result, off + ELEMENTS[self.element].rounding(result + off))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["m"], self.rows), 1, 1)


@dataclass(frozen=True)
class RmsNorm(BlockProgram):
    """Rows of `columns` elements over the root of the mean of their squares, times weights."""

    name: ClassVar[str] = "rms_norm"
    sizes: ClassVar[Sizes] = {"m": 21}

    element: str = "f16"
    rows: int = 8
    columns: int = 96
    threads: int = 128

    def text(self) -> str:
        return self.filled(
            {
                "ELEMENT": ELEMENTS[self.element].ir,
                "ROWS": self.rows,
                "COLUMNS": self.columns,
                "THREADS": self.threads,
            }
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, shape = ELEMENTS[self.element], (sizes["m"], self.columns)
        return (
            element.random(rng, shape),
            element.random(rng, (self.columns,)),
            element.unset(rng, shape),
        )

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """Squares, their sum, a quotient, a sum, a root and two products are rounded."""
        x, w = (values.astype(np.float64) for values in inputs[:2])
        mean = (x * x).mean(axis=1, keepdims=True)
        result = x / np.sqrt(mean + 1e-5) * w
        steps = self.columns + 6
        relative = steps * F32.unit / (1 - steps * F32.unit) + EXP_ERROR
        off = np.abs(result) * relative * (1 + 2.0**-10)
        return {2: Reference(result, off + ELEMENTS[self.element].rounding(np.abs(result) + off))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["m"], self.rows), 1, 1)


@dataclass(frozen=True)
class ColumnSums(BlockProgram):
    """Sums along dimension 0, onto what the rows before gave."""

    name: ClassVar[str] = "column_sums"
    sizes: ClassVar[Sizes] = {"m": 37, "n": 45}

    rows: int = 16
    columns: int = 32
    threads: int = 64

    def text(self) -> str:
        return self.filled({"ROWS": self.rows, "COLUMNS": self.columns, "THREADS": self.threads})

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        m, n = sizes["m"], sizes["n"]
        return (F32.random(rng, (m, n)), F32.unset(rng, (n,)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        exact = inputs[0].astype(np.float64)
        rows = tiles_of(len(exact), self.rows) * self.rows
        return {1: Reference(exact.sum(axis=0), accumulated(rows, np.abs(exact).sum(axis=0)))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["n"], self.columns), 1, 1)
