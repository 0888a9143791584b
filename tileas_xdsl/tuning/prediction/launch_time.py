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
from dataclasses import field, replace
from math import prod
from statistics import fmean

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Block, Operation

from tileas_xdsl.analysis.memory.load_traffic import SAME_IN_CLUSTER, note_rows, row_stride
from tileas_xdsl.analysis.values.cluster_values import is_same_in_cluster, runs_uniformly
from tileas_xdsl.backend.ptx.abi import divided_sums_of, persistent_launches_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import Location, location_of
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import LOOPS
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.explanation.bounds.loops import loop_facts, outside_of_loops
from tileas_xdsl.explanation.facts import LoopFacts, Reason, Roofline
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.scheduling.schedule import Role
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.instruction_counts import OF_ACCESS, OF_START
from tileas_xdsl.target.costs.latencies import Latencies, latencies
from tileas_xdsl.target.costs.units import Unit
from tileas_xdsl.target.kernel_abi import DIVIDED_SUMS, PERSISTENT_LAUNCHES
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
from tileas_xdsl.tuning.prediction.resident_blocks import cycles_of_blocks
from tileas_xdsl.tuning.prediction.scalar_values import ScalarValues, sampled_blocks
from tileas_xdsl.tuning.prediction.serial_work import serial_work
from tileas_xdsl.tuning.prediction.uneven_blocks import slowdown

Grid = tuple[int, int, int]

ACCESS_BYTES, SCHEDULERS = 512, 4
"""Of an access of a warp; and how many warps of a multiprocessor issue at a time."""

MEMORY, ATOMICS, LAUNCH, LATENCY = "memory", "atomics", "launch", "latency"
"""The path to memory as a unit of a multiprocessor, what adds there, what starts CTAs; no unit."""


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
class _PipelinedLoop:
    """What a pipelined loop takes of its busiest unit and waits beside that, and what it moves."""

    unit: str
    busy: float
    waits: float
    bytes: float


@dataclass
class _Block:
    """What a block demands of units, how long it waits beside that, and flops of its products."""

    costs: Latencies
    busy: float
    """The part of the multiprocessors that have blocks, which share the L2 cache's updates."""
    demands: dict[str, float] = field(default_factory=dict[str, float])
    """Cycles of each unit, in which no other block runs there."""
    latencies: float = 0
    """Cycles in which it occupies no unit that others may need."""
    load_waits: float = 0
    """Those of them in which code that overlaps no loads with anything waits for these."""
    serial_bytes: float = 0
    """Bytes of code that overlaps no loads with anything."""
    loops: list[_PipelinedLoop] = field(default_factory=list[_PipelinedLoop])
    flops: float = 0
    is_exact: bool = True
    meets: bool = False
    """Whether its warps wait for each other for what they load."""
    in_step: bool = False
    """Whether blocks that share a multiprocessor multiply at the same time, and compute then."""
    begin: float = 0
    """Cycles of its start and its first loads, which come under the products of one before."""
    beside: float = 0
    """Cycles of memory while blocks before it compute."""

    def demand(self, unit: str, cycles: float) -> None:
        self.demands[unit] = self.demands.get(unit, 0.0) + cycles

    def add_serial(self, one: Roofline, body: Block, times: float, waits: float = 1) -> None:
        """Add code that loads, then computes, then stores, and overlaps nothing by itself.

        It runs so many `times`, and waits so often for what it loads.
        """
        work = serial_work(body, self.costs)
        stored = max(one.bytes_written - work.atomic_bytes, 0)
        moved = one.bytes_read / self.costs.load_rate + stored / self.costs.store_rate
        self.demand(MEMORY, times * moved)
        self.serial_bytes += times * one.bytes
        self.demand("tensor_core", times * one.product_flops / one.peak)
        self.demand("compute", times * max(work.units.values(), default=0))
        self.demand(ATOMICS, times * work.atomics / self.costs.atomic_rate * self.busy)
        self.meets |= bool(one.product_flops) or work.meets
        self.load_waits += waits * work.load_waits
        self.latencies += times * work.waits + waits * work.load_waits
        self.flops += times * one.product_flops

    def wait_for_dram(self, traffic: Traffic, blocks: int) -> None:
        """Let code take as long as DRAM needs for its share of the bytes of a launch.

        A grid that is smaller than the chip has all of the bandwidth, too.  A pipelined loop loads
        ahead, and waits for nothing beside that.
        """
        busy = min(blocks, self.costs.multiprocessors)
        of_all = traffic.seconds(self.costs) * self.costs.clock * 1e6 * busy / blocks
        accessed = traffic.accessed / blocks

        def cycles(count: float) -> float:
            return of_all * min(count / accessed, 1) if accessed else 0

        self.demands[MEMORY] = max(self.demands.get(MEMORY, 0), cycles(self.serial_bytes))
        for loop in self.loops:
            moving = cycles(loop.bytes)
            is_awaited = moving > loop.busy + loop.waits
            self.demand(MEMORY if is_awaited else loop.unit, moving if is_awaited else loop.busy)
            self.latencies += 0 if is_awaited else loop.waits

    def taken(self, warps: int, *, loads_ahead: bool) -> _Block:
        """Return what it demands as one of those that a CTA takes one after another.

        The CTA has started before.  What is loaded a block ahead moves beside all else.
        """
        demands = {unit: cycles for unit, cycles in self.demands.items() if unit != LAUNCH}
        demands["compute"] -= OF_START * warps / SCHEDULERS
        waits = self.latencies - (self.costs.launch - self.costs.block_launch)
        if not loads_ahead:
            return replace(self, demands=demands, latencies=waits)
        moving = demands.pop(MEMORY, 0)
        return replace(self, demands=demands, latencies=waits - self.load_waits, beside=moving)

    @property
    def alone(self) -> float:
        """Its cycles where no other block runs."""
        return self.latencies + sum(self.demands.values())

    @property
    def bound(self) -> str:
        """What most of its cycles are: those of one unit, or of waiting."""
        spent = {MEMORY: self.beside, **self.demands, LATENCY: self.latencies}
        return max(spent, key=lambda unit: spent[unit])


