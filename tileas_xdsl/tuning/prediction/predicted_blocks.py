"""What the blocks of a kernel demand of a multiprocessor, and how long they take together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from statistics import fmean

from xdsl.dialects import func
from xdsl.ir import Block, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import Location
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import LOOPS
from tileas_xdsl.explanation.facts import LoopFacts, Roofline
from tileas_xdsl.scheduling.schedule import Role
from tileas_xdsl.target.costs.instruction_counts import OF_ACCESS, OF_START
from tileas_xdsl.target.costs.latencies import Latencies
from tileas_xdsl.tuning.prediction.compulsory_traffic import Traffic
from tileas_xdsl.tuning.prediction.resident_blocks import cycles_of_blocks
from tileas_xdsl.tuning.prediction.scalar_values import ScalarValues
from tileas_xdsl.tuning.prediction.serial_work import serial_work

ACCESS_BYTES, SCHEDULERS = 512, 4
"""Of an access of a warp; and how many warps of a multiprocessor issue at a time."""

MEMORY, ATOMICS, LAUNCH, LATENCY = "memory", "atomics", "launch", "latency"
"""The path to memory as a unit of a multiprocessor, what adds there, what starts CTAs; no unit."""


@dataclass(frozen=True)
class _PipelinedLoop:
    """What a pipelined loop takes of its busiest unit and waits beside that, and what it moves."""

    unit: str
    busy: float
    waits: float
    bytes: float


@dataclass
class PredictedBlock:
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

    def taken(self, warps: int, *, loads_ahead: bool) -> PredictedBlock:
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
class PredictedProgram:
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

    def block(self, numbers: Sequence[ScalarValues]) -> PredictedBlock:
        """Return the mean of blocks whose numbers these are."""
        found = PredictedBlock(self.costs, self.busy, {LAUNCH: self.costs.block_launch})
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


def cycles_of_waves(
    block: PredictedBlock, blocks: int, together: int, alone: int, variations: Mapping[str, float]
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
    loop: Operation, blocks: Sequence[ScalarValues], block: PredictedBlock, together: int = 1
) -> float:
    """How often the body of a loop runs in a block, inside of all loops around it: the mean.

    So many iterations that load `together` count once; of 7 by fours, the last three one by one.
    """
    return fmean(_iterations_of(loop, numbers, block, together) for numbers in blocks)


def _iterations_of(
    loop: Operation, numbers: ScalarValues, block: PredictedBlock, together: int
) -> int:
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
    block: PredictedBlock,
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
