"""The pass `cute-kernel-to-nvvm`: mark kernels and their grid constants for NVVM."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.verification.required_dialects import require_dialects
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.tma.index import GRID_CONSTANT
from tileas_xdsl.transforms.extension import apply_added, sweep

KERNEL, NVVM_KERNEL = "cute.kernel", "nvvm.kernel"

ALIGNMENT = 16

TRIPLE: dict[str, Attribute] = {
    "llvm.align": IntegerAttr(ALIGNMENT, i64),
    "llvm.byval": UnitAttr(),
    "nvvm.grid_constant": UnitAttr(),
}
"""What a grid constant is for LLVM: aligned, passed by value, in the space of constants."""

PASSED = (llvm.LLVMArrayType, llvm.LLVMPointerType, llvm.LLVMStructType)
"""Types that `llvm.byval` means something for."""

Function = func.FuncOp | llvm.FuncOp


@dataclass(frozen=True)
class CuteKernelToNvvm(ModulePass):
    """Mark kernels and grid constants with the attributes of NVVM.

    `cute.kernel` becomes `nvvm.kernel`, and an argument with `cute_nvgpu.grid_constant` gets the
    three attributes that LLVM reads.

    Runs behind two passes: layout conversions are made explicit, for the alignment of a descriptor
    depends on its layout, and the arguments have types of LLVM.  What shows that one of them did
    not run is an error at the operation; nothing is changed then.
    """

    name = "cute-kernel-to-nvvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_dialects(ctx, self.name, ("llvm",))
        apply_added(CuteKernelToNvvm.name, op)
        for function in op.walk():
            if isinstance(function, func.FuncOp | llvm.FuncOp) and KERNEL in function.attributes:
                _check_order(function)
        sweep(op, PATTERNS)


class MarkKernel(RewritePattern):
    """Mark a kernel and its grid constants by the attributes of NVVM."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp | llvm.FuncOp, rewriter: PatternRewriter) -> None:
        if KERNEL not in op.attributes:
            return
        op.attributes[NVVM_KERNEL] = op.attributes.pop(KERNEL)
        if op.arg_attrs is not None:
            op.arg_attrs = ArrayAttr([_marked(entry) for entry in op.arg_attrs])
        rewriter.notify_op_modified(op)


PATTERNS: tuple[RewritePattern, ...] = (MarkKernel(),)
"""The patterns of `cute-kernel-to-nvvm`."""


def _check_order(kernel: Function) -> None:
    for inner in kernel.walk():
        if isinstance(inner, ConvertLayoutOp):
            raise op_error(
                inner,
                "is left: cute-kernel-to-nvvm runs after tileas-materialize-convert-layout, for "
                "descriptors are aligned by their layouts",
            )
    for index, (type_, entry) in enumerate(zip(_inputs(kernel), _entries(kernel), strict=False)):
        if GRID_CONSTANT in entry.data and not isinstance(type_, PASSED):
            raise op_error(
                kernel,
                f"has the grid constant #{index} of {type_}: cute-kernel-to-nvvm runs after the "
                "pass that gives arguments types of llvm",
            )


def _inputs(kernel: Function) -> Sequence[Attribute]:
    return tuple(kernel.function_type.inputs)


def _entries(kernel: Function) -> Sequence[DictionaryAttr]:
    return () if kernel.arg_attrs is None else tuple(kernel.arg_attrs)


def _marked(entry: DictionaryAttr) -> DictionaryAttr:
    """The attributes of an argument; those of a grid constant with the triple instead."""
    if GRID_CONSTANT not in entry.data:
        return entry
    rest = {name: value for name, value in entry.data.items() if name != GRID_CONSTANT}
    return DictionaryAttr({**rest, **TRIPLE})
