"""B = A through a two-stage TMA pipeline that one agent fills and empties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of


@dataclass(frozen=True)
class Copy(Kernel):
    """A block copies `rows` rows in tiles of `columns` columns."""

    name: ClassVar[str] = "copy"
    sizes: ClassVar[Sizes] = {"m": 20, "n": 144}

    element: str = "f16"
    rows: int = 8
    columns: int = 32

    def text(self) -> str:
        element = ELEMENTS[self.element]
        return fill(
            "copy.mlir",
            {
                "ELEMENT": element.ir,
                "ROWS": self.rows,
                "COLUMNS": self.columns,
                "BYTES": self.rows * self.columns * element.bits // 8,
            },
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, shape = ELEMENTS[self.element], (sizes["m"], sizes["n"])
        return (element.random(rng, shape), element.unset(rng, shape))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        return {1: Reference(inputs[0])}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["m"], self.rows), 1, 1)
