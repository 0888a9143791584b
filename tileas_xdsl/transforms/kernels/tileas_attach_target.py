"""The pass `tileas-attach-target`: the module says which GPU it is compiled for."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.target_attribute import module_target, set_target


@dataclass(frozen=True)
class TileasAttachTarget(ModulePass):
    """Set the attribute `nv_tileas.target` of the module, which all later passes read.

    Without the option, it is the target that the module or a kernel names in another way
    (`nv_tileaa.target_spec`, `nv_tileaa.compute_capability`, `cute.target`), else sm_90a.

    Idempotent.  A module that names another target is an error and stays as it was.
    """

    name = "tileas-attach-target"

    target: str | None = None
    """The name of the GPU, for example sm_100a."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        set_target(op, module_target(op, self.target).name)
