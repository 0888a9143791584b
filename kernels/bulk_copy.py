"""B = A by tiled loads and stores outside of pipelines, which a pass converts to TMA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of


@dataclass(frozen=True)
class BulkCopy(Kernel):
    """A block copies `rows` rows in tiles of `columns` columns."""

    name: ClassVar[str] = "bulk_copy"
    sizes: ClassVar[Sizes] = {"m": 40, "n": 144}

    element: str = "f16"
    rows: int = 32
    columns: int = 64

    def text(self) -> str:
        facts = {"ELEMENT": ELEMENTS[self.element].ir, "ROWS": self.rows, "COLUMNS": self.columns}
        return fill("bulk_copy.mlir", facts)

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, shape = ELEMENTS[self.element], (sizes["m"], sizes["n"])
        return (element.random(rng, shape), element.unset(rng, shape))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        return {1: Reference(inputs[0])}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["m"], self.rows), 1, 1)
