"""What loops do in each tile block, for a launch to compute (`target/launches/launch_loops.py`).

%n = ceildivsi %k, 64                     steps = ["0", "scalar 5", "64", "ceildivsi 1 2", "1"]
scf.for %i = 0 to %n step 1 {        ->   loops = [{amount = 49152, bounds = [[0, 3, 4]]}]
  // 49152 of something
}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.ir import Operation

from tileas_xdsl.analysis.values.launches.launch_steps import LaunchSteps
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.launches.launch_loops import LaunchLoop

Bounds: TypeAlias = tuple[tuple[int, int, int], ...]


@dataclass
class LaunchLoops:
    """Amounts of an iteration, by the bounds of the loops that it is one of."""

    _writer: LaunchSteps = field(default_factory=LaunchSteps)
    _amounts: dict[Bounds, int] = field(default_factory=dict["Bounds", int])

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been added."""
        return not self._amounts

    def bounds(self, loops: Sequence[Operation]) -> Sequence[Sequence[int]]:
        """Return the steps with the bounds of each loop; none where a launch does not know them."""
        return [self._bounds(loop) for loop in loops]

    def add(self, bounds: Sequence[Sequence[int]], amount: int) -> None:
        """Add to what an iteration of loops with these bounds takes."""
        key = tuple((lower, upper, step) for lower, upper, step in bounds)
        self._amounts[key] = self._amounts.get(key, 0) + amount

    @property
    def steps(self) -> tuple[str, ...]:
        """What a launch computes."""
        return tuple(self._writer.steps)

    @property
    def loops(self) -> tuple[LaunchLoop, ...]:
        """What it computes it for."""
        return tuple(LaunchLoop(amount, bounds) for bounds, amount in self._amounts.items())

    def _bounds(self, loop: Operation) -> Sequence[int]:
        if not isinstance(loop, scf.ForOp):
            return ()
        steps = [self._writer.of(bound) for bound in (loop.lb, loop.ub, loop.step)]
        known = [step for step in steps if step is not None]
        return known if len(known) == len(steps) else ()
