"""The pass `tl-lower`: lower laid-out `tl` kernels to thread-level IR.

Fragments become vectors of registers, a parallel loop is written out over the iterations of each
thread, and threads meet where one needs what another has put into memory.  What it does not lower
is an error at the operation, and the module stays as it was.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.dialects.tl.checks import kernel_of
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.smem.smem_layout import SharedMemoryError
from tileas_xdsl.transforms.extension import apply_added
from tileas_xdsl.transforms.lower_tl.kernel import lower_kernel
from tileas_xdsl.transforms.lower_tl.pipelining.fewer_stages import (
    report_given_up,
    stages_of,
    take_stages,
)


@dataclass(frozen=True)
class TlLower(ModulePass):
    """Lower laid-out `tl` kernels to thread-level IR.

    A conversion: handlers over the thread-code library that share the state of a kernel.
    """

    name = "tl-lower"

    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_added(TlLower.name, op)
        target = module_target(op, self.target)
        functions = [f for f in op.ops if isinstance(f, func.FuncOp)]
        programs = [(f, program) for f in functions if (program := kernel_of(f)) is not None]
        lowered = [_lowered(*program, target) for program in programs]
        for (function, _), made in zip(programs, lowered, strict=True):
            Rewriter.replace_op(function, made)


def _lowered(function: func.FuncOp, program: KernelOp, target: Target) -> func.FuncOp:
    """Lower a kernel; where a block has too little shared memory, fewer copies run ahead."""
    asked = stages_of(program)
    while True:
        try:
            made = lower_kernel(function, program, target)
        except SharedMemoryError as error:
            if not take_stages(program, error.excess):
                raise
        else:
            report_given_up(asked)
            return made
