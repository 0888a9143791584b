"""The sparse A of matrix instructions as the matrix that it stands for.

Sources: PTX ISA 9.7.14.6 (`mma.sp`), 9.7.15.6 (`wgmma.mma_async.sp`), 9.7.16.10.8
(`tcgen05.mma.sp`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import Cta
from tileas_xdsl.interpreters.ptx.matrix.tmem_access import split
from tileas_xdsl.interpreters.ptx.memory.shared_memory import TENSOR_COLUMNS, TENSOR_LANES
from tileas_xdsl.target.mma.sparse_metadata import (
    IN_ORDER,
    OF_TENSOR_MEMORY,
    TWO_OF_FOUR,
    kept_columns,
    legal_codes,
    metadata_layout,
    tensor_metadata_layout,
)

HALF = 16
"""Lanes of each 32 that D of 64 rows fills, if it fills half of the lanes."""


def columns_of(words: Array, bits: int, k: int, selector: int, *, ordered: bool = False) -> Array:
    """Return the column of each element that A keeps (16, K / 2), from the words of a warp (32,).

    A code that names an element twice is a fault, as is a descending one where they are `ordered`.
    """
    codes = metadata_layout(bits, k).codes(words, selector)
    return _checked_columns(codes, bits, IN_ORDER if ordered else TWO_OF_FOUR)


def spread_along_k(kept: Array, columns: Array) -> Array:
    """Return A (rows, K): what it keeps (rows, K / 2) in its columns, and zeros."""
    found = np.zeros((len(kept), 2 * kept.shape[1]), kept.dtype)
    np.put_along_axis(found, columns, kept, 1)
    return found


@dataclass(frozen=True)
class TensorMetadata:
    """The metadata of a sparse A (rows, K) of `tcgen05.mma.sp`, from an address of tensor memory.

    Every `128 // rows` parts of the lanes hold them, as many as D has ranges of columns there; with
    `half_lanes`, D of 64 rows has one range in 16 of each 32 lanes, and so do they.
    """

    address: int
    bits: int
    k: int
    rows: int
    selector: int
    half_lanes: bool

    @cached_property
    def cells(self) -> Array:
        """The tensor-memory cells, an array (part of the lanes, row, chunk)."""
        layout = tensor_metadata_layout(self.bits, self.k, self.rows)
        lane, column = split(self.address)
        if lane not in ((0, HALF) if self.half_lanes else (0,)):
            raise Fault("tensor-memory", f"the metadata of A begin at lane {lane}")
        if self.selector >= layout.selectors:
            raise Fault(
                "unsupported",
                f"the sparsity selector of {self.bits}-bit elements is below {layout.selectors}, "
                f"not {self.selector}",
            )
        if column % layout.selectors:
            raise Fault(
                "unsupported",
                f"the metadata of A begin at column {column}, not at a pair of columns",
            )
        lanes, parts = layout.lanes, TENSOR_LANES // self.rows
        if self.half_lanes:
            lanes, parts = lanes // HALF * 2 * HALF + lanes % HALF, 1
        lanes = lanes + lane + self.rows * np.arange(parts)[:, None, None]
        return lanes * TENSOR_COLUMNS + column + self.selector + layout.columns

    def columns(self, cta: Cta) -> Array:
        """Return the column of each element that A keeps (rows, K / 2)."""
        words = cta.tensor.cells.reshape(-1)[self.cells].astype(np.int64)
        codes = words >> tensor_metadata_layout(self.bits, self.k, self.rows).shifts & 0xF
        if (codes != codes[0]).any():
            raise Fault(
                "tensor-memory",
                f"the metadata of A differ between the {len(codes)} parts of the lanes, all of "
                "which hold them",
            )
        return _checked_columns(codes[0], self.bits, OF_TENSOR_MEMORY)


def _checked_columns(codes: Array, bits: int, legal: frozenset[int]) -> Array:
    """Return the columns that codes (rows, chunks) keep; a fault for a code that is not legal."""
    wrong = ~np.isin(codes, list(legal_codes(bits, legal)))
    if wrong.any():
        row, chunk = (int(index[0]) for index in np.nonzero(wrong))
        choice = "one of two" if bits == 32 else "two of four"
        what = "pairs of elements" if bits == 4 else "elements"
        order = " in order" * (bits != 32 and legal != TWO_OF_FOUR)
        raise Fault(
            "invalid",
            f"the metadata of row {row} say {int(codes[row, chunk]):#06b} for chunk {chunk}, which "
            f"is not {choice} {what}{order}",
        )
    return kept_columns(codes, bits)