@dataclass(frozen=True)
class _Program:
    """A kernel, and what the timing model says of its loops and of the code around them."""

    function: func.FuncOp
    costs: Latencies
    warps: int
    loops: Sequence[tuple[Operation, LoopFacts]]
    outside: Roofline | None
    rounds: Mapping[Location | None, int]
    """Of loops that load several rounds together, by location."""
    busy: float
    parts: int
    """CTAs that divide the iterations of a tile block among them."""

    def block(self, numbers: Sequence[ScalarValues]) -> _Block:
        """Return the mean of blocks whose numbers these are."""
        found = _Block(self.costs, self.busy, {LAUNCH: self.costs.block_launch})
        found.latencies += self.costs.launch - self.costs.block_launch
        found.begin = self.costs.launch
        for loop, facts in self.loops:
            iterations = _iterations(loop, numbers, found) / self.parts
            together = self.rounds.get(facts.location, 1)
            waits = _iterations(loop, numbers, found, together) / self.parts
            _add_loop(found, loop, facts, iterations, waits)
        started = OF_START * self.warps
        if self.outside is not None:
            found.add_serial(self.outside, self.function.body.block, 1)
            started += OF_ACCESS * self.outside.bytes / ACCESS_BYTES
        found.demand("compute", started / SCHEDULERS)
        return found

    @property
    def peak(self) -> float:
        """Flops a cycle of its products; 0 without any."""
        found = [facts.roofline for _, facts in self.loops if facts.roofline]
        return max((one.peak for one in found if one.product_flops), default=0.0)


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
    together = residency(function, target, pipelined)
    known = zip(loops, loop_facts(module, target, reasons, together), strict=True)
    outside = outside_of_loops(module, target)
    traffic = traffic_of(function, numbers, prod(grid), together * costs.multiprocessors, costs)
    waves = ceil_div(blocks, costs.multiprocessors * together)
    busy = min(blocks / costs.multiprocessors, 1.0)
    program = _Program(function, costs, spec.num_warps, tuple(known), outside, rounds, busy, parts)

    def demands(numbers: Sequence[ScalarValues]) -> _Block:
        found = program.block(numbers)
        found.latencies += handing_over
        found.wait_for_dram(traffic, blocks)
        return found

    def work(one: Grid) -> float:
        return demands([ScalarValues(arguments, grid, one)]).alone

    block = demands(numbers)
    each = ceil_div(blocks, costs.multiprocessors)
    alone = 1 if block.meets else spec.num_warps
    variations = {MEMORY: costs.load_variation / 100 * alone / spec.num_warps}
    asked, takers = _persistent_form(pipelined, arguments, grid, costs.multiprocessors), None
    if load_loop(function) is None and (asked is not None or is_persistent(pipelined)):
        block = block.taken(spec.num_warps, loads_ahead=loads_rows_ahead(pipelined))
        asked = None
    elif block.in_step:
        # Where products read registers all end together, and none works while another one waits.
        together = 1
    elif asked is not None and not (asked.differ or _is_chained(function)):
        together = min(together, _takers(function, target))
    if together > 1 and Unit.SHARED_MEMORY in block.demands:
        block.demands[Unit.SHARED_MEMORY] *= 100 / costs.shared_busy
    cycles = _cycles_of_waves(block, each, together, alone, variations)
    if asked is not None and asked.differ:
        takers = asked.count(arguments, grid, asked.at_once(costs.multiprocessors))
    elif asked is not None and together == 1:
        cycles -= (each - 1) * min(BEGIN_CYCLES - NEXT_CYCLES, block.begin)
    # Those that share a multiprocessor hide each other's starts anyway.
    hidden = BEGIN_CYCLES - NEXT_CYCLES if together == 1 else 0
    cycles *= slowdown(grid, work, costs.multiprocessors * together, takers, hidden=hidden)
    bound = block.bound
    moving = traffic.seconds(costs) * costs.clock * 1e6
    if (moving := costs.launch + costs.global_latency + moving) > cycles:
        cycles, bound = moving, MEMORY
    seconds = cycles / (costs.clock * 1e6)
    power = _power(block.flops * blocks, seconds, program.peak, costs)
    is_bound_by_power = power > 1
    return Predicted(
        seconds * power * 1e6 + costs.grid_launch / 1e3,
        "power" if is_bound_by_power else bound,
        waves,
        together,
        block.is_exact,
    )


