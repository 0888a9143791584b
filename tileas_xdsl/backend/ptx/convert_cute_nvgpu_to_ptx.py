"""The pass `convert-cute-nvgpu-to-ptx`: kernels of one thread block as entries of PTX."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tileas_xdsl.backend.ptx.lowering.control.kernel import (
    LoweredKernel,
    is_kernel,
    lower_kernel,
    shared_memory,
)
from tileas_xdsl.backend.ptx.lowering.index_width import set_index_width
from tileas_xdsl.backend.ptx.lowering.memory.globals import lower_global
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import BrokenPassError, op_error
from tileas_xdsl.diagnostics.verification.dominance import dominance_errors
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GlobalOp
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target


@dataclass(frozen=True)
class ConvertCuteNvgpuToPtx(ModulePass):
    """Lower every kernel of the module; functions that are no kernels are refused.

    What a loop does not change should have been moved out of it, and what is computed twice merged
    (`hoist-loop-invariants`, `tileas-cse`): this pass emits operations where they stand.
    """

    name = "convert-cute-nvgpu-to-ptx"

    arch: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op, self.arch)
        kernels = [kernel for kernel in op.ops if not isinstance(kernel, GlobalOp)]
        globals_ = [lower_global(inner) for inner in op.ops if isinstance(inner, GlobalOp)]
        lowered = [_lowered(kernel, target) for kernel in kernels]
        shared = [shared_memory()] if any(kernel.uses_shared for kernel in lowered) else []
        declared: dict[str, Operation] = {}
        for kernel in lowered:
            declared.update(kernel.declared)
        block = op.body.block
        for kernel in tuple(block.ops):
            kernel.detach()  # Nothing else refers to it: to take it apart is a walk more.
        entries = [kernel.entry for kernel in lowered]
        block.add_ops([*shared, *globals_, *declared.values(), *entries])
        # PTX is printed without another look: a register that is not written on some path would be
        # a wrong result on a GPU.
        if errors := dominance_errors(op):
            raise BrokenPassError(*errors)


def _lowered(kernel: Operation, target: Target) -> LoweredKernel:
    if not isinstance(kernel, func.FuncOp) or not is_kernel(kernel):
        raise op_error(kernel, "is no kernel: functions marked cute.kernel become entries")
    set_index_width(kernel)
    return lower_kernel(kernel, target)
