"""The pass `optimize-execution-unit-mapping`: give each agent its warps, in whole warpgroups.

    agent_switch {num_warps = [1, 4, 4]}        // one warp loads, two warpgroups multiply

    agent_switch {num_warps = [1, 4, 4], warp_id = [0, 4, 8]}      // of 12: warps 1 to 3 stay idle

`wgmma`, `tcgen05.ld`, `tcgen05.st` and `setmaxnreg` act on four warps whose first number is a
multiple of four (PTX ISA 9.7.15, 9.7.16 and 9.7.19.5), so that agents of whole warpgroups begin
there.  Warps in between are no agent's: the published pass writes a record for each such hole,
here `warp_id` says it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.pipelines.agent_checks import int_values
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.units import WARPGROUP_WARPS
from tileas_xdsl.transforms.pipelining.propagate_execution_unit import PropagateExecutionUnit


def aligned_starts(warps: Sequence[int]) -> Sequence[int]:
    """The first warp of each agent, in order.

    aligned_starts([1, 4, 4]) == [0, 4, 8]
    aligned_starts([4, 1, 1]) == [0, 4, 5]
    """
    starts: list[int] = []
    free = 0
    for count in warps:
        starts.append(align_up(free, 1 if count % WARPGROUP_WARPS else WARPGROUP_WARPS))
        free = starts[-1] + count
    return starts


@dataclass(frozen=True)
class OptimizeExecutionUnitMapping(ModulePass):
    """Optimize the numWarps and warpId alignment for each agent.

    Agents keep their order and their number of warps, and a mapping that is there stays.  Kernels
    get the warps that this needs (`propagate-execution-unit`).
    """

    name = "optimize-execution-unit-mapping"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for switch in instances_in(op, AgentSwitchOp):
            if switch.warp_id is not None:
                continue
            if warps := int_values(switch, "num_warps"):
                switch.warp_id = DenseArrayBase.from_list(i32, aligned_starts(warps))
        PropagateExecutionUnit().apply(ctx, op)
