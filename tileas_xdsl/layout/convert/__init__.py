"""Conversion of a tile from one register layout to another: exact plans, costed and executable.

`plan_conversion(source, target, elem_bits)` finds the cheapest of four kinds of plan, by where the
`SourceMap` says that each target register finds its element:

    identity      the same register of the same thread: nothing to do
    permutation   other registers of the same thread: renames, selects, byte permutes
    shuffle       the same warp: a schedule of `shfl.sync.idx` rounds (`shuffle_rounds`)
    shared        another warp: stores to a buffer, a barrier, loads (`buffers`, `transfers`)

For 32 threads, from `(32,2):(1@thread,1@value)` to `(32,2):(1@value,1@thread)` (two threads take a
column each) thread 0 reads register 0 of threads 0 to 31: a shuffle, or shared memory if cheaper.
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
