"""Where the metadata of a sparse A are: which of four elements (of two, of 32 bits) it keeps.

A chunk of A, four elements of K, two of 32 bits or four pairs of 4 bits, has a code of four bits.
`mma.sp` and `wgmma.mma_async.sp` have the codes of 16 rows in registers of the lanes of one warp:
of all of them, or of the lanes that a selector names.

    16 and 32 bits: a lane has four chunks of each of two rows     8 and 4 bits: eight of one row
    lane 4 r + c // 4, bits 16 (row // 8) + 4 (c % 4)              lane 4 r + row // 8 + c // 8 * 2

`tcgen05.mma.sp` has them in cells of tensor memory, whose lanes are those of the rows of D:

    16 and 32 bits: in lane r + 8 (c // 4) of each 16 lanes        8 and 4 bits: in the lane of
    as above, in the column that a selector names                  the row, column c // 8

Source: PTX ISA 9.7.14.6.2, 9.7.15.6.2 and 9.7.16.10.8; what an H200 computes (registers); CUTLASS
gemm/collective/builders/sm1xx_sparse_config.inl, atom/mma_traits_sm100_frag.hpp, `tmem_e_frg` and
`tmem_e_frg_ws` (tensor memory, which the PTX ISA has in figures only),
atom/mma_traits_sm120_sparse.hpp (registers of 4 bits).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass

Array = NDArray[Any]

ROWS = 16
"""Rows of A whose metadata one warp has."""

HALVES = {0b0100: 0, 0b1110: 1}
"""The element that a chunk of 32-bit elements keeps, by code: its two halves of 16 bits."""

TWO_OF_FOUR = frozenset(code for code in range(16) if code & 3 != code >> 2)
"""Codes of two elements of four: the first in the lower two bits."""

IN_ORDER = frozenset(code for code in range(16) if code & 3 < code >> 2)
"""Codes of two elements of four, the lower first (`.sp::ordered_metadata`)."""

OF_TENSOR_MEMORY = IN_ORDER | {0b0110}
"""The codes that PTX ISA 9.7.16.10.8.2 lists for `tcgen05.mma.sp`."""


def legal_codes(element_bits: int, codes: frozenset[int]) -> frozenset[int]:
    """Return the codes of elements of so many bits; those of 32 bits are always `HALVES`."""
    return frozenset(HALVES) if element_bits == 32 else codes


@dataclass(frozen=True)
class MetadataLayout:
    """The lane and the first bit of each code (rows, chunks), for selector 0."""

    lanes: Array
    shifts: Array
    lanes_of_group: int
    """Of each four lanes, how many have metadata."""

    @property
    def selectors(self) -> int:
        """How many sets of lanes there are to select from."""
        return 4 // self.lanes_of_group

    def codes(self, words: Array, selector: int) -> Array:
        """Return the codes (rows, chunks) in the words of a warp (32,)."""
        chosen = words[self.lanes + self.lanes_of_group * selector].astype(np.int64)
        return chosen >> self.shifts & 0xF


def elements_of_chunk(element_bits: int) -> int:
    """Return how many elements of K have one code; half of them are kept."""
    return {32: 2, 4: 8}.get(element_bits, 4)


@lru_cache(maxsize=64)
def metadata_layout(element_bits: int, k: int) -> MetadataLayout:
    """Return where the codes of 16 rows of `k` elements are."""
    chunks = k // elements_of_chunk(element_bits)
    row, chunk = np.indices((ROWS, chunks))
    if element_bits <= 8:
        lane, nibble = row // 8 + 2 * (chunk // 8), chunk % 8
    else:
        lane, nibble = chunk // 4, 4 * (row // 8) + chunk % 4
    return MetadataLayout(4 * (row % 8) + lane, 4 * nibble, max(chunks // 4, 1))


SELECTED_COLUMNS = 2
"""Columns of tensor memory from which a selector takes one, for elements of 16 and 32 bits."""


@dataclass(frozen=True)
class TensorMetadataLayout:
    """The lane, the column and the first bit of each code (rows, chunks), for selector 0."""

    lanes: Array
    columns: Array
    shifts: Array
    selectors: int
    """How many columns there are to select from."""


@lru_cache(maxsize=64)
def tensor_metadata_layout(element_bits: int, k: int, rows: int) -> TensorMetadataLayout:
    """Return where tensor memory has the codes of `rows` rows of `k` elements, one row a lane."""
    row, chunk = np.indices((rows, k // elements_of_chunk(element_bits)))
    if element_bits <= 8:
        return TensorMetadataLayout(row, chunk // 8, 4 * (chunk % 8), 1)
    lane = row // ROWS * ROWS + row % 8 + 8 * (chunk // 4)
    shifts = 16 * (row % ROWS // 8) + 4 * (chunk % 4)
    return TensorMetadataLayout(lane, np.zeros_like(lane), shifts, SELECTED_COLUMNS)


def kept_columns(codes: Array, element_bits: int) -> Array:
    """Return the column of each element that A keeps (rows, K / 2), by legal codes."""
    chunk: Array = elements_of_chunk(element_bits) * np.arange(int(codes.shape[1]))
    if element_bits == 32:
        index = np.zeros(16, np.int64)
        index[list(HALVES)] = list(HALVES.values())
        return index[codes] + chunk
    adjacent = 2 if element_bits == 4 else 1
    first = adjacent * np.stack([codes & 3, codes >> 2], 2) + chunk[:, None]
    return (first[..., None] + np.arange(adjacent)).reshape(len(codes), -1)
