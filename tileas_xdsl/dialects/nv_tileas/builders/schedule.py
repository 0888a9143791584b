"""Materialisation of a schedule: loop-carried values, producers and consumers, stage replicas.

The three helpers take and return plain data, so that any scheduler can use them: a
`ScheduleAnalysis` gives the slot of each operation, and nothing here computes a schedule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Protocol

from xdsl.builder import Builder
from xdsl.ir import Operation, OpResult, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import owning_op


class Side(Enum):
    """Whether an operation loads data into tiles of the kernel or stores it from them."""

    READ = "read"
    WRITE = "write"


ACCESSES: Mapping[str, Side] = {
    **dict.fromkeys(
        (
            "nv_tileas.async.gather_tma_load",
            "nv_tileas.async.load",
            "nv_tileas.async.tiled_load",
            "nv_tileas.async.tiled_tma_load",
            "nv_tileas.gather_load",
            "nv_tileas.load",
            "nv_tileas.tiled_load",
        ),
        Side.READ,
    ),
    **dict.fromkeys(
        (
            "nv_tileas.async.scatter_tma_store",
            "nv_tileas.async.store",
            "nv_tileas.async.tiled_atomic_rmw",
            "nv_tileas.async.tiled_tma_store",
            "nv_tileas.scatter_store",
            "nv_tileas.store",
            "nv_tileas.tiled_atomic_rmw",
            "nv_tileas.tiled_store",
        ),
        Side.WRITE,
    ),
}
"""The scheduled loads and stores, with their direction."""

ASYNC_ELIGIBLE = frozenset(
    name for name, side in ACCESSES.items() if side is Side.READ and "gather_load" not in name
)
"""The loads that are asynchronous or have an asynchronous form."""


@dataclass(frozen=True)
class ScheduledOp:
    """Where a schedule puts an operation."""

    op: Operation
    stage: int
    order: int
    resident: bool = False
    """Whether its data stays for the whole loop, so that no stage carries it to another."""


class ScheduleAnalysis(Protocol):
    """What these helpers need to know of a schedule."""

    @property
    def placements(self) -> Sequence[ScheduledOp]:
        """Every scheduled operation, once."""
        ...


@dataclass(frozen=True)
class Schedule:
    """The simplest `ScheduleAnalysis`: a list."""

    placements: tuple[ScheduledOp, ...]


@dataclass(frozen=True)
class MaterializeOptions:
    """What a target makes of a schedule."""

    async_eligible: frozenset[str] = ASYNC_ELIGIBLE
    """Names of the loads that may run in the background."""
    keep_resident: bool = True
    """Whether resident data stays; else all data is carried like the rest."""


@dataclass(frozen=True)
class Pending:
    """An access whose data crosses to another stage: a value that iterations hand on."""

    op: Operation
    side: Side
    stage: int
    """The stage of the access."""
    distance: int
    """Distance in iterations between the access and the other end of its data."""


@dataclass(frozen=True)
class ScheduleMaterialization:
    """The accesses of a schedule, each in the order of the schedule."""

    resident_loads: tuple[Operation, ...]
    resident_stores: tuple[Operation, ...]
    pending_loads: tuple[Pending, ...]
    pending_stores: tuple[Pending, ...]
    resident_async: tuple[Operation, ...]
    pending_async: tuple[Pending, ...]


def materialize_schedule(
    analysis: ScheduleAnalysis, options: MaterializeOptions | None = None
) -> ScheduleMaterialization:
    """Partition of the accesses: kept in place, loop-carried, and asynchronous ones of both."""
    options = options or MaterializeOptions()
    resident_loads = _resident(analysis, Side.READ, options)
    pending_loads = _pending(analysis, Side.READ, options)
    return ScheduleMaterialization(
        resident_loads,
        _resident(analysis, Side.WRITE, options),
        pending_loads,
        _pending(analysis, Side.WRITE, options),
        tuple(op for op in resident_loads if op.name in options.async_eligible),
        tuple(load for load in pending_loads if load.op.name in options.async_eligible),
    )


def _in_order(analysis: ScheduleAnalysis) -> list[ScheduledOp]:
    return sorted(analysis.placements, key=lambda placed: (placed.stage, placed.order))


def _stages(analysis: ScheduleAnalysis) -> dict[Operation, int]:
    return {placed.op: placed.stage for placed in analysis.placements}


def _resident(
    analysis: ScheduleAnalysis, side: Side, options: MaterializeOptions
) -> tuple[Operation, ...]:
    return tuple(
        placed.op
        for placed in _in_order(analysis)
        if ACCESSES.get(placed.op.name) is side and placed.resident and options.keep_resident
    )


def _pending(
    analysis: ScheduleAnalysis, side: Side, options: MaterializeOptions
) -> tuple[Pending, ...]:
    stages = _stages(analysis)
    return tuple(
        Pending(placed.op, side, placed.stage, _distance(placed, side, stages))
        for placed in _in_order(analysis)
        if ACCESSES.get(placed.op.name) is side and not (placed.resident and options.keep_resident)
    )


def _distance(placed: ScheduledOp, side: Side, stages: Mapping[Operation, int]) -> int:
    """How far the data of an access travels: to its last user, or from its first source."""
    if side is Side.READ:
        users = (use.operation for result in placed.op.results for use in result.uses)
        scheduled = [_scheduled_ancestor(user, placed.op, stages) for user in users]
        ends = [stages[op] for op in scheduled if op is not None]
        if min(ends, default=placed.stage) < placed.stage:
            raise ValueError(f"{_name(placed)} is used in an earlier stage")
        return max(ends, default=placed.stage) - placed.stage
    sources = collect_operand_sources(placed.op).values()
    starts = [stages[op] for op in sources if op is not None and op in stages]
    if max(starts, default=placed.stage) > placed.stage:
        raise ValueError(f"{_name(placed)} is scheduled before what it uses")
    return placed.stage - min(starts, default=placed.stage)


def _name(placed: ScheduledOp) -> str:
    return f"'{placed.op.name}' in stage {placed.stage}"


def _scheduled_ancestor(
    user: Operation, source: Operation, stages: Mapping[Operation, int]
) -> Operation | None:
    """Return the scheduled ancestor of a user: itself or an op around it, not around `source`."""
    at: Operation | None = user
    while at is not None and not at.is_ancestor(source):
        if at in stages:
            return at
        at = at.parent_op()
    return None


@dataclass(frozen=True)
class UnionConstraint:
    """Operations that must work on one pipeline; constraints that share a member are one."""

    members: tuple[Operation, ...]


@dataclass(frozen=True)
class StagePair:
    """The two sides of a pipeline, each in the order of the schedule."""

    producers: tuple[ScheduledOp, ...]
    consumers: tuple[ScheduledOp, ...]

    @property
    def stage(self) -> int:
        """The stage in which the first producer runs."""
        return self.producers[0].stage

    @property
    def depth(self) -> int:
        """How many iterations are under way at once: the stages that the pipeline needs."""
        return max(placed.stage for placed in self.consumers) - self.stage + 1


def build_stages(
    constraints: Iterable[UnionConstraint], analysis: ScheduleAnalysis
) -> tuple[StagePair, ...]:
    """Return the pipelines of a schedule: producers and consumers of each, in program order.

    In a union, members that use no result of another member produce, the others consume.
    Raises `ValueError` if a member has no slot, a side is empty, or a consumer comes first.
    """
    placed = {each.op: each for each in analysis.placements}
    pairs = [_stage_pair(union, placed) for union in _merged(constraints)]
    return tuple(sorted(pairs, key=lambda pair: (pair.stage, pair.producers[0].order)))


def _merged(constraints: Iterable[UnionConstraint]) -> list[list[Operation]]:
    unions: list[list[Operation]] = []
    for constraint in constraints:
        members = list(dict.fromkeys(constraint.members))
        apart: list[list[Operation]] = []
        for union in unions:
            if any(op in members for op in union):
                members = union + [op for op in members if op not in union]
            else:
                apart.append(union)
        unions = [*apart, members]
    return unions


def _stage_pair(union: Sequence[Operation], placed: Mapping[Operation, ScheduledOp]) -> StagePair:
    for op in union:
        if op not in placed:
            raise ValueError(f"'{op.name}' has no place in the schedule")
    members = sorted((placed[op] for op in union), key=lambda each: (each.stage, each.order))
    used = {each.op: _sources_in(each.op, union) for each in members}
    consumers = tuple(each for each in members if used[each.op])
    producers = tuple(each for each in members if each not in consumers)
    if not producers or not consumers:
        names = ", ".join(f"'{op.name}'" for op in union)
        raise ValueError(f"no member of the union {names} feeds another one")
    for consumer in consumers:
        sources = (placed[op] for op in used[consumer.op])
        if any((consumer.stage, consumer.order) < (each.stage, each.order) for each in sources):
            raise ValueError(f"'{consumer.op.name}' is scheduled before what it uses")
    return StagePair(producers, consumers)


def _sources_in(op: Operation, union: Sequence[Operation]) -> list[Operation]:
    """The members of a union whose results `op`, or anything inside it, uses."""
    sources = collect_operand_sources(op).values()
    return [source for source in sources if source is not None and source in union]


@dataclass
class StageMap:
    """The stages of an expansion, and what stands for each operation and value in each of them.

    Expanding one operation after another fills the map, so that each replica finds the replicas of
    what it uses.  `values` holds what the caller gives: the buffer, the coordinate of a stage.
    """

    stages: tuple[int, ...]
    values: dict[SSAValue, dict[int, SSAValue]] = field(
        default_factory=dict[SSAValue, dict[int, SSAValue]]
    )
    replicas: dict[Operation, dict[int, Operation]] = field(
        default_factory=dict[Operation, dict[int, Operation]]
    )
    """From each source operation to its replica in each stage."""

    def lookup(self, value: SSAValue, source: Operation | None, stage: int) -> SSAValue | None:
        """What `value` is in `stage`, None if it is the same in all of them."""
        by_stage = self.values.get(value)
        if by_stage is not None:
            if stage not in by_stage:
                raise ValueError(f"nothing is known of a value of type {value.type} in {stage=}")
            return by_stage[stage]
        if source is None or source not in self.replicas:
            return None
        if stage not in self.replicas[source]:
            raise ValueError(f"'{source.name}' has no replica in {stage=}")
        assert isinstance(value, OpResult)
        return self.replicas[source][stage].results[value.index]


def collect_operand_sources(op: Operation) -> dict[SSAValue, Operation | None]:
    """From each value that `op`, or anything inside it, uses to the operation it comes from.

    None stands for values of blocks.  What is defined inside `op` is left out.
    """
    sources: dict[SSAValue, Operation | None] = {}
    for inner in op.walk():
        for value in inner.operands:
            owner = value.owner
            holder = owning_op(value)
            if holder is not None and _is_inside(holder, owner, op):
                continue
            sources[value] = owner if isinstance(owner, Operation) else None
    return sources


def _is_inside(holder: Operation, owner: object, op: Operation) -> bool:
    """Whether a value is made inside `op`: by an operation below it, or as an argument of it."""
    return op.is_ancestor(holder) and owner is not op


def expand_single_tiled_op(
    op: Operation, stages: StageMap, builder: Builder
) -> dict[int, Operation]:
    """One replica of `op` for each stage, inserted at the builder; `op` itself stays.

    A replica uses the replicas of its own stage and never those of another: a source that has
    replicas, but none in this stage, is an error.
    """
    sources = collect_operand_sources(op)
    replicas: dict[int, Operation] = {}
    for stage in stages.stages:
        rewired = {
            value: found
            for value, source in sources.items()
            if (found := stages.lookup(value, source, stage)) is not None
        }
        replicas[stage] = builder.insert(op.clone(rewired))
    stages.replicas[op] = replicas
    return replicas
