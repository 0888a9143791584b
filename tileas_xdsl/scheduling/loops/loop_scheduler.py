"""Schedule a loop: roles and replicas, a modulo schedule, buffers and registers that fit.

graph = dependence_graph(loop)
for each number of replicas that can divide the rows:
    repeat: solve; if buffers do not fit, bound their stages; if registers do not, keep
    iterations apart
the least interval of one multiprocessor wins, then the fewest stages
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import scf

from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileas.attributes import matrix_unit_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import CombiningOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadBase
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.scheduling.loops.dependence_graph import DependenceGraph, dependence_graph
from tileas_xdsl.scheduling.loops.loop_problem import LoopProblem, loop_problem, step_of
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind
from tileas_xdsl.scheduling.problem import Problem, Solution, resource_bound
from tileas_xdsl.scheduling.resources.buffer_stages import buffered, needed_stages
from tileas_xdsl.scheduling.resources.capacity import LoopCapacity
from tileas_xdsl.scheduling.resources.machine_model import MachineModel, ModelName
from tileas_xdsl.scheduling.resources.register_demand import register_demand
from tileas_xdsl.scheduling.resources.unit_demand import held_bytes
from tileas_xdsl.scheduling.schedule import LoopPlan, Role, RolePlan, loads_of
from tileas_xdsl.scheduling.schedule_attributes import read_plan
from tileas_xdsl.scheduling.solvers.search import SearchOptions, SolverName, cached_schedule
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.threads.pipeline.warp_allocation import MAX_CONSUMER_REGISTERS, registers_at_entry

PRODUCER_WARPS, PRODUCER_REGISTERS = 4, 40
"""A warpgroup, so that it can give registers away; of a thread: addresses and barriers."""

REGISTER_HEADROOM = 40
"""Of a thread beside its tiles: addresses, descriptors, loop counters."""

EASY_REGISTERS = 128
"""Registers of tiles up to which one warpgroup has a tile for itself."""

MAX_REPLICAS = 3
"""Consumers beside a producer: four warpgroups have 128 registers a thread."""


@dataclass(frozen=True)
class SchedulerOptions:
    """How loops are scheduled, as the pass's options say."""

    model: ModelName = ModelName.MEASURED
    solver: SolverName = SolverName.OWN
    serial: bool = False
    """One operation after another, without overlap."""
    rounds: int = 10
    """How often buffers and registers may be bounded before the last schedule counts."""
    slots: int = 4096
    """Time slots of an interval above which time is counted in coarser steps; 0: never."""
    random_delay: bool = False
    """Add pseudo-random latencies, to stress what reads schedules."""


@dataclass(frozen=True)
class Scheduled:
    """A loop with its problem, a solution, and what roles and buffers get."""

    found: LoopProblem
    solution: Solution
    roles: Sequence[RolePlan]
    stages: Mapping[int, int]
    """By the index of a load: the iterations that its buffer holds."""
    demand: int
    """Registers of a thread of the consumer for tiles of the loop."""

    @property
    def fits(self) -> bool:
        """Whether the consumer has registers for its tiles."""
        budget = next((role.registers for role in self.roles if role.name is Role.CONSUMER), 0)
        return self.demand + REGISTER_HEADROOM <= budget


def schedule_loop(
    loop: scf.ForOp, capacity: LoopCapacity, options: SchedulerOptions
) -> Scheduled | str:
    """Return the best schedule of a loop, or a sentence that says why it has none."""
    graph = dependence_graph(loop)
    if (problem := refusal(graph)) is not None:
        return problem
    plan = read_plan(loop)
    counts = _replicas(graph, plan)
    counts = [count for count in counts if count * WARPGROUP_WARPS >= capacity.warps] or counts[-1:]
    roomy = [count for count in counts if _may_fit(graph, count)] or [*counts[-1:]]
    tried = [_schedule(graph, count, plan, capacity, options) for count in roomy]
    found = [one for one in tried if one is not None]
    if not found:
        return "no initiation interval has a schedule that keeps what the attributes say"
    return min(found, key=_preference)


def pinned_problem(
    loop: scf.ForOp, plan: LoopPlan, target: Target, options: SchedulerOptions
) -> LoopProblem:
    """Return the problem of a loop with the replicas and the stages that its attributes give."""
    graph = dependence_graph(loop)
    model = MachineModel(options.model, latencies(target.name), _replicas(graph, plan)[0])
    return loop_problem(graph, model, _given_stages(graph, plan))


