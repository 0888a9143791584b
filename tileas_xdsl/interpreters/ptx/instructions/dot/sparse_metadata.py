"""The operands of `mma.sp` and `wgmma.mma_async.sp` that say which elements a sparse A keeps."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, spread
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Site
from tileas_xdsl.interpreters.ptx.matrix.sparse_operands import columns_of
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.mma.sparse_metadata import metadata_layout


@dataclass(frozen=True, slots=True)
class SparseMetadata:
    """A register of metadata, and which lanes of each four have them."""

    slot: int
    selector: int
    bits: int
    """Of an element of A."""
    k: int
    ordered: bool

    def columns(self, f: ConvergenceGroup, warp: int) -> Array:
        """Return the columns of what A keeps (16, K / 2) by the metadata of one warp."""
        words = spread(f.r[self.slot], f.warpgroup.lanes, np.dtype(np.uint32))
        mine = words[WARP * warp : WARP * warp + WARP]
        return columns_of(mine, self.bits, self.k, self.selector, ordered=self.ordered)


def build_metadata(
    site: Site, operand: int, bits: int, k: int, *, ordered: bool = False
) -> SparseMetadata:
    """Return the metadata that are an operand, and the selector that is the next one."""
    selector = site.immediate(operand + 1)
    count = metadata_layout(bits, k).selectors
    if not 0 <= selector < count:
        site.fail(f"the selector of metadata is 0 to {count - 1}, not {selector}")
    (slot,) = site.fragment(operand, (1,), TYPES["b32"])
    return SparseMetadata(slot, selector, bits, k, ordered)
