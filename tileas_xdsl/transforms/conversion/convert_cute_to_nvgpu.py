"""The pass `convert-cute-to-nvgpu`: lower views, atoms and partitions of `cute` to instructions."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import dce

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.verification.required_dialects import require_dialects
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.transforms.cute_to_nvgpu.functions import convert_function
from tileas_xdsl.transforms.extension import apply_added


@dataclass(frozen=True)
class ConvertCuteToNvgpu(ModulePass):
    """Lower copies and MMAs by atoms, and the views they take, to single instructions.

    A view of memory becomes a pointer and the dynamic extents and strides of its type; registers
    of a thread become a fragment, which loops and branches of `scf` carry.  The type of an atom
    determines its instruction.  An operation without an instruction, or one that would need a
    dynamic index into registers, is an error.

    A conversion with a table of handlers, not a pattern set: the contents of registers are SSA
    values that are threaded through the function in program order, as in mem2reg.
    """

    name = "convert-cute-to-nvgpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_dialects(ctx, self.name, ("arith", "cute", "cute_nvgpu", "scf", "vector"))
        apply_added(ConvertCuteToNvgpu.name, op)
        functions = [f for f in instances_in(op, func.FuncOp) if not f.is_declaration]
        for function in functions:
            convert_function(function)
        dce(op)
