"""Blocks reduce their tiles into the same tiles of memory: TMA adds, compares, or combines bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of


def _unsigned(parts: Array) -> Array:
    return parts.view(np.dtype(f"u{parts.dtype.itemsize}"))


MODES: Mapping[str, Callable[[Array], Any]] = {
    "add": np.add.reduce,
    "min": np.minimum.reduce,
    "max": np.maximum.reduce,
    "umin": lambda parts: np.minimum.reduce(_unsigned(parts)),
    "umax": lambda parts: np.maximum.reduce(_unsigned(parts)),
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}
"""The reduction by mode, in numpy; `umin` and `umax` compare unsigned."""

LARGEST = 20
"""Largest magnitude of inputs: sums of such small integers are exact in any order."""


@dataclass(frozen=True)
class Combine(Kernel):
    """A block reduces its tile of A into the tile of B above or below it, which lacks a row."""

    name: ClassVar[str] = "combine"
    sizes: ClassVar[Sizes] = {"blocks": 3, "n": 48}

    element: str = "f32"
    mode: str = "add"
    """One of `MODES`; those of bits, `umin` and `umax` are for integers."""
    rows: int = 16
    columns: int = 32

    def __post_init__(self) -> None:
        """Refuse a variant that does not exist."""
        if self.mode not in MODES:
            raise ValueError(f"TMA combines by {', '.join(MODES)}, not {self.mode}")
        if ELEMENTS[self.element].unit and self.mode not in ("add", "min", "max"):
            raise ValueError(f"{self.mode} is for integers, not for {self.element}")

    def text(self) -> str:
        return fill(
            "combine.mlir",
            {
                "ELEMENT": ELEMENTS[self.element].ir,
                "MODE": self.mode,
                "OP": self.mode.removeprefix("u"),
                "ROWS": self.rows,
                "COLUMNS": self.columns,
            },
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        """Integers of the whole range where sums wrap."""
        height, width = sizes["blocks"] * self.rows, sizes["n"]
        element = ELEMENTS[self.element]
        shapes = ((height, width), (self.rows - 1, width))
        if not element.unit:
            a, b = (element.random(rng, shape) for shape in shapes)
        else:
            a, b = (rng.integers(-LARGEST, LARGEST + 1, s).astype(element.dtype) for s in shapes)
        return (a, b)

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        a, b = inputs
        parts = a.reshape(-1, self.rows, a.shape[1])[:, : len(b)]
        found = MODES[self.mode](np.concatenate([b[None], parts]))
        return {1: Reference(found.astype(b.dtype))}

    def grid(self, sizes: Sizes) -> Grid:
        return (sizes["blocks"], tiles_of(sizes["n"], self.columns), 1)
