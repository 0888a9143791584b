"""The pass `tileas-materialize-schedule`: agents, pipelines and rotation of scheduled loops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.scheduling.loops.schedule_verification import (
    verify_no_placements,
    verify_runnable,
)
from tileas_xdsl.scheduling.schedule import Role, Schedule, loads_of
from tileas_xdsl.scheduling.schedule_attributes import (
    clear_placement,
    clear_schedule,
    read_schedule,
    write_placements,
    write_schedule,
)
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.materialize_schedule.agents import write_agents
from tileas_xdsl.transforms.materialize_schedule.default_schedule import (
    all_in_registers,
    default_schedule,
    multiplies_at_once,
)
from tileas_xdsl.transforms.materialize_schedule.next_stage_waits import wait_ahead
from tileas_xdsl.transforms.materialize_schedule.replica_turns import take_turns
from tileas_xdsl.transforms.materialize_schedule.rotation import rotate
from tileas_xdsl.transforms.materialize_schedule.stage_rings import StageRing, stage_rings
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import (
    LoadLoop,
    divided_loop,
    is_divided,
    load_loop,
    with_following,
    with_loops,
)
from tileas_xdsl.transforms.pipeline_loads.held_stages import held_stages
from tileas_xdsl.transforms.pipeline_loads.launched_blocks import runs_at_once
from tileas_xdsl.transforms.pipeline_loads.resources import Resources, resources_of

NOT_MATERIALIZED = "nv_tileas.not_materialized"
"""On a scheduled loop that stays as it is: why."""

NOT_ROTATED = "nv_tileas.not_rotated"
"""On the loop of the consumers: why its operations all stay in one stage."""


@dataclass(frozen=True)
class TileasMaterializeSchedule(ModulePass):
    """Split the scheduled loop of a kernel into agents, and rotate the consumers' loop.

    Loops behind it that load the same tiles go into the agents with it, and are rotated with it
    where they go on with what it ends with.

    Reads `tileas.schedule` alone: roles with warps, registers and replicas, the stages of buffers,
    and of each operation its stage and its order.  Leaves a pipeline for each set of loads that are
    read together, a producer agent whose loop fills their stages, and a consumer agent (replicas
    are its warpgroups, which share the rows of tiles) whose loop waits for a stage at the first
    operation that reads it and releases it behind the last one.  Operations of later stages run a
    round behind: prologue, steady state and epilogue are for one iteration or more, under an `if`.
    Tiles of loops around the scheduled one have rings as with `tileas-pipeline-loads`, and turns of
    replicas go on from one run of the loop to the next.

    A loop that cannot be split keeps today's path, with the reason at it.
    """

    name = "tileas-materialize-schedule"

    default: bool = False
    """Whether to schedule loops with two chained products that nothing has scheduled."""

    rotate: bool = True
    """Whether operations of later stages run a round behind; else all run in one round."""

    turns: bool = False
    """Whether loops scheduled by rule let warpgroups issue their products in turns, where another
    unit than the tensor core is the busiest."""

    ahead: bool = False
    """Whether loops scheduled by rule wait there for the next stage at the end of a round."""

    defer: bool = False
    """Whether a product that only accumulates runs on while the next one is issued."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op, None)
        for function in instances_in(op, func.FuncOp):
            if function.is_declaration or is_divided(function):
                continue
            _verify(function, target)
            if self.default:
                self._schedule(function, target)
            for loop in instances_in(function, scf.ForOp):
                self._materialize(function, loop, target)
            for one in operations_in(function):
                clear_placement(one)

    def _schedule(self, function: func.FuncOp, target: Target) -> None:
        """Write the default schedule on the loop of a kernel where it rotates something.

        Products of one iteration that need not wait for one another gain by it, too: each has
        stages and a wait of its own (gradients of attention: 402 TFLOP/s on an H200 without).
        """
        found = load_loop(function)
        if not isinstance(found, LoadLoop) or not found.is_by_tma or read_schedule(found.loop):
            return
        resources = resources_of(found, target)
        if not isinstance(resources, Resources) or not all_in_registers(found):
            return
        schedule = default_schedule(found, resources, target, turns=self.turns, ahead=self.ahead)
        if schedule.stages > 1 or self._defers(found, schedule) or multiplies_at_once(found.loop):
            write_schedule(found.loop, schedule)
            for one in found.following:
                options = {"turns": self.turns, "ahead": self.ahead}
                write_placements(default_schedule(one, resources, target, **options))

    def _defers(self, found: LoadLoop, schedule: Schedule) -> bool:
        """Whether products that only accumulate run on: to wait for each takes long where CTAs are
        alone, and have few of them in a round (512x512x4096 f16 on an H200: 13.5 us, 12.3).

        What is computed for a product is written over what the one before has read.
        """
        if self.defer:
            return True
        return runs_at_once(found) and schedule.stages == 1 and not found.computes_operands

    def _materialize(self, function: func.FuncOp, loop: scf.ForOp, target: Target) -> None:
        if is_divided(function) or (schedule := read_schedule(loop)) is None:
            return
        found = divided_loop(function, loop)
        if not isinstance(found, LoadLoop):
            _refuse(loop, found or "it loads nothing by TMA that it multiplies")
            return
        if not found.is_by_tma:
            _refuse(loop, "threads copy some of its tiles, as TMA cannot load them")
            return
        numbers = {load: k for k, load in enumerate(loads_of(loop))}
        stages = [schedule.plan.stages(numbers[load]) or 2 for load in found.tma_loads]
        rings = _rings(found, stages)
        if isinstance(rings, str):
            _refuse(loop, rings)
            return
        found, later = _filling(with_following(found), rings, stages)
        problem = _role_problem(found, schedule)
        if problem is not None:
            _refuse(loop, problem)
            return
        consumers = write_agents(
            found, schedule, [rings, *later], target, defers=self._defers(found, schedule)
        )
        if self.rotate:
            self._rotate(consumers, schedule)
        _verify_stages(function, rings)

    def _rotate(self, consumers: Sequence[scf.ForOp], schedule: Schedule) -> None:
        rotated = rotate(consumers)
        if isinstance(rotated, str):
            consumers[0].attributes[NOT_ROTATED] = StringAttr(rotated)
        elif rotated[0] is not consumers[0]:
            take_turns(rotated, schedule.plan.turns)
            if schedule.plan.ahead:
                for loop in rotated:
                    wait_ahead(loop)


