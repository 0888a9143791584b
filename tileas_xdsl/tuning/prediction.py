"""The predicted time of a launch, from the tiles of a kernel before they are laid out.

    block    what its loops take by the timing model, times their iterations, and what is outside
    wave     a block alone, or all that share a multiprocessor on its busiest unit
    launch   waves of blocks; longer where products would take more power than the GPU has

Blocks that share a multiprocessor are those that the compiler asks for.  A loop whose trip count
the arguments do not tell counts as one iteration, and the prediction as inexact; trip counts are
those of the mean of some blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from statistics import fmean

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tileas_xdsl.dialects.nv_tileas.pipelines.queries import KernelFacts
from tileas_xdsl.explanation.facts import LoopFacts, Reason, Roofline
from tileas_xdsl.explanation.loops import loop_facts, outside_of_loops
from tileas_xdsl.explanation.work_counts import LOOPS
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import Latencies, latencies
from tileas_xdsl.threads.pipeline.occupancy import blocks_that_fit
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop, load_loop
from tileas_xdsl.transforms.pipeline_loads.resources import Resources, resources_of
from tileas_xdsl.tuning.scalar_values import ScalarValues, sampled_blocks

Grid = tuple[int, int, int]


@dataclass(frozen=True)
class Predicted:
    """The time of a launch by the model."""

    microseconds: float
    bound: str
    """The unit, `latency`, `memory` or `compute` that most cycles of a block are bound by."""
    waves: int
    together: int
    """Blocks that share a multiprocessor."""
    is_exact: bool
    """Whether the iterations of all loops are known."""
    code: str = ""
    """Equal for equal launches of equal code: a digest of grid and tiles when agents are made."""


@dataclass
class _Block:
    """Cycles of a block, and flops of its products."""

    alone: float = 0
    busy: float = 0
    """Those of its busiest units, in which no other block runs."""
    flops: float = 0
    longest: float = 0
    bound: str = "latency"
    is_exact: bool = True

    def add(self, alone: float, busy: float, bound: str) -> None:
        self.alone += alone
        self.busy += busy
        if alone > self.longest:
            self.longest, self.bound = alone, bound


def predicted(
    module: ModuleOp,
    target: Target,
    reasons: Sequence[Reason],
    arguments: Sequence[int | None],
    grid: Grid,
) -> Predicted:
    """Predict a launch of the one kernel of a module, whose loads know how they are done."""
    (function,) = [op for op in module.ops if isinstance(op, func.FuncOp)]
    costs, grid = latencies(target.name), KernelFacts(function).spec.ctas(grid)
    numbers = [ScalarValues(arguments, grid, one) for one in sampled_blocks(grid)]
    block = _Block()
    loops = [op for op in function.walk() if isinstance(op, LOOPS)]
    for loop, facts in zip(loops, loop_facts(module, target, reasons), strict=True):
        _add_loop(block, facts, _iterations(loop, numbers, block), costs)
    outside = outside_of_loops(module, target)
    if outside is not None:
        busy = _roof_cycles(outside, costs)
        block.add(busy + costs.global_latency * bool(outside.bytes_read), busy, outside.bound)
        block.flops += outside.product_flops
    together = blocks_together(function, target)
    waves = ceil_div(prod(grid), costs.multiprocessors * together)
    # A grid that is smaller than a wave is spread over all multiprocessors first.
    resident = min(together, ceil_div(prod(grid), costs.multiprocessors))
    per_wave = max(costs.launch + block.alone, resident * block.busy)
    seconds = waves * per_wave / (costs.clock * 1e6)
    power = _power(block.flops * prod(grid), seconds, _peak(loops, module, target), costs)
    bound = "power" if power > 1 else block.bound
    return Predicted(seconds * power * 1e6, bound, waves, together, block.is_exact)


def _iterations(loop: Operation, blocks: Sequence[ScalarValues], block: _Block) -> float:
    """How often the body of a loop runs in a block, inside of all loops around it: the mean."""
    return fmean(_iterations_of(loop, numbers, block) for numbers in blocks)


def _iterations_of(loop: Operation, numbers: ScalarValues, block: _Block) -> int:
    count, current = 1, loop
    while current is not None:
        if isinstance(current, LOOPS):
            trips = numbers.trip_count(current)
            block.is_exact &= trips is not None
            count *= 1 if trips is None else trips
        current = current.parent_op()
    return count


def _add_loop(block: _Block, facts: LoopFacts, iterations: float, costs: Latencies) -> None:
    """Add the iterations of a loop, the first of which waits for what it loads."""
    if facts.roofline is not None:
        block.flops += iterations * facts.roofline.product_flops
    if facts.cycles is not None:
        busiest = max((one.cycles for one in facts.units), default=0.0)
        first = max((one.latency for one in facts.operations), default=0)
        bound = facts.bound or "latency"
        block.add(first + iterations * facts.cycles, iterations * busiest, bound)
    elif facts.roofline is not None:
        cycles = _roof_cycles(facts.roofline, costs)
        waits = costs.global_latency * bool(facts.roofline.bytes_read)
        block.add(iterations * (cycles + waits), iterations * cycles, facts.roofline.bound)


def _roof_cycles(one: Roofline, costs: Latencies) -> float:
    """Cycles of the busier of the arithmetic and of the path to memory."""
    moved = one.bytes_read / costs.load_rate + one.bytes_written / costs.store_rate
    return max(one.flops / one.peak, moved)


def blocks_together(function: func.FuncOp, target: Target) -> int:
    """Return how many blocks of a kernel the compiler lets share a multiprocessor."""
    found = load_loop(function)
    if isinstance(found, LoadLoop):
        resources = resources_of(found, target)
        if isinstance(resources, Resources):
            return resources.blocks
    spec = KernelFacts(function).spec
    return max(spec.occupancy, blocks_that_fit(function, spec.num_warps, 0, target))


def _peak(loops: Sequence[Operation], module: ModuleOp, target: Target) -> float:
    """Flops a cycle of the products of a kernel; 0 without any."""
    found = [facts.roofline for facts in loop_facts(module, target, ()) if facts.roofline]
    return max((one.peak for one in found if one.product_flops), default=0.0) if loops else 0.0


def _power(flops: float, seconds: float, peak: float, costs: Latencies) -> float:
    """By how much power slows a launch: 1 where it does not."""
    if not flops or not peak or not seconds:
        return 1.0
    sustained = peak * costs.multiprocessors * costs.clock * 1e6 * costs.power_cap / 100
    return max(1.0, flops / seconds / sustained)
