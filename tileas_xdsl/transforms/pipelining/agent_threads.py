"""How many threads run an operation: those of its agent, or all of the block."""

from __future__ import annotations

from dataclasses import field

from xdsl.dialects import func
from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan


@dataclass
class AgentThreads:
    """The thread counts of the agents of a module's kernels, each kernel analysed once."""

    target: Target
    _plans: dict[func.FuncOp, KernelPlan] = field(default_factory=dict[func.FuncOp, KernelPlan])

    def around(self, op: Operation) -> int:
        """Return the number of threads that run `op`."""
        kernel = _function_around(op)
        if kernel not in self._plans:
            self._plans[kernel] = KernelPlan.of(kernel, self.target)
        return self._plans[kernel].agent_around(op).warps * WARP


def _function_around(op: Operation) -> func.FuncOp:
    function = enclosing(op, func.FuncOp)
    assert function is not None
    return function
