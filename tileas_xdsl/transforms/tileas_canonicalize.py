"""The pass `tileas-canonicalize`: simplify slices, loops and branches to a fixpoint."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.transforms.canonicalization.nv_tileas import PATTERNS
from tileas_xdsl.transforms.extension import with_added


@dataclass(frozen=True)
class TileasCanonicalize(ModulePass):
    """Simplify slices, and decompose tiles that loops and branches carry.

    The patterns rooted at `extract_slice` are part of plain `canonicalize` too; those rooted at
    `scf.for` and `scf.if` are here only, since these operations are not of our dialect.
    """

    name = "tileas-canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, with_added(TileasCanonicalize.name, PATTERNS), dce=True)
