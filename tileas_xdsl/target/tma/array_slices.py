"""Tensor maps of which each copy moves a slice of an array: rows from `start` on, `extent` of them.

A launch encodes one map; where slices begin and how many rows they have is known when copies are
issued (sequences of a batch one after another, rows of groups).  Rows past the end of a slice
are out of bounds, although the array goes on there: loads read zeros, and stores leave them.

The map has two more dimensions, z and y, as far apart as it has rows (`s` bytes) in total:

    dimension   extent      bytes apart
    z           any         2^35 - s
    y           any         s
    x (rows)    L = 2^30    s
    ...         those of the array

Row `r` of the slice is at x = L - (extent - r), y = start + extent, z = L.  Its address is

    L (2^35 - s) + (start + extent) s + (L - extent + r) s  =  2^65 + (start + r) s

and addresses have 64 bits.  The row is in bounds while x < L, that is r < extent.  Of a slice of
more than L rows, the first ones have x = 0 and y = start + r + L: they are far from its end.

Source: Triton, `triton/tools/ragged_tma.py`; CUDA driver API, cuTensorMapEncodeTiled, for the
limits of extents and strides.
"""

from __future__ import annotations

from dataclasses import replace

from tileas_xdsl.target.tma.tensor_map import MAX_RANK, TensorMap

EXTRA_DIMENSIONS = 2

MAX_SLICED_RANK = MAX_RANK - EXTRA_DIMENSIONS

ROW_LIMIT = 1 << 30
"""The extent of the map along rows, and the coordinate along z."""

OUTER_EXTENT = (1 << 31) - (1 << 16)
"""The extents along y and z: coordinates are 32-bit integers."""

WRAP = 1 << 35
"""Bytes of which `ROW_LIMIT` are a multiple of 2^64."""


def map_of_slices(whole: TensorMap, axis: int) -> TensorMap:
    """Return the map of slices along a dimension of an array (innermost first, not 0)."""
    apart = whole.strides[axis - 1]
    dims = (*whole.dims[:axis], ROW_LIMIT, *whole.dims[axis + 1 :])
    return replace(
        whole,
        dims=(*dims, OUTER_EXTENT, OUTER_EXTENT),
        strides=(*whole.strides, apart, WRAP - apart),
        box=(*whole.box, 1, 1),
        element_strides=(),
    )
