"""The state of a block of tiles while it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.cuda_tile.memory import Memory


@dataclass(frozen=True)
class Exit:
    """What ended a region: a terminator, and the values that it hands on."""

    op: Operation
    values: Sequence[Any]


@dataclass
class Block:
    """One block of the grid."""

    memory: Memory
    globals: Mapping[str, int]
    """Addresses in bytes by name."""
    index: tuple[int, int, int]
    grid: tuple[int, int, int]
    printed: list[str]
    """Text, in the order in which it was printed."""
    values: dict[SSAValue, Any] = field(default_factory=dict[SSAValue, Any])
    operations: int = 0

    def value(self, value: SSAValue) -> Any:
        """What a value is: a tile is an array, a tensor and a view are themselves, a token None."""
        return self.values[value]
