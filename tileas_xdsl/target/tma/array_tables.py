"""Tables of the arrays of a list in memory: a row of words for each, and tensor maps behind them.

rows x (address, extents, strides)     words of 64 bits
maps of the first recipe, by rows      128 bytes each, at a multiple of as much
maps of the second one ...
zeros                                  128 bytes, which the maps of empty arrays describe
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.target.kernel_abi import UNUSED_BYTES, TensorMapRecipe
from tileas_xdsl.target.tma.tensor_map import L2_FETCHES, TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE

WORD = 8
"""Bytes."""


def table_size(rows: NDArray[np.int64], recipes: int) -> int:
    """Return the bytes of a table with so many tensor maps for each row."""
    if not recipes:
        return rows.nbytes
    return align_up(rows.nbytes, SIZE) + recipes * len(rows) * SIZE + UNUSED_BYTES


def table_bytes(
    rows: NDArray[np.int64],
    recipes: Sequence[TensorMapRecipe],
    place: int,
    encode: Callable[[TensorMap], bytes],
) -> NDArray[np.uint8]:
    """Return the bytes of a table at the address `place`; its words begin with addresses.

    No map has an extent of 0: that of an empty array describes zeros behind all maps.
    """
    found = np.zeros(table_size(rows, len(recipes)), np.uint8)
    unused = place + found.size - UNUSED_BYTES
    words = np.frombuffer(rows.tobytes(), np.uint8)
    found[: words.size] = words
    at = align_up(words.size, SIZE)
    for recipe in recipes:
        for row in rows.tolist():
            found[at : at + SIZE] = np.frombuffer(encode(_map_of(recipe, row, unused)), np.uint8)
            at += SIZE
    return found


def _map_of(recipe: TensorMapRecipe, row: Sequence[int], unused: int) -> TensorMap:
    address, *counts = row
    rank = len(counts) // 2
    sizes, strides = counts[:rank], counts[rank:]
    found = recipe.of_array(sizes, strides, unused if 0 in sizes else address)
    return replace(found, l2_promotion=L2_FETCHES)
