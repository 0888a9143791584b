"""Rows are gathered by their numbers, doubled, and scattered to rows by other numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of

NO_ROWS = (-1, -9, 1 << 30, -(1 << 31))
"""Numbers of rows that no matrix has."""


@dataclass(frozen=True)
class Permute(Kernel):
    """A block moves `rows` rows, `columns` columns at a time; rows that there are not are zeros."""

    name: ClassVar[str] = "permute"
    sizes: ClassVar[Sizes] = {"m": 53, "n": 160}

    element: str = "f16"
    """A floating-point type."""
    rows: int = 16
    columns: int = 64

    @property
    def target(self) -> str:
        return "sm_100a"

    def text(self) -> str:
        element = ELEMENTS[self.element]
        return fill(
            "permute.mlir",
            {
                "ELEMENT": element.ir,
                "ROWS": self.rows,
                "COLUMNS": self.columns,
                "BYTES": self.rows * self.columns * element.bits // 8,
            },
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        """A, B, and the numbers of rows of A and of B, some of which there are not."""
        element, height = ELEMENTS[self.element], sizes["m"]
        shape, count = (height, sizes["n"]), self.grid(sizes)[0] * self.rows
        taken = rng.integers(0, height, count).astype(np.int32)
        put = rng.permutation(count).astype(np.int32)
        for numbers in (taken, put):
            numbers[rng.permutation(count)[: len(NO_ROWS)]] = NO_ROWS
        return (element.random(rng, shape), element.unset(rng, shape), taken, put)

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        a, b, taken, put = inputs
        found = b.copy()
        for source, target in zip(taken, put, strict=True):
            if 0 <= target < len(b):
                found[target] = a[source] + a[source] if 0 <= source < len(a) else 0
        return {1: Reference(found)}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["m"], self.rows), 1, 1)