def refusal(graph: DependenceGraph) -> str | None:
    """Why a loop is not scheduled; None if it is."""
    inner = instances_in(graph.loop.body, scf.ForOp, scf.WhileOp)
    if inner:
        return "it contains a loop; the innermost loops are scheduled"
    kinds = {node.kind for node in graph.nodes}
    if not kinds & {MacroKind.TMA_LOAD, MacroKind.LOAD, MacroKind.DOT}:
        if has_instance(graph.loop.body, DotOp, TiledLoadBase, LoadBase):
            return (
                "what it loads or multiplies is in a branch, where nothing has a place of its own"
            )
        return "it neither loads nor multiplies tiles, so nothing can overlap"
    return None


def _preference(one: Scheduled) -> tuple[bool, int, bool, int]:
    replicas = one.found.model.replicas
    is_easy = one.demand <= EASY_REGISTERS
    return (
        not one.fits,
        one.solution.ii,
        not is_easy,
        replicas if is_easy else -replicas,
    )


# replicas


def _replicas(graph: DependenceGraph, plan: LoopPlan) -> Sequence[int]:
    """The numbers of consumers among which rows can be divided, in whole matrix instructions."""
    given = plan.role(Role.CONSUMER)
    if given is not None:
        return [given.replicas]
    dots = [op for node in graph.nodes for op in node.operations if isinstance(op, DotOp)]
    if not dots or not all(map(_is_of_rows, dots)) or _mixes_rows(graph):
        return [1]
    # 128 rows in matrix instructions of 64 rows can be divided between 1 or 2 consumers.
    rows = [(shape_of(op.c.type) or (1, 1))[-2] for op in dots]
    return [
        count
        for count in range(1, MAX_REPLICAS + 1)
        if all(extent % (count * _height(op)) == 0 for extent, op in zip(rows, dots, strict=True))
    ] or [1]


def _may_fit(graph: DependenceGraph, count: int) -> bool:
    """Whether a thread has registers for what iterations carry, beside the largest product."""
    carried = {e.value: held_bytes(e.value) for e in graph.edges if e.distance and e.value}
    dots = (node.operations[0].results[0] for node in graph.nodes if node.kind is MacroKind.DOT)
    largest = max((held_bytes(value) for value in dots if value not in carried), default=0)
    words = (sum(carried.values()) + largest) // 4
    return words // (count * WARPGROUP_WARPS * WARP) + REGISTER_HEADROOM <= MAX_CONSUMER_REGISTERS


def _is_of_rows(op: DotOp) -> bool:
    """Whether any multiple of the instruction's rows is a product of its own, with B shared."""
    unit = matrix_unit_of(op.atom)
    return unit is not None and unit.repeats_rows and len(shape_of(op.c.type) or ()) == 2


def _height(op: DotOp) -> int:
    unit = matrix_unit_of(op.atom)
    assert unit is not None
    return unit.rows[0]


def _mixes_rows(graph: DependenceGraph) -> bool:
    """Whether a reduction combines rows, which then cannot be divided."""
    combining = (op for n in graph.nodes for op in n.operations if isinstance(op, CombiningOp))
    return any(op.axis.value.data == 0 or len(op.tiles[0].get_shape()) != 2 for op in combining)


# one number of replicas


def _schedule(
    graph: DependenceGraph,
    count: int,
    plan: LoopPlan,
    capacity: LoopCapacity,
    options: SchedulerOptions,
) -> Scheduled | None:
    model = MachineModel(options.model, latencies(capacity.target.name), count)
    bounds: dict[int, int] = _given_stages(graph, plan)
    in_order, best = False, None
    for _ in range(max(options.rounds, 1)):
        found = loop_problem(graph, model, bounds, in_order=in_order)
        solution = _solve(found, plan, options)
        if solution is None:
            return best
        stages = {**needed_stages(found, solution), **bounds}
        roles = _roles(found, plan, capacity)
        threads = roles[-1].warps * WARP
        best = Scheduled(found, solution, roles, stages, register_demand(found, solution, threads))
        excess = _excess(found, stages, capacity)
        if excess > 0 and not bounds.keys() >= set(buffered(found)):
            bounds |= _bounded(found, stages, capacity)
        elif not best.fits and not in_order:
            in_order = True
        else:
            break
    return best


