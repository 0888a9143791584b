"""C = A + B on vectors of any length: plain loads and stores, bounds and padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of


@dataclass(frozen=True)
class VectorAdd(Kernel):
    """A block adds a tile; sums of floats are correctly rounded, those of integers wrap."""

    name: ClassVar[str] = "vector_add"
    sizes: ClassVar[Sizes] = {"n": 150}

    element: str = "f32"
    tile: int = 64

    def text(self) -> str:
        element = ELEMENTS[self.element]
        return fill(
            "vector_add.mlir",
            {
                "TILE": self.tile,
                "ELEMENT": element.ir,
                "ZERO": element.zero,
                "ADD": "arith.addf" if element.unit else "arith.addi",
            },
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, shape = ELEMENTS[self.element], (sizes["n"],)
        a, b = element.random(rng, shape), element.random(rng, shape)
        return (a, b, element.unset(rng, shape))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        a, b, _ = inputs
        return {2: Reference(np.add(a, b))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["n"], self.tile), 1, 1)
