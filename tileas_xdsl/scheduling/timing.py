"""Predict how long a scheduled loop runs: a clock for each role's warps, a queue for each unit.

Each replica of a role issues its operations in the order of its schedule, one after another; an
operation starts when its operands are there and its stage is free.  Products and copies are left to
their units; what else needs a unit waits for it.  Rounds overlap as roles run ahead, not as the
schedule says, so that the prediction holds for a poor schedule too.  Replicas take turns on the
tensor core, in the order in which the schedule has their products.

    cycles of an iteration   from the middle half of a long run: the steady state

What threads compute for products, in registers or through shared memory, is written when products
have read what was there; columns of B, by all replicas before any reads.

The start of a unit's work is that of the operation; a unit that is shared cycle by cycle (issue,
shared memory) delays what uses it by what is queued in front.  What TMA writes to shared memory
delays nothing, but an iteration takes no less than all reads and writes of it:

    128x128x64, f16    operands 384, written 256 of 512 cycles of the tensor core: 640 (H200: 657)
    128x256x64         640 and 384 of 1,024: 1,024 (H200: 1,009 to 1,023)

Where all threads write an operand and meet, nothing reads it between two products:

    256x128x32, tf32   accesses 1,536, products 1,024, between them 261: 1,797 (H200: 1,700)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.scheduling.loops.computed_operands import (
    computed_operands,
    cycles_between_products,
    is_written_operand,
)
from tileas_xdsl.scheduling.loops.dependence_graph import DependenceKind, MacroDependence
from tileas_xdsl.scheduling.loops.loop_problem import LoopProblem, is_made_by_all, read_cycles
from tileas_xdsl.scheduling.loops.loop_scheduler import Scheduled
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind, MacroOperation
from tileas_xdsl.scheduling.problem import Reservation
from tileas_xdsl.scheduling.resources.buffer_stages import buffered
from tileas_xdsl.scheduling.resources.machine_model import lane
from tileas_xdsl.scheduling.resources.unit_demand import written_cycles
from tileas_xdsl.scheduling.schedule import Role
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.costs.units import Unit

LONG_RUN = 24
"""Iterations after which a loop is in its steady state, for all latencies are some of them."""

ASYNCHRONOUS = (MacroKind.DOT, MacroKind.TMA_LOAD, MacroKind.TMA_STORE)
"""What warps issue and leave to a unit, which takes one after another."""


@dataclass(frozen=True)
class Event:
    """An operation of an iteration on the warps of one replica; times in cycles."""

    role: Role
    replica: int
    name: str
    iteration: int
    start: int
    """When the warps are done with what goes before and all it needs is there."""
    end: int
    """When the warps go on to the next operation."""
    ready: int
    """When its result is there."""
    unit: Unit
    began: int
    """When the unit begins with it."""
    busy: int
    """Cycles of the unit."""


WRITTEN_PLACES = 2
"""Of an operand in shared memory: the product reads one while threads write the other
(`threads/pipeline/late_products.py`)."""

MIN_CYCLES = 1.0
"""Of an iteration whose operations take none by the model: its branch is issued."""


@dataclass(frozen=True)
class LoopTiming:
    """The prediction for one loop."""

    events: Sequence[Event]
    per_iteration: float
    """Cycles of an iteration of all replicas: of the middle half of the run."""
    first: int
    """Cycles until the end of the first iteration."""
    load: Mapping[str, float]
    """By unit: the part of the cycles in the steady state in which it works."""

    @property
    def bound(self) -> str:
        """The busiest unit."""
        return max(self.load, key=lambda unit: self.load[unit])

    def cycles(self, iterations: int) -> float:
        """Cycles of a run of the loop."""
        return self.first + max(iterations - 1, 0) * self.per_iteration


def loop_timing(
    one: Scheduled, iterations: int = LONG_RUN, *, assembled: bool = False
) -> LoopTiming:
    """Predict the time of a scheduled loop from a run of some iterations, at least four.

    As it is `assembled`, warps wait for chained products of wgmma.
    """
    awaited = _awaited_products(one.found) if assembled else frozenset[int]()
    events = list(_Run(one, iterations, awaited).events())
    ends: defaultdict[int, int] = defaultdict(int)
    for event in events:
        ends[event.iteration] = max(ends[event.iteration], event.end, event.ready)
    first, last = iterations // 4, iterations * 3 // 4
    demands = {unit: n for unit, n in one.found.problem.demands().items() if unit in {*Unit}}
    written = written_cycles(one.found.graph.nodes, one.found.model.latencies)
    shared = demands.get(Unit.SHARED_MEMORY, 0) + written
    apart = cycles_between_products(one.found)
    steady = max((ends[last] - ends[first]) / (last - first), MIN_CYCLES, shared + apart)
    load = {unit: n / steady for unit, n in {**demands, Unit.SHARED_MEMORY: shared}.items() if n}
    return LoopTiming(events, steady, ends[0], load)


def unit_spans(timing: LoopTiming) -> Iterator[tuple[Event, int, int]]:
    """Yield what the units do that warps leave their work to: an event, its begin and its end."""
    for event in timing.events:
        if event.unit in (Unit.TENSOR_CORE, Unit.TMA) and event.busy:
            yield event, event.began, event.began + event.busy


class _Run:
    """The state of a run: clocks of replicas, ends of units' queues, times of results."""

    def __init__(self, one: Scheduled, iterations: int, awaited: frozenset[int]) -> None:
        self.one, self.iterations = one, iterations
        self.computed = frozenset(computed_operands(one.found))
        self.found: LoopProblem = one.found
        self.clock: defaultdict[tuple[Role, int], int] = defaultdict(int)
        self.queue: defaultdict[str, int] = defaultdict(int)
        self.begun: dict[tuple[int, int, int], int] = {}
        self.latency: dict[tuple[int, int, int], int] = {}
        for edge in self.found.problem.dependences:
            key = (edge.source, edge.target, edge.distance)
            self.latency[key] = max(edge.latency, self.latency.get(key, 0))
        self.into: defaultdict[int, list[MacroDependence]] = defaultdict(list)
        for edge in self.found.graph.edges:
            self.into[edge.target.index].append(edge)
        self.buffers = frozenset(buffered(self.found))
        self.late_readers = self._late_readers()
        self.issued: dict[tuple[int, int, int], int] = {}
        self.ii = one.solution.ii
        self.awaited = awaited
        self.before = self._befores()
        self.programs = {agent: list(self._program(agent[0])) for agent in self._agents()}

    def events(self) -> Iterator[Event]:
        """Run what can start earliest, until nothing is left."""
        place = dict.fromkeys(self.programs, 0)
        while True:
            choices = [
                (start, agent)
                for agent, program in self.programs.items()
                if place[agent] < len(program)
                and (start := self._start(agent, *program[place[agent]])) is not None
            ]
            if not choices:
                return
            start, agent = min(choices, key=lambda choice: (choice[0], choice[1][1]))
            yield self._issue(agent, *self.programs[agent][place[agent]], start)
            place[agent] += 1

    def _agents(self) -> Sequence[tuple[Role, int]]:
        roles = dict.fromkeys(self.found.roles)
        count = self.found.model.replicas
        return [(role, k) for role in roles for k in range(self._replicas(role, count))]

    def _replicas(self, role: Role, count: int) -> int:
        return 1 if role is Role.PRODUCER else count

    def _program(self, role: Role) -> Iterator[tuple[int, int]]:
        """The operations of a role with their iterations, round after round."""
        starts, ii = self.one.solution.starts, self.one.solution.ii
        mine = [index for index, one in enumerate(self.found.roles) if one is role]
        mine.sort(key=lambda index: (starts[index] % ii, index))
        first = min(starts[index] // ii for index in mine)
        last = max(starts[index] // ii for index in mine)
        for turn in range(self.iterations + last - first):
            for index in mine:
                iteration = turn - (starts[index] // ii - first)
                if 0 <= iteration < self.iterations:
                    yield index, iteration

    def _start(self, agent: tuple[Role, int], index: int, iteration: int) -> int | None:
        """The cycle at which an operation can start; None while something is not known yet."""
        waits = [self.clock[agent]]
        for edge in self.into[index]:
            earlier = iteration - edge.distance
            if earlier < 0:
                continue
            at = self._ready(edge, agent[1], earlier, index)
            if at is None:
                return None
            waits.append(at)
        if index in self.buffers:
            free = self._free(index, iteration - self.one.stages[index])
            if free is None:
                return None
            waits.append(free)
        waits += self._read(agent[1], index, iteration)
        turn = self._turn(agent, index, iteration)
        return None if turn is None else max([*waits, turn])

    def _late_readers(self) -> Mapping[int, Sequence[MacroDependence]]:
        """By what threads compute for products: their reads of it, until they end."""
        found: defaultdict[int, list[MacroDependence]] = defaultdict(list)
        for edge in self.found.graph.edges:
            is_loaded = self.found.roles[edge.source.index] is Role.PRODUCER
            if not is_loaded and read_cycles(self.found, edge):
                found[edge.source.index].append(edge)
        return found

    def _sharing(self, edge: MacroDependence, replica: int) -> Sequence[int]:
        """The replicas that write or read what a product of one of them reads."""
        is_of_all = edge in self.computed or is_made_by_all(edge)
        return range(self.found.model.replicas) if is_of_all else (replica,)

    def _read(self, replica: int, index: int, iteration: int) -> Iterator[int]:
        """Yield when products have read the operand of an iteration before, from its place."""
        for edge in self.late_readers.get(index, ()):
            earlier = iteration + edge.distance - self._places(edge)
            for reader in self._sharing(edge, replica):
                begun = self.begun.get((edge.target.index, reader, earlier))
                yield 0 if begun is None else begun + read_cycles(self.found, edge)

    def _places(self, edge: MacroDependence) -> int:
        """The places of an operand: two in shared memory for the only product of a loop."""
        dots = sum(node.kind is MacroKind.DOT for node in self.found.graph.nodes)
        return WRITTEN_PLACES if dots == 1 and is_written_operand(edge) else 1

    def _turn(self, agent: tuple[Role, int], index: int, iteration: int) -> int | None:
        """When a replica may issue a product: behind the one before it, if that is another's.

        Replicas take turns as the schedule has their products, each a part of an interval behind
        the one before; named barriers see to that.
        """
        if index not in self.before or self.computed:
            return 0
        before, replica = self.before[index][agent[1]]
        earlier = (self._due(index, agent[1], iteration) - self._due(before, replica, 0)) // self.ii
        if replica == agent[1] or not 0 <= earlier < self.iterations:
            return 0
        return self.issued.get((before, replica, earlier))

    def _due(self, index: int, replica: int, iteration: int) -> int:
        """The cycle at which the schedule has an operation."""
        shift = replica * (self.ii // self.found.model.replicas)
        return self.one.solution.starts[index] + shift + iteration * self.ii

    def _befores(self) -> Mapping[int, Sequence[tuple[int, int]]]:
        """By product and replica: the product, and its replica, that is before it in a round."""
        count = self.found.model.replicas
        dots = [node.index for node in self.found.graph.nodes if node.kind is MacroKind.DOT]
        order = sorted(
            ((dot, replica) for dot in dots for replica in range(count)),
            key=lambda one: (self._due(*one, 0) % self.ii, one),
        )
        previous = dict(zip(order, [*order[-1:], *order[:-1]], strict=True))
        return {dot: [previous[dot, k] for k in range(count)] for dot in dots if count > 1}

    def _ready(self, edge: MacroDependence, replica: int, iteration: int, index: int) -> int | None:
        source = edge.source.index
        is_loaded = self.found.roles[source] is Role.PRODUCER
        makers = (0,) if is_loaded else self._sharing(edge, replica)
        begun = [self.begun.get((source, one, iteration)) for one in makers]
        known = [at for at in begun if at is not None]
        if len(known) < len(begun):
            return None
        return max(known) + self.latency[source, index, edge.distance]

    def _free(self, load: int, iteration: int) -> int | None:
        """When all replicas have read the tile of an earlier iteration from its stage."""
        if iteration < 0:
            return 0
        ends: list[int] = []
        for edge in self.found.graph.edges:
            if edge.source.index != load or edge.order is not DependenceKind.VALUE:
                continue
            for replica in range(self.found.model.replicas):
                reader = edge.target.index
                begun = self.begun.get((reader, replica, iteration + edge.distance))
                if begun is None:
                    return None
                ends.append(begun + self.found.costs[reader].latency + self.found.model.release)
        return max(ends, default=0)

    def _issue(self, agent: tuple[Role, int], index: int, iteration: int, start: int) -> Event:
        cost, replica = self.found.costs[index], agent[1]
        shared = [one for one in cost.reservations if one.unit != lane(agent[0])]
        delay = max([0, *(self.queue[one.unit] - start for one in shared)])
        begin = start + delay
        for one in shared:
            at = begin if one.unit == cost.unit else start
            self.queue[one.unit] = max(self.queue[one.unit], at) + one.cycles
        is_async = _is_left_to_unit(self.found.graph.nodes[index])
        went_on = start if is_async else begin
        end = went_on + _lane_cycles(cost.reservations, agent[0])
        if index in self.awaited:
            end = max(end, begin + cost.latency)
        self.clock[agent] = self.issued[index, replica, iteration] = end
        self.begun[index, replica, iteration] = begin
        busy = max((one.cycles for one in shared if one.unit == cost.unit), default=0)
        name = self.found.graph.nodes[index].name
        ready = begin + cost.latency
        return Event(
            agent[0], replica, name, iteration, went_on, end, ready, cost.unit, begin, busy
        )


def _awaited_products(found: LoopProblem) -> frozenset[int]:
    """Products of wgmma that warps wait for: those of a loop in which one is computed of another.

    ptxas only counts the latency of `wgmma.wait_group`, and moves what the schedule has in front of
    it behind it, so that warps compute nothing while such a product runs.  A product that only the
    next one accumulates on is waited for at the end of a round, when its stage is released.
    """
    if get_target(found.model.latencies.target).has_tensor_memory:
        return frozenset()
    reached = {node.index: {node.index} for node in found.graph.nodes if node.kind is MacroKind.DOT}
    for _ in found.graph.nodes:
        for edge in found.graph.edges:
            for indices in reached.values():
                if edge.source.index in indices and edge.order is DependenceKind.VALUE:
                    indices.add(edge.target.index)
    chained = {(a, b) for a, indices in reached.items() for b in reached if a != b and b in indices}
    read = {
        edge.source.index
        for edge in found.graph.edges
        if edge.order is DependenceKind.VALUE and edge.target.kind is not MacroKind.DOT
    }
    return frozenset(index for pair in chained for index in pair if index in read)


def _is_left_to_unit(node: MacroOperation) -> bool:
    """Whether warps go on while a unit works; they wait for products whose sums they promote."""
    op = node.operations[0]
    is_promoted = isinstance(op, DotOp) and op.promote is not None
    return node.kind in ASYNCHRONOUS and not is_promoted


def _lane_cycles(reservations: Sequence[Reservation], role: Role) -> int:
    return sum(one.cycles for one in reservations if one.unit == lane(role))
