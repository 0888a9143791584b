"""The pass `tileas-end-products`: products end where their arrays do, in tiles that are wider.

    %v = make_memref %p sizes[%m, 80]
    %q = tiled_load %v[%i, 0] {padding 0} : 128x128
    %s = dot %q, %k, %c                ->    %s = dot %q, %k, %c {ends: 128 columns, a depth of 80}

Tiles are powers of two: attention with heads of 80 numbers has tiles of 128, and so would multiply
128.  Zeros behind the ends of both operands need no instruction, nor do columns that nothing reads.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.analysis.values.padded_products import ProductEnds, is_unseen, most_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.product_ends import set_ends
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of


@dataclass(frozen=True)
class TileasEndProducts(ModulePass):
    """Write down where products end whose tiles are wider than their arrays.

    Needs: tiles as a program loads and stores them.

    Leaves: `nv_tileas.ends` at products that have less columns, or a smaller depth, than their
    tiles; what makes instructions of them leaves out what is behind.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-end-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for product in instances_in(op, DotOp):
            _end(product)


def _end(op: DotOp) -> None:
    """Write down where a product ends, if that is within its tiles."""
    ends = ProductEnds.of(op)
    if ends.depth is None and ends.columns is None:
        return
    depth, columns = shape_of(op.b.type) or (0, 0)
    bounds = [most_of(one) for one in ends.depth or ()]
    known = [one for one in bounds if one is not None]
    end = min(depth, max(known)) if known and len(known) == len(bounds) else depth
    width = None if ends.columns is None else most_of(ends.columns)
    is_narrow = width is not None and width < columns and is_unseen(op.result, 1, width)
    own = width if is_narrow and width is not None else columns
    if (own, end) != (columns, depth):
        set_ends(op, (columns, own), (depth, end))
