"""The matrix of a convolution, doubled: for each tap of a filter the pixels that it sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of


@dataclass(frozen=True)
class Unroll(Kernel):
    """A block takes `pixels` pixels of `columns` channels, for each tap of a filter.

    A is batch, height, width, channels; around it are zeros, as many as the padding says.
    """

    name: ClassVar[str] = "unroll"
    sizes: ClassVar[Sizes] = {"batch": 2, "height": 5, "width": 6, "channels": 40}

    element: str = "f16"
    """A floating-point type."""
    tall: int = 3
    """Of the filter."""
    wide: int = 3
    top: int = 1
    """Padding."""
    left: int = 1
    bottom: int = 1
    right: int = 1
    pixels: int = 32
    columns: int = 32

    def text(self) -> str:
        element = ELEMENTS[self.element]
        return fill(
            "unroll.mlir",
            {
                "ELEMENT": element.ir,
                "PIXELS": self.pixels,
                "COLUMNS": self.columns,
                "TALL": self.tall,
                "WIDE": self.wide,
                "TAPS": self.tall * self.wide,
                "TALLER": self._taller,
                "WIDER": self._wider,
                "TOP": -self.top,
                "LEFT": -self.left,
                "BOTTOM": self.bottom - (self.tall - 1),
                "RIGHT": self.right - (self.wide - 1),
                "BYTES": self.pixels * self.columns * element.bits // 8,
            },
        )

    @property
    def _taller(self) -> int:
        """How many more places the filter has down than the image has rows."""
        return self.top + self.bottom - (self.tall - 1)

    @property
    def _wider(self) -> int:
        return self.left + self.right - (self.wide - 1)

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, channels = ELEMENTS[self.element], sizes["channels"]
        image = (sizes["batch"], sizes["height"], sizes["width"], channels)
        matrix = (1, self.tall * self.wide, self._places(sizes), channels)
        return (element.random(rng, image), element.unset(rng, matrix))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        a, b = inputs
        _, height, width, channels = a.shape
        down, across = height + self._taller, width + self._wider
        margins = ((0, 0), (self.top, self.bottom), (self.left, self.right), (0, 0))
        padded = np.pad(a, margins)
        taps = [
            padded[:, row : row + down, column : column + across].reshape(-1, channels)
            for row, column in np.ndindex(self.tall, self.wide)
        ]
        found = np.stack(taps)[None]
        assert found.shape == b.shape
        return {1: Reference(found + found)}

    def _places(self, sizes: Sizes) -> int:
        down, across = sizes["height"] + self._taller, sizes["width"] + self._wider
        return sizes["batch"] * down * across

    def grid(self, sizes: Sizes) -> Grid:
        return (
            tiles_of(self._places(sizes), self.pixels),
            tiles_of(sizes["channels"], self.columns),
            1,
        )
