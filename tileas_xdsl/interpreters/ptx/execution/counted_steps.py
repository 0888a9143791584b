"""Steps that count the warps which take them, for runs whose cost is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tileas_xdsl.interpreters.ptx.execution.lane_mask import FULL_WARP
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Step
from tileas_xdsl.interpreters.ptx.memory.access_counts import AccessCounter
from tileas_xdsl.layout.units import WARP


def counted_steps(steps: Sequence[Step], counter: AccessCounter) -> list[Step]:
    """Return the steps of a kernel as ones that count; the last, its end, is no instruction."""
    code = map(_counted, steps, counter.issues)
    return [*code, *steps[len(counter.issues) :]]


def _counted(step: Step, counts: Counter[int]) -> Step:
    def counted(f: ConvergenceGroup) -> int | None:
        group = f.warpgroup
        for warp in range(group.warps):
            if f.mask >> WARP * warp & FULL_WARP:
                counts[group.agents.start + warp] += 1
        return step(f)

    return counted
