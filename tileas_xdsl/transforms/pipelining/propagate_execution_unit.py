"""The pass `propagate-execution-unit`: kernels have as many warps as their agents need.

    func.func @k() attributes {kernel_spec = <num_warps = 5>} {
      agent_switch {num_warps = [4, 1], warp_id = [0, 4]}

    func.func @k() attributes {kernel_spec = <num_warps = 8>} {   // three warps stay idle

A block is launched with whole warpgroups, so that `setmaxnreg` finds those that it waits for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileas.pipelines.agent_checks import int_values
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.units import WARPGROUP_WARPS


@dataclass(frozen=True)
class PropagateExecutionUnit(ModulePass):
    """Propagate the numWarps for each agent to the kernel that is launched.

    A function that agents of different numbers of warps call has none, which is an error.
    """

    name = "propagate-execution-unit"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _check_calls(op)
        for kernel in instances_in(op, func.FuncOp):
            spec, needed = kernel.attributes.get(KERNEL_SPEC), max(_needed(kernel), default=0)
            if isinstance(spec, KernelSpecAttr) and needed > spec.data.num_warps:
                spec = replace(spec.data, num_warps=needed)
                kernel.attributes[KERNEL_SPEC] = KernelSpecAttr(spec)


def _needed(kernel: func.FuncOp) -> Iterator[int]:
    """The warps of each switch, up to the last one of its agents, in whole warpgroups."""
    for op in instances_in(kernel, AgentSwitchOp):
        starts, warps = int_values(op, "warp_id"), int_values(op, "num_warps")
        if starts and warps:
            ends = [start + count for start, count in zip(starts, warps, strict=True)]
            yield align_up(max(ends), WARPGROUP_WARPS)


def _check_calls(module: ModuleOp) -> None:
    """A function is called by agents of one number of warps."""
    known: dict[str, int | None] = {}
    for op in instances_in(module, func.CallOp):
        callee, warps = op.callee.string_value(), _warps_of(op)
        if known.setdefault(callee, warps) != warps:
            raise op_error(op, message("execution_units.inconsistent_num_warps_agent"))


def _warps_of(op: Operation) -> int | None:
    """The warps of the innermost agent around an operation; None outside of all."""
    inner = op
    for outer in enclosing_ops(op):
        if isinstance(outer, AgentSwitchOp) and (counts := outer.agent_warps):
            return counts[outer.agent_bodies.index(inner.parent_region())]
        inner = outer
    return None
