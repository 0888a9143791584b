"""Sub-byte elements as global memory has them: two per byte, the first in the low half.

numpy stores such an element in a byte of its own.  Source: PTX ISA 5.2.3, packed data types.
"""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.interpreters.ptx import LaunchError

PACKED = np.dtype(ml_dtypes.float4_e2m1fn)
PER_BYTE = 2
BITS = 4


def packed(value: Any, what: str) -> Any:
    """Pack an array of 4-bit floats; return any other value unchanged.

    Raises `LaunchError` where rows end within a byte.
    """
    if getattr(value, "dtype", None) != PACKED:
        return value
    array = cast("NDArray[Any]", value)
    if array.ndim == 0 or array.shape[-1] % PER_BYTE:
        raise LaunchError(f"{what} has shape {array.shape}: rows of {PACKED} end within a byte")
    codes = np.ascontiguousarray(array).view(np.uint8) & 0xF
    return codes[..., ::2] | codes[..., 1::2] << np.uint8(BITS)


def unpacked(data: NDArray[Any]) -> NDArray[Any]:
    """Unpack the elements of an array made by `packed`."""
    halves = np.stack([data & np.uint8(0xF), data >> np.uint8(BITS)], axis=-1)
    return halves.reshape(*data.shape[:-1], PER_BYTE * data.shape[-1]).view(PACKED)
