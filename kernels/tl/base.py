"""The base class of `tl` kernels: their passes, and a grid of tiles."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping

from kernels.kernel import Kernel, fill

EXP_ERROR = 2.0**-21
"""The relative error of `exp`, `exp2` and `rsqrt` in f32: at most 2 units in the last place, and
the rounding of the exact value."""


class BlockProgram(Kernel, ABC):
    """A kernel in `tl` text."""

    @property
    def pipeline(self) -> str:
        return "tl-to-ptx"

    def filled(self, values: Mapping[str, str | int]) -> str:
        """The text of the template that is named after the kernel."""
        return fill(f"tl/templates/{self.name}.mlir", values)
