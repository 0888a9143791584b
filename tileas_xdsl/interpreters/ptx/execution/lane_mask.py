"""Masks of lanes and the values of registers.

The warps of a warpgroup run together as a gang, so a mask has up to 128 bits.  A register holds a
Python integer (or bool) while all lanes of a fragment agree, else an array with one entry a lane;
integers are never negative, arrays are unsigned.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

Value: TypeAlias = Any
"""An `int`, a `bool` or an array."""

WARP = 32

FULL_WARP = 0xFFFF_FFFF


@lru_cache(maxsize=4096)
def bools(mask: int, lanes: int) -> Array:
    """A mask as one bool a lane."""
    raw = np.frombuffer(mask.to_bytes((lanes + 7) // 8, "little"), np.uint8)
    found = np.unpackbits(raw, bitorder="little")[:lanes].astype(np.bool_)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=4096)
def indices(mask: int) -> Array:
    """The lanes of a mask, in order."""
    found = np.flatnonzero(bools(mask, max(mask.bit_length(), 1)))
    found.flags.writeable = False
    return found


@lru_cache(maxsize=4096)
def lane_list(mask: int) -> tuple[int, ...]:
    """The lanes of a mask as integers."""
    return tuple(int(i) for i in indices(mask))


@lru_cache(maxsize=4096)
def warps_of(mask: int) -> tuple[int, ...]:
    """The warps of a gang that have a lane in the mask."""
    return tuple(w for w in range((mask.bit_length() + 31) // 32) if mask >> 32 * w & FULL_WARP)


def mask_of(flags: Array) -> int:
    """One bool a lane as a mask."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def first_lane(mask: int) -> int:
    """The lowest lane of a mask."""
    return (mask & -mask).bit_length() - 1


def predicate_mask(value: Value, mask: int) -> int:
    """The lanes of `mask` where a predicate holds."""
    if value.__class__ is np.ndarray:
        return mask_of(value) & mask
    return mask if value else 0


def spread(value: Value, lanes: int, dtype: np.dtype[Any]) -> Array:
    """A value as one entry a lane."""
    if value.__class__ is np.ndarray:
        return value
    return np.full(lanes, value, dtype)
