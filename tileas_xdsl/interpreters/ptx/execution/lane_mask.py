"""Active masks of lanes and the values of registers.

The warps of a warpgroup execute as one unit, so a mask has up to 128 bits.  A register holds a
Python integer (or bool) while it is uniform over the lanes of a convergence group, else an array
with one element per lane; integers are never negative, arrays are unsigned.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

Value: TypeAlias = Any
"""An `int`, a `bool` or an array."""

FULL_WARP = 0xFFFF_FFFF


@lru_cache(maxsize=4096)
def bools(mask: int, lanes: int) -> Array:
    """Return a mask as one bool per lane."""
    raw = np.frombuffer(mask.to_bytes((lanes + 7) // 8, "little"), np.uint8)
    found = np.unpackbits(raw, bitorder="little")[:lanes].astype(np.bool_)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=4096)
def indices(mask: int) -> Array:
    """Return the lanes of a mask, ascending."""
    found = np.flatnonzero(bools(mask, max(mask.bit_length(), 1)))
    found.flags.writeable = False
    return found


@lru_cache(maxsize=4096)
def lane_list(mask: int) -> tuple[int, ...]:
    """Return the lanes of a mask as Python integers."""
    return tuple(int(i) for i in indices(mask))


@lru_cache(maxsize=4096)
def warps_of(mask: int) -> tuple[int, ...]:
    """Return the warps of a warpgroup that have a lane in the mask."""
    return tuple(w for w in range((mask.bit_length() + 31) // 32) if mask >> 32 * w & FULL_WARP)


def mask_of(flags: Array) -> int:
    """Return the mask of one bool per lane."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def first_lane(mask: int) -> int:
    """Return the lowest lane of a mask."""
    return (mask & -mask).bit_length() - 1


def predicate_mask(value: Value, mask: int) -> int:
    """Return the lanes of `mask` where a predicate holds."""
    if value.__class__ is np.ndarray:
        return mask_of(value) & mask
    return mask if value else 0


def spread(value: Value, lanes: int, dtype: np.dtype[Any]) -> Array:
    """Return a register as an array with one element per lane."""
    if value.__class__ is np.ndarray:
        return value
    return np.full(lanes, value, dtype)
