"""Memory and barriers of scheduled loops: stages, offsets, tensor memory, named barriers.

    phase 1   lifetimes: from a load to the last read of its tile, by the schedule
    phase 2   named barriers: a turn for each replica of a consumer; barrier 0 is the block's own
    phase 3   sharing: buffers of one size whose lifetimes do not meet, and those of loops that run
              one after another, get the same bytes
    phase 4   offsets in shared memory; columns of tensor memory for accumulators

A buffer of several stages is alive in every cycle of a round, so that within a loop only buffers
of one stage share.  Lifetimes are circular: cycles [begin, end) modulo the interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import scf
from xdsl.ir import Operation

from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, emit_remark, note, op_error
from tileas_xdsl.dialects.nv_tileas.attributes import matrix_unit_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.scheduling.loops.dependence_graph import DependenceKind, dependence_graph
from tileas_xdsl.scheduling.loops.loop_problem import LoopProblem, loop_problem
from tileas_xdsl.scheduling.problem import Solution
from tileas_xdsl.scheduling.resources.buffer_stages import buffered, needed_stages, released
from tileas_xdsl.scheduling.resources.machine_model import MachineModel, ModelName
from tileas_xdsl.scheduling.schedule import BufferPlan, LoopPlan, Role, Schedule, loads_of
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.costs.units import Unit

NAMED_BARRIERS = range(1, 16)
"""Of a block, beside barrier 0, which is for all of its threads (PTX ISA, bar).

