"""Smallest and largest numbers of rows, as `redux.sync` and `tcgen05.ld.red` find them.

Source: PTX ISA 9.7.13, redux.sync: -0 is below +0; NaN is left out or, with `.NaN`, wins.
"""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

NAN, INFINITY, SIGN = 0x7FFF_FFFF, 0x7F80_0000, 0x8000_0000


def float_extremes(bits: Array, operation: str, *, magnitude: bool, nan: bool) -> Array:
    """Return the `min` or `max` of singles along the last axis, all as words.

    `magnitude` takes absolute values; `nan` is `.NaN`.
    """
    words = bits & np.uint32(~SIGN & 0xFFFF_FFFF) if magnitude else bits
    is_nan = words & np.uint32(~SIGN & 0xFFFF_FFFF) > INFINITY
    least = operation == "min"
    kept = np.where(is_nan, np.uint32(INFINITY if least else INFINITY | SIGN), words)
    ordered = np.where(kept >= SIGN, ~kept, kept | np.uint32(SIGN))
    at = ordered.argmin(-1) if least else ordered.argmax(-1)
    found = np.take_along_axis(kept, at[..., None], -1)[..., 0]
    gone = is_nan.any(-1) if nan else is_nan.all(-1)
    return np.where(gone, np.uint32(NAN), found)
