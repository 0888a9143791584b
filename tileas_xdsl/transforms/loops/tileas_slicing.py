"""The pass `tileas-slicing`: split loops into slices of their range."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.transforms.slicing.plan import plan_slices
from tileas_xdsl.transforms.slicing.rewrite import cut


@dataclass(frozen=True)
class TileasSlicing(ModulePass):
    """Split each loop with a `sliceCount` into that many loops over parts of its range.

    Needs loops (`scf.for`, or `scf.while` that counts) whose copies have concrete atoms, with
    pipelines or without.  Leaves loops over equal shares of the iterations, and one more for what
    the division leaves.  Each starts from what the one before it carried, so that everything
    happens in the same order.  `sliceCount` is gone, so that a second run does nothing; the result
    depends on the module alone.

    With `independent`, a loop that carries nothing but reductions has slices that need nothing of
    one another: each but the first starts from the identity, and the results are combined behind
    them, so that sums of floats are rounded otherwise.  What a loop carries else is refused.

    Analysis, then rewrite: the plans of all loops are made and checked first; a diagnostic stops
    the pipeline, and the module is as it was.
    """

    name = "tileas-slicing"

    independent: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cut(plan_slices(op, independent=self.independent))