def _verify(function: func.FuncOp, target: Target) -> None:
    """Check the schedules that loops have before, which a person may have written."""
    for loop in instances_in(function, scf.ForOp):
        schedule = read_schedule(loop)
        if schedule is None:
            verify_no_placements(loop)
        else:
            verify_runnable(loop, schedule, target)


def _verify_stages(function: func.FuncOp, rings: Sequence[StageRing]) -> None:
    """Check that the stages of each ring are as many as a consumer holds at once, or more."""
    held = held_stages(function)
    for ring, pipeline in zip(rings, instances_in(function, CreatePipelineOp), strict=False):
        if pipeline.stages < held.get(pipeline, 0):
            count = f"{pipeline.stages} stage{'s' * (pipeline.stages > 1)}"
            message = f"has {count}, but its readers hold {held[pipeline]} at once by the schedule"
            raise op_error(ring.loads[0], message)


def _role_problem(found: LoadLoop, schedule: Schedule) -> str | None:
    """Why no agents are written for the roles of a schedule."""
    roles = {role.name for role in schedule.plan.roles}
    if not roles >= {Role.PRODUCER, Role.CONSUMER}:
        return "it has not both the role of a producer and that of a consumer"
    if others := sorted(roles - {Role.PRODUCER, Role.CONSUMER}):
        return f"no agent is written for the role {others[0]}"
    placed = [schedule.placements.get(load) for load in found.tma_loads]
    if any(place is not None and place.role is not Role.PRODUCER for place in placed):
        return "a load by TMA is in the role consumer, and agents of producers issue all of them"
    return None


def _rings(found: LoadLoop, stages: Sequence[int]) -> Sequence[StageRing] | str:
    """The rings of a loop whose loads, in order, are to have so many stages."""
    loads = found.tma_loads
    return stage_rings(found.loop.body.block, loads, dict(zip(loads, stages, strict=True)))


def _filling(
    found: LoadLoop, rings: Sequence[StageRing], stages: Sequence[int]
) -> tuple[LoadLoop, Sequence[Sequence[StageRing]]]:
    """The loop with those that follow and read its rings in the same groups, and their rings."""
    kept: list[LoadLoop] = []
    later: list[Sequence[StageRing]] = []
    for one in found.following:
        others = _rings(one, stages)
        if not isinstance(others, str) and _groups(one, others) == _groups(found, rings):
            kept.append(one)
            later.append(others)
    return with_loops(found, kept), later


def _groups(found: LoadLoop, rings: Sequence[StageRing]) -> Sequence[Sequence[int]]:
    """By ring, the positions of its loads in the loop."""
    return [[found.loads.index(load) for load in ring.loads] for ring in rings]


def _refuse(loop: scf.ForOp, problem: str) -> None:
    loop.attributes[NOT_MATERIALIZED] = StringAttr(problem)
    clear_schedule(loop)
