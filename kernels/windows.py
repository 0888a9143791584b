"""Tiles of windows that each block describes to TMA itself: only it knows where they begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of

COLUMNS = 32
FIRST_COLUMN = 16

BODY = """
%step = arith.constant {step} : index
%column = arith.constant {column} : index
%from = arith.muli %block, %step : index
%wa = nv_tileas.view %a[%from, %column] : !matrix -> !window
%to = arith.muli %block, %rows : index
%wb = nv_tileas.view %b[%to, %zero] : !matrix -> !window
%row_a = arith.constant 0 : index
%row_b = arith.constant 0 : index
"""


@dataclass(frozen=True)
class Windows(Kernel):
    """Block k copies `rows` rows of A from row `step` k on, the windows overlap; B has them all."""

    name: ClassVar[str] = "windows"
    sizes: ClassVar[Sizes] = {"m": 14, "n": 96}

    element: str = "f16"
    rows: int = 8
    step: int = 3

    def text(self) -> str:
        return window_text(
            BODY.format(step=self.step, column=FIRST_COLUMN),
            "%wa",
            "%wb",
            element=self.element,
            rows=self.rows,
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, height = ELEMENTS[self.element], self.grid(sizes)[0] * self.rows
        a = element.random(rng, (sizes["m"], sizes["n"]))
        return (a, element.unset(rng, (height, COLUMNS)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        a, b = inputs
        found = np.zeros_like(b)
        for k in range(len(b) // self.rows):
            taken = a[k * self.step :, FIRST_COLUMN:][: self.rows, :COLUMNS]
            found[k * self.rows :][: taken.shape[0], : taken.shape[1]] = taken
        return {1: Reference(found)}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["m"], self.step), 1, 1)


def window_text(
    body: str,
    of_a: str,
    of_b: str,
    *,
    arguments: str = "%a: !matrix, %b: !matrix",
    shape: str = "?x?",
    element: str = "f16",
    rows: int = 8,
) -> str:
    """The kernel, where `body` makes what the descriptors are of, and which tiles are copied."""
    types = ["!matrix" if name in ("%a", "%b") else "!window" for name in (of_a, of_b)]
    bits = ELEMENTS[element].bits
    return fill(
        "windows.mlir",
        {
            "BODY": body.strip("\n"),
            "ARGUMENTS": arguments,
            "SHAPE": shape,
            "ELEMENT": ELEMENTS[element].ir,
            "ROWS": rows,
            "BYTES": rows * COLUMNS * bits // 8,
            "OF_A": of_a,
            "OF_B": of_b,
            "TYPE_A": types[0],
            "TYPE_B": types[1],
        },
    )
