"""The predicted time of a launch, from the tiles of a kernel before they are laid out.

    block    what its loops take of units by the timing model, times their iterations; code outside
             of pipelines loads, then computes, then stores; and the start of its warps
    wave     blocks that share a multiprocessor and wait for each other at its units; their warps
             one by one where nothing makes them wait for each other
    launch   waves of blocks, where CTAs take one after another without their starts and first
             loads, and where they load one ahead memory beside all else, but no less than DRAM
             needs for what has to move; longer where products would take more power than the GPU
             has; and the launch of the grid

Blocks that share a multiprocessor are those that the compiler asks for.  A loop whose trip count
the arguments do not tell counts as one iteration, and the prediction as inexact; trip counts are
those of the mean of some blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32

from tileas_xdsl.analysis.memory.load_traffic import SAME_IN_CLUSTER, note_rows, row_stride
from tileas_xdsl.analysis.values.cluster_values import is_same_in_cluster, runs_uniformly
from tileas_xdsl.backend.ptx.launch_attributes import divided_sums_of, persistent_launches_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import Location, location_of
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import LOOPS
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.explanation.bounds.loops import loop_facts, outside_of_loops
from tileas_xdsl.explanation.facts import Reason
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import Latencies, latencies
from tileas_xdsl.target.costs.units import Unit
from tileas_xdsl.target.launches.persistent_launches import (
    BEGIN_CYCLES,
    NEXT_CYCLES,
    PersistentLaunches,
)
from tileas_xdsl.threads.pipeline.occupancy import expected_blocks
from tileas_xdsl.transforms.materialize_schedule.default_schedule import has_chained_products
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop, load_loop
from tileas_xdsl.transforms.pipeline_loads.resources import (
    Resources,
    blocks_of_takers,
    resources_of,
)
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_together import LOADED_TOGETHER
from tileas_xdsl.transforms.pipeline_loads.rounds.next_rounds import ROWS_AHEAD
from tileas_xdsl.tuning.prediction.compulsory_traffic import Traffic, traffic_of
from tileas_xdsl.tuning.prediction.predicted_blocks import (
    MEMORY,
    PredictedBlock,
    PredictedProgram,
    cycles_of_waves,
)
from tileas_xdsl.tuning.prediction.scalar_values import ScalarValues, sampled_blocks
from tileas_xdsl.tuning.prediction.uneven_blocks import slowdown

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


@dataclass(frozen=True)
class _Launch:
    """A program, and the grid that it is launched with."""

    program: PredictedProgram
    arguments: Sequence[int | None]
    grid: Grid
    blocks: int
    traffic: Traffic
    handing_over: int
    """Cycles in which CTAs that divide a tile block hand their sums over."""

    def demands(self, numbers: Sequence[ScalarValues]) -> PredictedBlock:
        """Return the mean of blocks whose numbers these are, with what the launch adds."""
        found = self.program.block(numbers)
        found.latencies += self.handing_over
        found.wait_for_dram(self.traffic, self.blocks)
        return found

    def work(self, one: Grid) -> float:
        """Return the cycles of the block at an index of the grid."""
        return self.demands([ScalarValues(self.arguments, self.grid, one)]).alone

    def cycles(
        self, block: PredictedBlock, together: int, alone: int, asked: PersistentLaunches | None
    ) -> float:
        """Return the cycles of all blocks, of which so many share a multiprocessor."""
        costs = self.program.costs
        if together > 1 and Unit.SHARED_MEMORY in block.demands:
            block.demands[Unit.SHARED_MEMORY] *= 100 / costs.shared_busy
        each = ceil_div(self.blocks, costs.multiprocessors)
        variations = {MEMORY: costs.load_variation / 100 * alone / self.program.warps}
        cycles, takers = cycles_of_waves(block, each, together, alone, variations), None
        if asked is not None and asked.differ:
            at_once = asked.at_once(costs.multiprocessors)
            takers = asked.count(self.arguments, self.grid, at_once)
        elif asked is not None and together == 1:
            cycles -= (each - 1) * min(BEGIN_CYCLES - NEXT_CYCLES, block.begin)
        # Those that share a multiprocessor hide each other's starts anyway.
        hidden = BEGIN_CYCLES - NEXT_CYCLES if together == 1 else 0
        processors = costs.multiprocessors * together
        return cycles * slowdown(self.grid, self.work, processors, takers, hidden=hidden)


def predicted(
    module: ModuleOp,
    target: Target,
    reasons: Sequence[Reason],
    arguments: Sequence[int | None],
    grid: Grid,
    pipelined: ModuleOp,
) -> Predicted:
    """Predict a launch of the one kernel of a module, whose loads know how they are done.

    `pipelined` is the module behind `tileas-pipeline-loads`: which rounds of a loop load together,
    and the registers that this takes.
    """
    (function,) = [op for op in module.ops if isinstance(op, func.FuncOp)]
    rounds = rounds_together(pipelined)
    costs, spec = latencies(target.name), spec_of(function)
    parts, handing_over = _division(pipelined, arguments, grid, costs.multiprocessors)
    grid = spec.ctas(grid)
    numbers = [ScalarValues(arguments, grid, one) for one in sampled_blocks(grid)]
    blocks = prod(grid) * parts
    at_once = blocks <= costs.multiprocessors
    _note_traffic(function, spec.tile_block_ctas, numbers[0], at_once=at_once)
    loops = [op for op in function.walk() if isinstance(op, LOOPS)]
    resident = residency(function, target, pipelined)
    known = zip(loops, loop_facts(module, target, reasons, resident), strict=True)
    outside = outside_of_loops(module, target)
    traffic = traffic_of(function, numbers, prod(grid), resident * costs.multiprocessors, costs)
    busy = min(blocks / costs.multiprocessors, 1.0)
    program = PredictedProgram(
        function, costs, spec.num_warps, tuple(known), outside, rounds, busy, parts
    )
    launch = _Launch(program, arguments, grid, blocks, traffic, handing_over)
    mean = launch.demands(numbers)
    asked = _persistent_form(pipelined, arguments, grid, costs.multiprocessors)
    block, together, asked = _as_taken(mean, resident, asked, function, target, pipelined)
    alone = 1 if mean.meets else spec.num_warps
    cycles, bound = launch.cycles(block, together, alone, asked), block.bound
    moving = costs.launch + costs.global_latency + traffic.seconds(costs) * costs.clock * 1e6
    if moving > cycles:
        cycles, bound = moving, MEMORY
    seconds = cycles / (costs.clock * 1e6)
    power = _power(block.flops * blocks, seconds, program.peak, costs)
    waves = ceil_div(blocks, costs.multiprocessors * resident)
    time = seconds * power * 1e6 + costs.grid_launch / 1e3
    return Predicted(time, "power" if power > 1 else bound, waves, together, block.is_exact)


def _as_taken(
    block: PredictedBlock,
    resident: int,
    asked: PersistentLaunches | None,
    function: func.FuncOp,
    target: Target,
    pipelined: ModuleOp,
) -> tuple[PredictedBlock, int, PersistentLaunches | None]:
    """Return a block as CTAs take it, how many of them work at a time, and what a launch decides.

    `resident` of them share a multiprocessor.
    """
    if load_loop(function) is None and (asked is not None or is_persistent(pipelined)):
        warps = spec_of(function).num_warps
        return block.taken(warps, loads_ahead=loads_rows_ahead(pipelined)), resident, None
    if block.in_step:
        # Where products read registers all end together, and none works while another one waits.
        return block, 1, asked
    if asked is not None and not (asked.differ or _is_chained(function)):
        return block, min(resident, _takers(function, target)), asked
    return block, resident, asked


def _division(
    pipelined: ModuleOp, arguments: Sequence[int | None], grid: Grid, multiprocessors: int
) -> tuple[int, int]:
    """Return how many CTAs divide the iterations of each tile block, and what that costs them."""
    (function,) = [op for op in pipelined.ops if isinstance(op, func.FuncOp)]
    asked = divided_sums_of(function)
    if asked is None or not asked.suits(arguments, grid, multiprocessors):
        return 1, 0
    parts = asked.parts(arguments, grid, asked.at_once(multiprocessors))
    return parts, asked.handing_over(parts)


def _persistent_form(
    pipelined: ModuleOp, arguments: Sequence[int | None], grid: Grid, multiprocessors: int
) -> PersistentLaunches | None:
    """Return what a launch knows of its tile blocks, where CTAs take one after another."""
    (function,) = [op for op in pipelined.ops if isinstance(op, func.FuncOp)]
    asked = persistent_launches_of(function)
    is_chosen = asked is not None and asked.suits(arguments, grid, multiprocessors)
    return asked if is_chosen else None


def is_persistent(pipelined: ModuleOp) -> bool:
    """Whether the CTAs of the one kernel of a module take one tile block after another."""
    return any(spec_of(op).persistent for op in pipelined.ops if isinstance(op, func.FuncOp))


def loads_rows_ahead(pipelined: ModuleOp) -> bool:
    """Whether they load the rows of the next one while they compute those of one."""
    return is_persistent(pipelined) and any(ROWS_AHEAD in op.attributes for op in pipelined.ops)


def _is_chained(function: func.FuncOp) -> bool:
    """Whether products are computed of one another: then CTAs share a multiprocessor still."""
    found = load_loop(function)
    return isinstance(found, LoadLoop) and has_chained_products(found.loop)


def rounds_together(pipelined: ModuleOp) -> Mapping[Location | None, int]:
    """Return the rounds that loops load together, by location, behind `tileas-pipeline-loads`."""
    found: dict[Location | None, int] = {}
    for loop in pipelined.walk():
        if isinstance(rounds := loop.attributes.get(LOADED_TOGETHER), IntegerAttr):
            place = location_of(loop)
            found[place] = max(rounds.value.data, found.get(place, 1))
    return found


def _note_traffic(
    function: func.FuncOp, ctas: int, numbers: ScalarValues, *, at_once: bool
) -> None:
    """Note at loads by TMA which the CTAs of a tile block share, and how rows take the path."""
    extents = (ctas, 1, 1)
    for op in function.walk():
        if not isinstance(op, TiledLoadOp) or not isinstance(op.atom.data, TmaAtom):
            continue
        stride = row_stride(op)
        if known := stride if isinstance(stride, int) or stride is None else numbers.of(stride):
            note_rows(op, known, at_once=at_once)
        values = (*op.coords, *op.offsets)
        is_same = all(is_same_in_cluster(value, extents) for value in values)
        if ctas > 1 and is_same and runs_uniformly(op, extents):
            op.attributes[SAME_IN_CLUSTER] = IntegerAttr(ctas, i32)


def residency(function: func.FuncOp, target: Target, pipelined: ModuleOp) -> int:
    """Return how many blocks of a kernel the compiler lets share a multiprocessor.

    Without a pipeline these are as many as registers leave room for, when loads stand together.
    """
    found = load_loop(function)
    if isinstance(found, LoadLoop):
        resources = resources_of(found, target)
        if isinstance(resources, Resources):
            return resources.blocks
    spec = spec_of(function)
    (last,) = [op for op in pipelined.ops if isinstance(op, func.FuncOp)]
    return expected_blocks(last, spec.num_warps, spec.occupancy, target, typical=True)


def _takers(function: func.FuncOp, target: Target) -> int:
    """The blocks of a multiprocessor of which each takes one tile block after another."""
    found = load_loop(function)
    resources = resources_of(found, target) if isinstance(found, LoadLoop) else ""
    if not isinstance(found, LoadLoop) or not isinstance(resources, Resources):
        return 1
    return blocks_of_takers(found, resources, target)


def _power(flops: float, seconds: float, peak: float, costs: Latencies) -> float:
    """By how much power slows a launch: 1 where it does not."""
    if not flops or not peak or not seconds:
        return 1.0
    sustained = peak * costs.multiprocessors * costs.clock * 1e6 * costs.power_cap / 100
    return max(1.0, flops / seconds / sustained)
