"""The pass `convert-tl-to-tileaa`: tile programs over buffers as programs over tile values."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.target_attribute import COMPUTE_CAPABILITY, TARGET_SPEC, module_target
from tileas_xdsl.dialects.tl.checks import kernel_of
from tileas_xdsl.target.tiers import tier
from tileas_xdsl.transforms.extension import apply_added
from tileas_xdsl.transforms.tl_to_tiles.kernels import raised
from tileas_xdsl.transforms.tl_to_tiles.raising import NotTilesError


@dataclass(frozen=True)
class ConvertTlToTileaa(ModulePass):
    """Convert `tl` kernels to `nv_tileaa`: buffers become values, parallel loops tile operations.

    Needs: kernels whose operations write and read buffers as a whole.  Extents that are no powers
    of two are cut into some that are (`tl_parts`).  Leaves: the same arguments, whose arrays are
    promised to begin at multiples of 16 bytes.  From there on pipelines, agents, TMA and layouts
    are those of any kernel on tiles.  What is not about whole tiles is an error at the operation;
    `tl-lower` takes such kernels.

    A conversion: one handler for each operation, over the tile that each buffer has now.
    """

    name = "convert-tl-to-tileaa"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_added(ConvertTlToTileaa.name, op)
        target = module_target(op)
        for function in [f for f in op.ops if isinstance(f, func.FuncOp)]:
            if (found := kernel_of(function)) is None:
                continue
            try:
                made = raised(function, found)
            except NotTilesError as error:
                raise op_error(error.op, error.reason) from error
            made.attributes[COMPUTE_CAPABILITY] = IntegerAttr(tier(target.name).number, i32)
            made.attributes[TARGET_SPEC] = StringAttr(target.name)
            Rewriter.replace_op(function, made)
