"""The result of a run of a kernel on the tile interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.tracing.trace import Trace

Grid = tuple[int, int, int]
Progress = Callable[[int, int], None]
"""Called with the number of finished blocks and that of all."""


@dataclass(frozen=True)
class Simulation:
    """The result of a run."""

    arrays: Sequence[Any]
    """The arguments after the run."""
    cycles: int
    """Virtual cycles, from the launch to the end of the last block."""
    operations: int
    blocks: int
    trace: Trace = field(default_factory=Trace)
    printed: str = ""
    """The text that blocks printed, in the order in which they ran."""
