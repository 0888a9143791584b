"""The pass `cute-to-llvm`: lower the target-independent part of `cute` to the `llvm` dialect.

Tuples, layouts, views, descriptors, pointers, loads and stores: every function of the module
becomes one of LLVM, and a value of `cute` a struct of what only run time knows of it.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import dce

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.transforms.cute_lowering.llvm_types import Memory
from tileas_xdsl.transforms.cute_lowering.standard_dialects import lowered_function
from tileas_xdsl.transforms.extension import apply_added


@dataclass(frozen=True)
class CuteToLlvm(ModulePass):
    """Lower functions of `cute` to LLVM.

    With `host` all memory is one address space, so that the code runs on the machine that compiles.

    A conversion with a table of handlers, not a pattern set: types change, a value becomes a struct
    of its dynamic leaves or nothing at all, and so do block arguments and signatures.
    """

    name = "cute-to-llvm"

    host: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        apply_added(CuteToLlvm.name, op)
        for function in instances_in(op, func.FuncOp):
            if function.body.blocks:
                made = lowered_function(function, Memory(self.host))
                Rewriter.replace_op(function, made, [])
        dce(op)