def _division(
    pipelined: ModuleOp, arguments: Sequence[int | None], grid: Grid, multiprocessors: int
) -> tuple[int, int]:
    """Return how many CTAs divide the iterations of each tile block, and what that costs them."""
    (function,) = [op for op in pipelined.ops if isinstance(op, func.FuncOp)]
    asked = divided_sums_of(function.attributes.get(DIVIDED_SUMS))
    if asked is None or not asked.suits(arguments, grid, multiprocessors):
        return 1, 0
    parts = asked.parts(arguments, grid, asked.at_once(multiprocessors))
    return parts, asked.handing_over(parts)


def _persistent_form(
    pipelined: ModuleOp, arguments: Sequence[int | None], grid: Grid, multiprocessors: int
) -> PersistentLaunches | None:
    """Return what a launch knows of its tile blocks, where CTAs take one after another."""
    (function,) = [op for op in pipelined.ops if isinstance(op, func.FuncOp)]
    asked = persistent_launches_of(function.attributes.get(PERSISTENT_LAUNCHES))
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


def _cycles_of_waves(
    block: _Block, blocks: int, together: int, alone: int, variations: Mapping[str, float]
) -> float:
    """Cycles of the blocks of one multiprocessor, so many of them at a time; few are not a wave.

    `alone` parts of each block, its warps, run on their own.  `variations` are those of times at
    units: where warps wait for each other, that of their sum.
    """
    full, rest = divmod(blocks, together)
    demands = {unit: cycles / alone for unit, cycles in block.demands.items()}
    cycles = sum(
        count * cycles_of_blocks(demands, block.latencies, resident * alone, variations)
        for count, resident in ((full, together), (1, rest))
        if resident
    )
    if not block.beside:
        return cycles
    # One tile block is loaded while another one is computed: two of them are under way.
    return blocks * cycles_of_blocks({MEMORY: block.beside, "compute": cycles / blocks}, 0, 2) / 2


def _iterations(
    loop: Operation, blocks: Sequence[ScalarValues], block: _Block, together: int = 1
) -> float:
    """How often the body of a loop runs in a block, inside of all loops around it: the mean.

    So many iterations that load `together` count once; of 7 by fours, the last three one by one.
    """
    return fmean(_iterations_of(loop, numbers, block, together) for numbers in blocks)


def _iterations_of(loop: Operation, numbers: ScalarValues, block: _Block, together: int) -> int:
    count, current = 1, loop
    while current is not None:
        if isinstance(current, LOOPS):
            trips = numbers.trip_count(current)
            block.is_exact &= trips is not None
            rounds = together if current is loop else 1
            count *= 1 if trips is None else trips // rounds + trips % rounds
        current = current.parent_op()
    return count


def _add_loop(
    block: _Block,
    loop: Operation,
    facts: LoopFacts,
    iterations: float,
    waits: float,
) -> None:
    """Add the iterations of a loop; of a pipelined one the first waits for what it loads.

    Others wait so often for what they load.
    """
    if facts.cycles is not None and not _is_serial(facts):
        if facts.roofline is not None:
            block.flops += iterations * facts.roofline.product_flops
        busiest = max((one.cycles for one in facts.units), default=0.0)
        waiting = max(facts.cycles - busiest, 0) * iterations
        moved = 0 if facts.roofline is None else iterations * facts.roofline.bytes
        unit = facts.bound or LATENCY
        block.loops.append(_PipelinedLoop(unit, iterations * busiest, waiting, moved))
        loaded = max((one.latency for one in facts.operations), default=0)
        block.latencies += max(loaded, facts.first - facts.cycles)
        block.begin += loaded
        block.meets = True
        block.in_step |= facts.in_step
    elif facts.roofline is not None:
        block.add_serial(facts.roofline, loop.regions[-1].block, iterations, waits)


def _is_serial(facts: LoopFacts) -> bool:
    """Whether a loop that multiplies nothing has no producer: rounds follow one another."""
    has_product = facts.roofline is not None and facts.roofline.product_flops
    is_divided = any(one.role == Role.PRODUCER for one in facts.operations)
    is_refused = any(
        one.what == "pipeline" and one.location == facts.location for one in facts.reasons
    )
    return not has_product and (is_refused or not is_divided)


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
