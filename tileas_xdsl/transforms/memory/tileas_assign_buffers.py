"""The pass `tileas-assign-buffers`: memory and barriers of scheduled loops."""

from __future__ import annotations

from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.scheduling.loops.schedule_verification import verify_runnable
from tileas_xdsl.scheduling.resources.buffer_assignment import ScheduledLoop, assign_buffers
from tileas_xdsl.scheduling.resources.capacity import capacity_of
from tileas_xdsl.scheduling.schedule import SCHEDULE
from tileas_xdsl.scheduling.schedule_attributes import read_schedule
from tileas_xdsl.target.arch import Target


@dataclass(frozen=True)
class TileasAssignBuffers(ModulePass):
    """Assign stages, shared memory and named barriers to the loops that are scheduled.

    Analysis, then attributes: the stages of a buffer are those that its lifetime in the schedule
    needs, and `spare` more where there is room; buffers of one type whose lifetimes do not meet
    share bytes; each replica of a consumer gets a named barrier for its turn on the tensor core.
    Written as `offset` and `turns` of `tileas.schedule`.  Loops of a kernel run one after another,
    and use the same memory and barriers.

    Diagnostics: `fails to resolve lifetime`, `fails to assign named barrier`, `fails to assign smem
    buffer`, `fails to assign tmem buffer`, and the remark `share pipeline buffer`.
    """

    name = "tileas-assign-buffers"

    spare: int = 0
    """Stages that each buffer gets beside those that it needs, as far as shared memory suffices."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        for function in instances_in(op, func.FuncOp):
            if not function.is_declaration:
                self._assign(function, target)

    def _assign(self, function: func.FuncOp, target: Target) -> None:
        loops: list[ScheduledLoop] = []
        for loop in instances_in(function, scf.ForOp):
            schedule = read_schedule(loop)
            if schedule is not None:
                loops.append(ScheduledLoop.of(loop, schedule, target))
        for one in loops:
            capacity = capacity_of(function, one.loop, target)
            plans = assign_buffers([one], target, capacity.shared_bytes, self.spare)
            verify_runnable(one.loop, replace(one.schedule, plan=plans[one.loop]), target)
            one.loop.attributes[SCHEDULE] = plans[one.loop].attribute
