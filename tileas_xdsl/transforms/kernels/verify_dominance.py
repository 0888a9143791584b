"""The pass `verify-dominance`: check that definitions dominate uses."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.verification.dominance import dominance_errors


@dataclass(frozen=True)
class VerifyDominance(ModulePass):
    """Check that every use is dominated by its definition, and change nothing.

    `tileas-opt` checks it after every pass anyway; plain `xdsl-opt` has no such check.
    """

    name = "verify-dominance"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if errors := dominance_errors(op):
            raise OpError(*errors)
