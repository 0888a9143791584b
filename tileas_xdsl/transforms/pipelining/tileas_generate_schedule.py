"""The pass `tileas-generate-schedule`: modulo schedules of loops over tiles, as attributes."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.scheduling.loops.loop_plan import schedule_of
from tileas_xdsl.scheduling.loops.loop_scheduler import SchedulerOptions
from tileas_xdsl.scheduling.loops.module_loops import checked_schedule
from tileas_xdsl.scheduling.resources.machine_model import ModelName
from tileas_xdsl.scheduling.schedule_attributes import write_schedule
from tileas_xdsl.scheduling.solvers.cp_sat import MissingSolverError
from tileas_xdsl.scheduling.solvers.search import SolverName
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.errors import TargetError

NOT_SCHEDULED = "nv_tileas.not_scheduled"
"""On a loop that has no schedule: why."""

SERIAL = "serial"


@dataclass(frozen=True)
class TileasGenerateSchedule(ModulePass):
    """Compute a modulo schedule of each innermost loop that loads or multiplies tiles.

    Analysis alone: the dependence graph of a loop's macro operations, what they hold of the units
    of a multiprocessor, and the schedule of the least initiation interval.  It is written as
    `tileas.schedule` on the loop and on its operations; what they say before is kept, and only the
    rest is computed.  A loop that is not scheduled says why.

    Diagnostics: `failed to get compute capability`, `modulo scheduler returned no feasible II`,
    `failed to find a schedule`, `failed to legalize schedule`.
    """

    name = "tileas-generate-schedule"

    scheduler: str = "cost-based"
    """`serial`: one operation after another; anything else searches the least interval."""
    max_constraint_iterations: int = 10
    """How often buffers and registers that do not fit may be bounded."""
    rrt_size_threshold: int = 4096
    """Time slots of an interval above which time is counted in coarser steps; 0: never."""
    enable_random_delay: bool = False
    """Add pseudo-random latencies, to stress what reads schedules."""
    solver: str = "own"
    """`own`, `list` or `cp-sat` (OR-Tools, the extra `schedule`)."""
    model: str = "measured"
    """`measured` cycles of the target, or the published `slots`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        options = self._options(op)
        target = _target(op)
        for function in instances_in(op, func.FuncOp):
            if not function.is_declaration:
                _schedule_loops(function, target, options)

    def _options(self, module: ModuleOp) -> SchedulerOptions:
        if self.solver not in (known := [one.value for one in SolverName]):
            raise op_error(module, f"solver '{self.solver}' is none of {', '.join(known)}")
        if self.model not in (known := [one.value for one in ModelName]):
            raise op_error(module, f"model '{self.model}' is none of {', '.join(known)}")
        return SchedulerOptions(
            ModelName(self.model),
            SolverName(self.solver),
            self.scheduler == SERIAL,
            self.max_constraint_iterations,
            self.rrt_size_threshold,
            self.enable_random_delay,
        )


def _target(module: ModuleOp) -> Target:
    try:
        return module_target(module)
    except TargetError as error:
        why = note(module, str(error))
        raise op_error(module, message("schedule.failed_get_compute_capability"), [why]) from error


def _schedule_loops(function: func.FuncOp, target: Target, options: SchedulerOptions) -> None:
    for loop in instances_in(function, scf.ForOp):
        try:
            found = checked_schedule(function, loop, target, options)
        except (MissingSolverError, ValueError) as error:
            why = note(loop, str(error))
            raise op_error(loop, message("schedule.failed_find"), [why]) from error
        if isinstance(found, str):
            loop.attributes[NOT_SCHEDULED] = StringAttr(found)
        else:
            write_schedule(loop, schedule_of(found))
            loop.attributes.pop(NOT_SCHEDULED, None)
