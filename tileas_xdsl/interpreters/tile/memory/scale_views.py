"""Views of scale-factor atoms: tiles whose element order no strides can express."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.memory.tracked_memory import WEAK, Access, Actor
from tileas_xdsl.interpreters.tile.memory.views import View, ViewError
from tileas_xdsl.interpreters.tile.numerics.element_types import Array


@dataclass(frozen=True, slots=True)
class ScaleView(View):
    """A view of scale-factor atoms that is read as the matrix of its scale factors."""

    numbers: NDArray[np.int64] | None = None
    """Element indices within the window, shape `(rows, scales)`, or its transpose for operand B."""

    @staticmethod
    def of(window: View, numbers: NDArray[np.int64]) -> ScaleView:
        """Return the matrix of a window; raise `ViewError` if the window is not contiguous."""
        bytes_of = window.reshaped(numbers.shape)
        values = {field.name: getattr(bytes_of, field.name) for field in fields(View)}
        return ScaleView(**values, numbers=numbers)

    def read(self, actor: Actor, access: Access = WEAK) -> Array:
        """Return a copy of the scale factors."""
        assert self.numbers is not None
        return View.read(self, actor, access).reshape(-1)[self.numbers]

    def part(
        self, starts: Sequence[int], shape: Sequence[int], steps: Sequence[int] | None = None
    ) -> NoReturn:
        """Refuse slices: scale factors are read as a whole."""
        raise ViewError("scales in atoms have no parts")

    def write(self, values: Any, actor: Actor, access: Access = WEAK) -> NoReturn:
        """Refuse writes: scale atoms are written as atoms."""
        raise ViewError("scales in atoms are only read")
