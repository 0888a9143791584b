"""Results of the multi-function unit, recorded on an H200 (`tests/hardware/record_mufu.py`).

One file a table: the results are f32 bit patterns of consecutive arguments, stored as their second
differences, which are small since the functions are smooth.  A file is the xz compression of

    count: u32, wide: u32, wide differences: i64[wide], differences: i8[count]

in little-endian order, where -128 stands for the next wide difference.
"""

from __future__ import annotations

import lzma
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

TABLES = ("ex2", "ex2_negative", "rcp", "rsqrt", "sqrt", "lg2", "lg2_below_one")
"""By arguments: ex2 of [0, 1) and of the negative ones of (-1, 0], in steps of 2^-23; the others in
the steps of f32, rcp and lg2 of [1, 2), rsqrt and sqrt of [1, 4), lg2_below_one of [0.5, 1)."""

WIDE = -128
"""Stands for a difference that has no room in 8 bits."""


@cache
def recorded(name: str) -> NDArray[np.uint32]:
    """Return the bit patterns of a table of `TABLES`; it takes some tenths of a second once."""
    return unpacked((files("tileas_xdsl.target.mufu") / f"{name}.xz").read_bytes())


def unpacked(file: bytes) -> NDArray[np.uint32]:
    """Return the bit patterns of a file; sums wrap around, as the differences do."""
    data = lzma.decompress(file)
    _, wide = np.frombuffer(data, "<u4", 2)
    differences = np.frombuffer(data, np.int8, offset=8 + 8 * int(wide)).astype(np.int32)
    differences[differences == WIDE] = np.frombuffer(data, "<i8", int(wide), 8).astype(np.int32)
    slopes = np.cumsum(differences, dtype=np.int32)
    return np.cumsum(slopes, dtype=np.int32).view(np.uint32)


def packed(patterns: NDArray[np.uint32]) -> bytes:
    """Return the file of a table, for `unpacked`."""
    differences = np.diff(np.diff(patterns.astype(np.int64), prepend=0), prepend=0)
    is_wide = np.abs(differences) > -WIDE - 1
    wide = differences[is_wide].astype("<i8")
    narrow = np.where(is_wide, WIDE, differences).astype(np.int8)
    sizes = np.asarray([patterns.size, wide.size], "<u4")
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "pb": 0}]
    parts = (sizes, wide, narrow)
    return lzma.compress(b"".join(part.tobytes() for part in parts), filters=filters)
