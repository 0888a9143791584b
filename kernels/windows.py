"""Tiles of windows: those of a block, which describes them to TMA, or one that a host describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of

COLUMNS = 32
FIRST_COLUMN = 16

BY_BLOCK = """
%step = arith.constant {step} : index
%column = arith.constant {column} : index
%from = arith.muli %block, %step : index
%wa = nv_tileas.view %a[%from, %column] : !matrix -> !window
%to = arith.muli %block, %rows : index
%wb = nv_tileas.view %b[%to, %zero] : !matrix -> !window
%row_a = arith.constant 0 : index
%row_b = arith.constant 0 : index
"""


BY_HOST = """
%first = arith.constant {step} : index
%column = arith.constant {column} : index
%wa = nv_tileas.view %a[%first, %column] : !matrix -> !window
%row_a = arith.addi %block, %zero : index
%wb = nv_tileas.view %b : !matrix -> !window
%row_b = arith.addi %block, %zero : index
"""

BODIES: Mapping[str, str] = {"block": BY_BLOCK, "host": BY_HOST}
"""By who knows where the windows begin."""


@dataclass(frozen=True)
class Windows(Kernel):
    """Block k copies `rows` rows of A from row `step` k on, the windows overlap; B has them all.

    With `born=host`, one window begins at row `step`, and block k copies its tile k.
    """

    name: ClassVar[str] = "windows"
    sizes: ClassVar[Sizes] = {"m": 14, "n": 96}

    element: str = "f16"
    rows: int = 8
    step: int = 3
    born: str = "block"
    """Where windows begin is known to a `block` or to the `host`."""

    def __post_init__(self) -> None:
        """Refuse a variant that does not exist."""
        if self.born not in BODIES:
            raise ValueError(f"windows are born of {' or '.join(BODIES)}, not of {self.born}")

    def text(self) -> str:
        return window_text(
            BODIES[self.born].format(step=self.step, column=FIRST_COLUMN),
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
            taken = a[self._row(k) :, FIRST_COLUMN:][: self.rows, :COLUMNS]
            found[k * self.rows :][: taken.shape[0], : taken.shape[1]] = taken
        return {1: Reference(found)}

    def grid(self, sizes: Sizes) -> Grid:
        if self.born == "host":
            return (tiles_of(sizes["m"] - self.step, self.rows), 1, 1)
        return (tiles_of(sizes["m"], self.step), 1, 1)

    def _row(self, block: int) -> int:
        """Where in A the tile of a block begins."""
        return self.step + block * self.rows if self.born == "host" else self.step * block


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
