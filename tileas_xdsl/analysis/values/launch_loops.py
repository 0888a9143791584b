"""What loops do in each tile block, for a launch to compute (`target/launch_loops.py`).

%n = ceildivsi %k, 64                     steps = ["0", "scalar 5", "64", "ceildivsi 1 2", "1"]
scf.for %i = 0 to %n step 1 {        ->   loops = [{amount = 49152, bounds = [0, 3, 4]}]
  // 49152 of something
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Operation

from tileas_xdsl.analysis.values.launch_steps import LaunchSteps
from tileas_xdsl.data_classes import dataclass


@dataclass
class LaunchLoops:
    """Amounts of an iteration, by the bounds of the loops that it is one of."""

    _writer: LaunchSteps = field(default_factory=LaunchSteps)
    _amounts: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been added."""
        return not self._amounts

    def bounds(self, loops: Sequence[Operation]) -> Sequence[Sequence[int]]:
        """Return the steps with the bounds of each loop; none where a launch does not know them."""
        return [self._bounds(loop) for loop in loops]

    def add(self, bounds: Sequence[Sequence[int]], amount: int) -> None:
        """Add to what an iteration of loops with these bounds takes."""
        key = tuple(step for three in bounds for step in three)
        self._amounts[key] = self._amounts.get(key, 0) + amount

    def attributes(self) -> Mapping[str, Attribute]:
        """Return steps and loops."""
        return {
            "steps": ArrayAttr([StringAttr(step) for step in self._writer.steps]),
            "loops": ArrayAttr([_attribute(key, amount) for key, amount in self._amounts.items()]),
        }

    def _bounds(self, loop: Operation) -> Sequence[int]:
        if not isinstance(loop, scf.ForOp):
            return ()
        steps = [self._writer.of(bound) for bound in (loop.lb, loop.ub, loop.step)]
        known = [step for step in steps if step is not None]
        return known if len(known) == len(steps) else ()


def _attribute(bounds: Sequence[int], amount: int) -> DictionaryAttr:
    values = DenseArrayBase.from_list(i64, bounds)
    return DictionaryAttr({"amount": IntegerAttr(amount, 64), "bounds": values})
