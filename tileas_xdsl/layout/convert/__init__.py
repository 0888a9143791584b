"""Conversion of a tile from one register fragment to another: exact plans, costed and executable.

`plan_conversion(source, target, elem_bits)` finds the cheapest of four kinds of plan: nothing to
do, moves between registers of a thread, shuffles inside warps, a buffer in shared memory.
"""

from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS, Cost, Kind, Plan, Weights
from tileas_xdsl.layout.convert.planner import plan_conversion
from tileas_xdsl.layout.convert.registers import RegisterPlan
from tileas_xdsl.layout.convert.shared import SharedPlan
from tileas_xdsl.layout.convert.shuffle import ShufflePlan

__all__ = [
    "DEFAULT_WEIGHTS",
    "Cost",
    "Kind",
    "Plan",
    "RegisterPlan",
    "SharedPlan",
    "ShufflePlan",
    "Weights",
    "plan_conversion",
]
