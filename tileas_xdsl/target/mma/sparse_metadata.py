"""Where the metadata of a sparse A are: which of four elements (of two, of 32 bits) it keeps.

A chunk of A, four elements of K or two of 32 bits, has a code of four bits.  The codes of 16 rows
are in registers of the lanes of one warp: of all of them, or of the lanes that a selector names.

    16 and 32 bits: a lane has four chunks of each of two rows     8 bits: eight chunks of one row
    lane 4 r + c // 4, bits 16 (row // 8) + 4 (c % 4)              lane 4 r + row // 8 + c // 8 * 2

Source: PTX ISA 9.7.14.6.2 and 9.7.15.6.2; what an H200 computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ROWS = 16
"""Rows of A whose metadata one warp has."""

HALVES = {0b0100: 0, 0b1110: 1}
"""The element that a chunk of 32-bit elements keeps, by code: its two halves of 16 bits."""


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
    return 2 if element_bits == 32 else 4


@cache
def metadata_layout(element_bits: int, k: int) -> MetadataLayout:
    """Return where the codes of 16 rows of `k` elements are."""
    chunks = k // elements_of_chunk(element_bits)
    row, chunk = np.indices((ROWS, chunks))
    if element_bits == 8:
        lane, nibble = row // 8 + 2 * (chunk // 8), chunk % 8
    else:
        lane, nibble = chunk // 4, 4 * (row // 8) + chunk % 4
    return MetadataLayout(4 * (row % 8) + lane, 4 * nibble, max(chunks // 4, 1))


def kept_columns(codes: Array, element_bits: int) -> Array:
    """Return the column of each element that A keeps (rows, K / 2); -1 where a code is invalid."""
    chunk: Array = elements_of_chunk(element_bits) * np.arange(int(codes.shape[1]))
    if element_bits == 32:
        index = np.full(16, -1, np.int64)
        index[list(HALVES)] = list(HALVES.values())
        found = index[codes]
        return np.where(found < 0, -1, found + chunk)
    first, second = codes & 3, codes >> 2
    both = np.stack([first + chunk, second + chunk], 2)
    return np.where((first == second)[..., None], -1, both).reshape(len(codes), -1)
