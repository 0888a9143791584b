"""The pass `convert-cute-to-nvgpu`: views, atoms and partitions of `cute` become instructions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import dce

from tileas_xdsl.diagnostics.required_dialects import require_dialects
from tileas_xdsl.transforms.cute_to_nvgpu.functions import convert_function
from tileas_xdsl.transforms.extension import apply_added


@dataclass(frozen=True)
class ConvertCuteToNvgpu(ModulePass):
    """Lower copies and products by atoms, and the views that they take, to single instructions.

    A view of memory becomes a pointer and the numbers that its type leaves open; what one thread
    has in registers becomes a fragment, which loops and branches of `scf` carry.  Which instruction
    an atom is its type says.  What has none yet, or would need an index into registers, is an
    error at its operation.
    """

    name = "convert-cute-to-nvgpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_dialects(ctx, self.name, ("arith", "cute", "cute_nvgpu", "scf", "vector"))
        apply_added(ConvertCuteToNvgpu.name, op)
        functions = [f for f in op.walk() if isinstance(f, func.FuncOp) and not f.is_declaration]
        for function in functions:
            convert_function(function)
        dce(op)
