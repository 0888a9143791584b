"""The pass `convert-tileaa-to-tileas`: to operations that layouts are assigned to."""

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpec, KernelSpecAttr
from tileas_xdsl.transforms.extension import with_added
from tileas_xdsl.transforms.tileaa_to_tileas.compute import COMPUTE
from tileas_xdsl.transforms.tileaa_to_tileas.elements import ELEMENTS
from tileas_xdsl.transforms.tileaa_to_tileas.legality import is_legal
from tileas_xdsl.transforms.tileaa_to_tileas.memory import MEMORY
from tileas_xdsl.transforms.tileaa_to_tileas.rules import ApplyRule
from tileas_xdsl.transforms.tileaa_to_tileas.shapes import SHAPES

PATTERNS: tuple[RewritePattern, ...] = (ApplyRule({**COMPUTE, **ELEMENTS, **MEMORY, **SHAPES}),)
"""The patterns of `convert-tileaa-to-tileas`: one, with a rule for each operation class."""


@dataclass(frozen=True)
class ConvertTileaaToTileas(ModulePass):
    """Convert operations of `nv_tileaa` on tiles to `nv_tileas`.

    Memory is accessed element by element until layouts are assigned, products are those of `mma`,
    and what moves elements becomes `generate`, unless `view`, `expand_dims` or a splat says it.
    Pointers, the arrays behind them, assumptions, joined tokens and prints stay as they are.
    Kernels without a specification get one; an operation without a rule stops the pipeline.
    """

    name = "convert-tileaa-to-tileas"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the pass."""
        for kernel in instances_in(op, func.FuncOp):
            if not kernel.is_declaration:
                kernel.attributes.setdefault(KERNEL_SPEC, KernelSpecAttr(KernelSpec()))
        apply_patterns(op, with_added(ConvertTileaaToTileas.name, PATTERNS))
        for left in operations_in(op):
            if not is_legal(left):
                text = message("convert_tileaa_to_tileas.failed")
                raise op_error(left, text)
