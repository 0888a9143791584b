"""The pass `convert-tileas-to-cute-nvgpu`: lower tiles and agents to thread-level IR.

Agents become ranges of warps with budgets of registers, pipelines arrays of mbarriers, TMA elected
bulk copies, products groups of wgmma, tiles registers or swizzled shared memory.  What it does not
lower is an error at the operation, and the module stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import defined_functions
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.pipelines.turns import TurnOp
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.codegen.barriers import BarrierInTurnError
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.smem.smem_layout import SharedMemoryError
from tileas_xdsl.transforms.extension import apply_added
from tileas_xdsl.transforms.lower_tiles.kernel import lower_kernel
from tileas_xdsl.transforms.pipeline_loads.fewer_stages import OVERLAPPING_STAGES, take_stages

NO_TURNS = "nv_tileas.no_turns"
"""On a kernel whose scheduled turns are left out: why."""

EXCHANGE_LIMITS = (32 * 1024, 8 * 1024)
"""Bytes of a layout conversion at once, where a block has not enough for whole tiles."""

LEAST_EXCHANGE = 1024
"""The same, where all stages but one are given up too: tiles are aligned to as many."""


@dataclass(frozen=True)
class ConvertTileasToCuteNvgpu(ModulePass):
    """Lower kernels on tiles to thread-level IR.

    A conversion with a table of handlers over the thread-code library, which share the plan of the
    kernel: warps, mbarriers, shared memory.
    """

    name = "convert-tileas-to-cute-nvgpu"

    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""
    standalone: bool = False
    """The kernel takes the parameters of the program alone, and builds its tensor maps itself."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_added(ConvertTileasToCuteNvgpu.name, op)
        target = module_target(op, self.target)
        kernels = defined_functions(op)
        lowered = [_lowered(kernel, target, self.standalone) for kernel in kernels]
        for kernel, made in zip(kernels, lowered, strict=True):
            op.body.block.insert_ops_before(made, kernel)
            kernel.detach()


def _lowered(kernel: func.FuncOp, target: Target, is_standalone: bool) -> Sequence[Operation]:
    """Lower a kernel to the globals that it needs, and its function.

    Where a block has too little shared memory, give up what costs least.
    First nothing is kept that may be reused; then stages go as long as loads overlap; then tiles
    are converted in pieces, with a barrier more for each; then all stages but one; then pieces get
    as small as can be.  Warpgroups take no turns where they exchange tiles between their products.
    """
    is_thrifty, limit, smaller = False, None, list(EXCHANGE_LIMITS)
    reasons: dict[str, Attribute] = {}
    while True:
        plan = KernelPlan.of(
            *(kernel, target),
            is_standalone=is_standalone,
            is_thrifty=is_thrifty,
            exchange_limit=limit,
        )
        try:
            made = lower_kernel(plan)
            made.attributes |= reasons
            return *plan.globals, made
        except BarrierInTurnError:
            _drop_turns(kernel)
            reasons[NO_TURNS] = StringAttr("its warpgroups meet between the products of a round")
        except SharedMemoryError as error:
            if not is_thrifty:
                is_thrifty = True
            elif not take_stages(kernel, error.excess, OVERLAPPING_STAGES):
                if smaller:
                    limit = smaller.pop(0)
                elif not take_stages(kernel, error.excess):
                    if limit == LEAST_EXCHANGE:
                        raise
                    limit = LEAST_EXCHANGE


def _drop_turns(kernel: func.FuncOp) -> None:
    """Let warpgroups issue their products as they come."""
    for op in instances_in(kernel, TurnOp):
        Rewriter.erase_op(op)
