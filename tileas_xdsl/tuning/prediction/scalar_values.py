"""Numbers of a kernel for the arguments of a launch: how often its loops run.

Values are evaluated backwards from what asks for them: for one block, with the grid and the
arguments as they are; None where that needs memory or an operation that is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.launches.launch_numbers import OPERATIONS

_SAME = frozenset(
    ("arith.index_cast", "arith.extsi", "arith.extui", "arith.trunci", "nv_tileaa.assume")
)
"""Operations that give the number of their operand."""

_DIMENSIONS = {"x": 0, "y": 1, "z": 2}

SAMPLED = 5
"""Blocks for which iterations are counted."""


@dataclass
class ScalarValues:
    """Numbers of one kernel for one launch; `arguments` has None for what is no number."""

    arguments: Sequence[int | None]
    grid: tuple[int, int, int]
    block: tuple[int, int, int] = (0, 0, 0)
    known: dict[SSAValue, int | None] = field(default_factory=dict[SSAValue, "int | None"])

    def trip_count(self, loop: Operation) -> int | None:
        """Return how often the body of a loop runs each time that the loop is reached."""
        if not isinstance(loop, scf.ForOp):
            return None
        bounds = [self.of(value) for value in (loop.lb, loop.ub, loop.step)]
        low, high, step = bounds
        if low is None or high is None or not step:
            return None
        return max(-(-(high - low) // step), 0)

    def of(self, value: SSAValue) -> int | None:
        """Return a number, or None."""
        if value not in self.known:
            self.known[value] = self._computed(value)
        return self.known[value]

    def _computed(self, value: SSAValue) -> int | None:
        if isinstance(value, BlockArgument):
            parent = value.block.parent_op()
            if isinstance(parent, func.FuncOp):
                return self.arguments[value.index] if value.index < len(self.arguments) else None
            first = isinstance(parent, scf.ForOp) and value.index == 0
            return self.of(parent.lb) if first and isinstance(parent, scf.ForOp) else None
        op = value.owner
        return self._result(op) if isinstance(op, Operation) else None

    def _result(self, op: Operation) -> int | None:
        if isinstance(op, arith.ConstantOp):
            return op.value.value.data if isinstance(op.value, IntegerAttr) else None
        if op.name == "gpu.block_id":
            return self.block[_DIMENSIONS[_dimension(op)]]
        if op.name == "gpu.grid_dim":
            return self.grid[_DIMENSIONS[_dimension(op)]]
        if op.name in _SAME:
            return self.of(op.operands[0])
        function = OPERATIONS.get(op.name.removeprefix("arith."))
        numbers = [self.of(operand) for operand in op.operands] if function else []
        if function is None or None in numbers:
            return None
        left, right = (number or 0 for number in numbers)
        is_division = "div" in op.name or "rem" in op.name
        if is_division and not right:
            return None
        return int(function(np.asarray(left), np.asarray(right)))


def sampled_blocks(grid: tuple[int, int, int]) -> Sequence[tuple[int, int, int]]:
    """Return blocks whose mean stands for all: those in the middle of equal parts of the grid."""
    parts = [2 * part + 1 for part in range(SAMPLED)]
    found = [tuple(extent * part // (2 * SAMPLED) for extent in grid) for part in parts]
    return [*dict.fromkeys((x, y, z) for x, y, z in found)]


def _dimension(op: Operation) -> str:
    found: Any = op.properties["dimension"]
    return str(found.data)


def numbers_of(values: Sequence[Any]) -> Sequence[int | None]:
    """Return the arguments of a kernel that are whole numbers, None for the others."""
    return [int(value) if np.ndim(value) == 0 and _is_whole(value) else None for value in values]


def _is_whole(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "iub"