Agents synchronise on the first ones; replicas that take turns have the last ones.
"""

MIN_COLUMNS = 32
"""Tensor memory is allocated in powers of two of columns from this on (PTX ISA, tcgen05.alloc)."""


@dataclass(frozen=True)
class ScheduledLoop:
    """A loop whose attributes are read, with its graph and the cycles of its operations."""

    loop: scf.ForOp
    schedule: Schedule
    found: LoopProblem
    solution: Solution

    @staticmethod
    def of(loop: scf.ForOp, schedule: Schedule, target: Target) -> ScheduledLoop:
        """Return a loop with what its schedule says of each macro operation."""
        graph = dependence_graph(loop)
        for node in graph.nodes:
            if node.operations[0] not in schedule.placements:
                raise _unresolved(loop, node.operations[0], "is not scheduled")
        consumer = schedule.plan.role(Role.CONSUMER)
        replicas = 1 if consumer is None else consumer.replicas
        model = MachineModel(ModelName.MEASURED, latencies(target.name), replicas)
        starts = [schedule.placements[node.operations[0]].start for node in graph.nodes]
        return ScheduledLoop(
            loop, schedule, loop_problem(graph, model), Solution(schedule.ii, starts)
        )


@dataclass(frozen=True)
class Buffer:
    """Stages of a load in shared memory; `begin` and `end` in cycles of iteration 0."""

    op: Operation
    value: int
    stages: int
    stage_bytes: int
    begin: int
    end: int

    @property
    def bytes(self) -> int:
        """Of all stages."""
        return self.stages * self.stage_bytes

    def overlaps(self, other: Buffer, ii: int) -> bool:
        """Whether both are alive in some cycle of a round."""
        if self.end - self.begin >= ii or other.end - other.begin >= ii:
            return True
        later = (other.begin - self.begin) % ii
        return later < self.end - self.begin or later + other.end - other.begin > ii


def assign_buffers(
    loops: Sequence[ScheduledLoop], target: Target, capacity: int, spare: int
) -> Mapping[scf.ForOp, LoopPlan]:
    """Return the plan of each loop of a kernel with stages, offsets and barriers.

    `capacity` is the shared memory for buffers in bytes, which loops use one after another; `spare`
    the stages that a buffer gets beyond those that it needs, as capacity allows.  Raises `OpError`
    with the messages `fails to ...` of the catalogue.
    """
    plans: dict[scf.ForOp, LoopPlan] = {}
    for one in loops:
        buffers: Sequence[Buffer] = list(resolve_lifetimes(one))
        turns = assign_turns(one)
        groups = sharing(one, buffers)
        if len(groups) == len(buffers):
            buffers = _with_extra_stages(buffers, capacity, spare)
            groups = [[buffer] for buffer in buffers]
        _check_tensor_memory(one, target)
        offsets = assign_offsets(one, groups, capacity)
        given = [BufferPlan(b.value, b.stages, offsets[b]) for b in buffers]
        plans[one.loop] = replace(one.schedule.plan, buffers=given, turns=turns)
    return plans


# lifetimes


def resolve_lifetimes(one: ScheduledLoop) -> Iterator[Buffer]:
    """Yield the buffers of a loop; stages that its plan gives are kept, if they suffice."""
    needed = needed_stages(one.found, one.solution)
    for index in buffered(one.found):
        op = one.found.graph.nodes[index].operations[0]
        begin = one.solution.starts[index]
        reads = [e for e in one.found.graph.edges if e.source.index == index]
        values = [edge for edge in reads if edge.order is DependenceKind.VALUE]
        if not values:
            raise _unresolved(one.loop, op, "loads a tile that nothing in the loop reads")
        for edge in values:
            ready = begin + one.found.costs[index].latency
            if one.solution.starts[edge.target.index] + edge.distance * one.solution.ii < ready:
                reader = edge.target.operations[0]
                why = f"reads at its start what is there at cycle {ready} of its iteration"
                raise _unresolved(one.loop, reader, why)
        value = loads_of(one.loop).index(op)
        stages = one.schedule.plan.stages(value) or needed[index]
        if stages < needed[index]:
            why = f"has {stages} stages, but tiles of {needed[index]} iterations are alive at once"
            raise _unresolved(one.loop, op, why)
        end = released(one.found, one.solution, index)
        yield Buffer(op, value, stages, aligned_bytes(op.results[0].type), begin, end)


def _unresolved(loop: scf.ForOp, op: Operation, why: str) -> OpError:
    text = message("buffer_assignment.fails_resolve_lifetime")
    return op_error(loop, text, [note(op, why)])


def _with_extra_stages(buffers: Sequence[Buffer], capacity: int, spare: int) -> Sequence[Buffer]:
    """Give each buffer more stages than it needs, all of them or none, while there is room."""
    for _ in range(spare):
        more = [replace(one, stages=one.stages + 1) for one in buffers]
        if sum(one.bytes for one in more) > capacity:
            break
        buffers = more
    return buffers


# named barriers


def assign_turns(one: ScheduledLoop) -> Sequence[int]:
    """Return a named barrier for each replica of a consumer that multiplies, if it has several."""
    consumer = one.schedule.plan.role(Role.CONSUMER)
    units = {place.unit for place in one.schedule.placements.values()}
    if consumer is None or consumer.replicas == 1 or Unit.TENSOR_CORE not in units:
        return ()
    if consumer.replicas > len(NAMED_BARRIERS):
        why = f"{consumer.replicas} replicas want a barrier each; a block has {len(NAMED_BARRIERS)}"
        text = message("buffer_assignment.fails_assign_named_barrier")
        raise op_error(one.loop, text, [note(one.loop, why)])
    return NAMED_BARRIERS[-consumer.replicas :]


# memory


def sharing(one: ScheduledLoop, buffers: Sequence[Buffer]) -> Sequence[Sequence[Buffer]]:
    """Return the buffers in groups, each of which has one place in memory."""
    groups: list[list[Buffer]] = []
    for buffer in buffers:
        group = next((group for group in groups if _may_share(buffer, group, one)), None)
        if group is None:
            groups.append([buffer])
        else:
            emit_remark(buffer.op, message("buffer_assignment.share_pipeline"))
            group.append(buffer)
    return groups


def _may_share(buffer: Buffer, members: Sequence[Buffer], one: ScheduledLoop) -> bool:
    """Whether a buffer has the type of others and one stage, as they, and is alive with none."""
    types = {member.op.results[0].type for member in (buffer, *members)}
    apart = not any(buffer.overlaps(member, one.solution.ii) for member in members)
    single = all(member.stages == 1 for member in (buffer, *members))
    return apart and single and len(types) == 1


def assign_offsets(
    one: ScheduledLoop, groups: Sequence[Sequence[Buffer]], capacity: int
) -> Mapping[Buffer, int]:
    """Return where each buffer begins, group after group."""
    offsets: dict[Buffer, int] = {}
    end = 0
    for group in groups:
        offsets.update(dict.fromkeys(group, end))
        end += group[0].bytes
    if end > capacity:
        why = f"its buffers take {end} bytes of shared memory, of which {max(capacity, 0)} are left"
        text = message("buffer_assignment.fails_assign_smem")
        raise op_error(one.loop, text, [note(one.loop, why)])
    return offsets


def _check_tensor_memory(one: ScheduledLoop, target: Target) -> None:
    """Accumulators that a loop has at once fit the columns of tensor memory."""
    columns = [_columns(op) for op in one.loop.body.block.ops if isinstance(op, DotOp)]
    if sum(columns) > target.tensor_memory_columns and any(columns):
        listed = " + ".join(map(str, filter(None, columns)))
        why = f"its products want {listed} columns; there are {target.tensor_memory_columns}"
        raise op_error(
            one.loop, message("buffer_assignment.fails_assign_tmem"), [note(one.loop, why)]
        )


def _columns(op: DotOp) -> int:
    """The columns of tensor memory that a product takes: none for accumulators in registers, or
    for those of another product, to which it adds."""
    unit = matrix_unit_of(op.atom)
    in_place = isinstance(op.c.owner, DotOp)
    if unit is None or not unit.accumulates_in_tensor_memory or in_place:
        return 0
    columns = (shape_of(op.c.type) or (1,))[-1]
    return max(MIN_COLUMNS, 1 << (columns - 1).bit_length())