def _solve(found: LoopProblem, plan: LoopPlan, options: SchedulerOptions) -> Solution | None:
    problem = _delayed(found.problem) if options.random_delay else found.problem
    if options.serial or found.is_serial:
        return serial_solution(found)
    quantum = found.model.quantum
    if options.slots:
        quantum = max(quantum, ceil_div(resource_bound(problem), options.slots))
    search = SearchOptions(options.solver, quantum, step_of(found.model), plan.ii)
    solution = cached_schedule(problem, search)
    return None if solution is None else _from_first_of_consumer(found, solution)


def _delayed(problem: Problem) -> Problem:
    numbers = random.Random(len(problem.dependences))
    edges = [replace(e, latency=e.latency + numbers.randrange(64)) for e in problem.dependences]
    return replace(problem, dependences=edges)


def serial_solution(found: LoopProblem) -> Solution:
    """Return the schedule without overlap: each task starts when the one before has its results."""
    starts: list[int] = []
    now = 0
    for cost in found.costs:
        starts.append(now)
        now += max(cost.latency, cost.length)
    return Solution(now + found.model.release, starts)


def _from_first_of_consumer(found: LoopProblem, solution: Solution) -> Solution:
    """Shift a schedule so that the consumer's first operation begins a round.

    Its operations of one iteration are then in one stage where they can be.  Published schedules
    begin with the first load.
    """
    mine = [
        start
        for start, role in zip(solution.starts, found.roles, strict=True)
        if role is not Role.PRODUCER
    ]
    measured = found.model.name is ModelName.MEASURED
    if not measured or not found.problem.is_relative or not mine:
        return solution
    shift = -min(mine) % solution.ii
    return replace(solution, starts=[start + shift for start in solution.starts])


# buffers and registers


def _given_stages(graph: DependenceGraph, plan: LoopPlan) -> dict[int, int]:
    loads = loads_of(graph.loop)
    given = {loads[one.value]: one.stages for one in plan.buffers if one.value < len(loads)}
    first = {node.operations[0]: node.index for node in graph.nodes}
    return {first[op]: stages for op, stages in given.items() if op in first}


def buffer_bytes(found: LoopProblem, load: int) -> int:
    """Return the bytes of one stage of a load's buffer."""
    return aligned_bytes(found.graph.nodes[load].operations[0].results[0].type)


def _excess(found: LoopProblem, stages: Mapping[int, int], capacity: LoopCapacity) -> int:
    used = sum(count * buffer_bytes(found, load) for load, count in stages.items())
    return used - capacity.shared_bytes


def _bounded(
    found: LoopProblem, stages: Mapping[int, int], capacity: LoopCapacity
) -> dict[int, int]:
    """Take stages from the buffers that have most, until shared memory holds them; at least one."""
    bounds = dict(stages)
    while _excess(found, bounds, capacity) > 0 and max(bounds.values()) > 1:
        fullest = max(bounds, key=lambda load: (bounds[load], buffer_bytes(found, load)))
        bounds[fullest] -= 1
    return bounds


def _roles(found: LoopProblem, plan: LoopPlan, capacity: LoopCapacity) -> Sequence[RolePlan]:
    """Warps and registers of the roles, those that are given as they are; the consumer last."""
    has_producer = Role.PRODUCER in found.roles
    replicas = found.model.replicas
    whole = align_up(capacity.warps, WARPGROUP_WARPS) if has_producer else capacity.warps
    warps = WARPGROUP_WARPS if replicas > 1 else whole
    threads = (replicas * warps + PRODUCER_WARPS * has_producer) * WARP
    registers = registers_at_entry(threads, capacity.target, capacity.blocks)
    plans: list[RolePlan] = []
    if has_producer:
        plans.append(RolePlan(Role.PRODUCER, PRODUCER_WARPS, PRODUCER_REGISTERS))
        left = threads * registers - PRODUCER_WARPS * WARP * PRODUCER_REGISTERS
        registers = min(MAX_CONSUMER_REGISTERS, left // (replicas * warps * WARP) // 8 * 8)
    plans.append(RolePlan(Role.CONSUMER, warps, registers, replicas))
    given = {role.name: role for role in plan.roles}
    extra = [role for role in plan.roles if role.name not in (Role.PRODUCER, Role.CONSUMER)]
    return [*extra, *(given.get(one.name, one) for one in plans)]
