"""The pass `convert-cudatile-to-tileaa`: Tile IR becomes tensors, scalars and `nv_tileaa`."""

from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile.structure import module as cuda_tile
from tileas_xdsl.dialects.target_attribute import agreed_target
from tileas_xdsl.transforms.cudatile_to_tileaa.structure.kernels import (
    convert_global,
    convert_kernel,
)
from tileas_xdsl.transforms.cudatile_to_tileaa.structure.target import Capability
from tileas_xdsl.transforms.extension import apply_added


@dataclass(frozen=True)
class ConvertCudatileToTileaa(ModulePass):
    """Convert Tile IR kernels to functions on tensors, scalars and `nv_tileaa`.

    Tiles become tensors without a layout, those of rank 0 scalars; element-wise operations are
    `arith` and `math`.  Loops and branches with early exits become structured.  Hints are those
    for the target of the module; the option is deprecated.

    A conversion with a table of rules and one value mapping, not a pattern set: structuring early
    exits moves the operations behind a branch into its arms, so that the order of conversion
    matters.  An operation without an exact equivalent is an error and stops the pipeline.
    """

    name = "convert-cudatile-to-tileaa"

    compute_capability: str | int | None = None
    """Deprecated: a number like 90 or a name like sm_90a, where the module names no target."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the pass."""
        capability = self._capability(op)
        apply_added(ConvertCudatileToTileaa.name, op)
        for inner in list(op.body.block.ops):
            if isinstance(inner, cuda_tile.ModuleOp):
                _convert_module(inner, capability)

    def _capability(self, module: ModuleOp) -> Capability:
        """What the module is for, or the option says; raises `OpError` if that is nothing."""
        option = None
        if self.compute_capability is not None:
            option = Capability.of(str(self.compute_capability)) or _no_capability(module)
        named = agreed_target(module, None if option is None else option.name)
        return Capability.of(named) or _no_capability(module)


def _no_capability(module: ModuleOp) -> NoReturn:
    text = message("convert_cudatile_to_tileaa.compute_capability")
    raise op_error(module, text, prefix=False)


def _convert_module(module: cuda_tile.ModuleOp, capability: Capability) -> None:
    around = module.parent
    assert isinstance(around, Block)
    for op in _operations(module):
        around.insert_op_before(_converted(op, capability), module)
    module.detach()


def _converted(op: Operation, capability: Capability) -> Operation:
    """Return the replacement of a kernel or a global."""
    match op:
        case cuda_tile.EntryOp():
            return convert_kernel(op, capability)
        case cuda_tile.GlobalOp():
            return convert_global(op)
        case _:
            raise op_error(op, message("convert_cudatile_to_tileaa.failed"))


def _operations(module: cuda_tile.ModuleOp) -> list[Operation]:
    return [op for block in module.body.blocks for op in block.ops]
