"""Which elements of MMA operands A and B a thread multiplies in each step along K."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute

from tileas_xdsl.analysis.layouts.dot_layouts import Tiling
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.registers.register_array import RegisterFile, VectorElement

SMEM_ALIGNMENT = 8 * ACCESS_BYTES
"""Alignment of operands in shared memory in bytes: one row of all banks."""

Ints = NDArray[np.int64]

Slice = Sequence[VectorElement | None]
"""The registers of an operand in one step along K."""


@dataclass(frozen=True)
class Side:
    """Operand A or B of a product, under a tiling."""

    tiling: Tiling
    of_b: bool

    def layout(self, depth: int) -> RegisterLayout:
        """Return the register layout of a number of elements along K."""
        return self.tiling.right(depth) if self.of_b else self.tiling.left(depth)

    @property
    def step(self) -> RegisterLayout:
        """The register layout of one step along K."""
        return self.layout(self.tiling.step)

    def part(self, bits: Ints, k: int) -> Ints:
        """Return the part of a table of the whole tile that step `k` multiplies."""
        depth = self.tiling.step
        of_step = slice(k * depth, (k + 1) * depth)
        return bits[..., of_step, :] if self.of_b else bits[..., of_step]

    def ranges(self, bits: Ints, count: int, distance: int) -> Ints:
        """Return a table of the whole tile: that of a range of K, `count` times at a distance."""
        parts = [bits + number * distance for number in range(count)]
        return np.concatenate(parts, axis=-2 if self.of_b else -1)


@dataclass(frozen=True)
class Operand:
    """The register fragments of operand A or B, by k-step."""

    element: Attribute
    slice: Callable[[int], Slice]
    """Return the registers of a step, loaded now."""


def operand_in_registers(e: ThreadBuilder, tile: RegisterTile, steps: int) -> Operand:
    """Return a tile in the operand's own layout: a step is a range of its registers."""
    file, count = RegisterFile.of(e, tile), tile.layout.values // steps
    return Operand(
        tile.element,
        lambda k: [file.vector_element(k * count + register) for register in range(count)],
    )
