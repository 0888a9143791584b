"""The sparse A of `mma.sp` and `wgmma.mma_async.sp` as the matrix that it stands for."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.target.mma.sparse_metadata import kept_columns, metadata_layout


def columns_of(words: Array, bits: int, k: int, selector: int, *, ordered: bool = False) -> Array:
    """Return the column of each element that A keeps (16, K / 2), from the words of a warp (32,).

    A code that names an element twice is a fault, as is a descending one where they are `ordered`.
    """
    codes = metadata_layout(bits, k).codes(words, selector)
    found = kept_columns(codes, bits)
    wrong = found < 0
    if ordered:
        wrong[:, 1::2] |= found[:, 1::2] < found[:, ::2]
    if wrong.any():
        row, kept = (int(index[0]) for index in np.nonzero(wrong))
        chunk = kept if bits == 32 else kept // 2
        choice = ("one of two" if bits == 32 else "two of four") + " elements"
        raise Fault(
            "invalid",
            f"the metadata of row {row} say {int(codes[row, chunk]):#06b} for chunk {chunk}, which "
            f"is not {choice}{' in order' * ordered}",
        )
    return found


def spread_along_k(kept: Array, columns: Array) -> Array:
    """Return A (rows, K): what it keeps (rows, K / 2) in its columns, and zeros."""
    found = np.zeros((len(kept), 2 * kept.shape[1]), kept.dtype)
    np.put_along_axis(found, columns, kept, 1)
    return found
