"""Element and tile sizes in hardware units, and unspecified values."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute

from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of, float_format
from tileas_xdsl.layout.integers import ceil_div

_PATTERN = 0x5A
"""The byte pattern of an unspecified integer."""


def bits_of_element(element: Attribute) -> int:
    """Return the bits of an element; an index has 64."""
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 64


def bytes_of_tile(shape: Sequence[int], element: Attribute) -> int:
    """Return the bytes of a tile; sub-byte elements are packed."""
    return ceil_div(prod(shape) * bits_of_element(element), 8)


def unspecified(shape: Sequence[int], element: Attribute) -> Array:
    """Return a tile of unspecified elements: NaN if the type has one, never zero."""
    dtype = dtype_of(element)
    if float_format(element) is not None:
        with np.errstate(invalid="ignore"):
            return np.full(tuple(shape), np.nan).astype(dtype)
    if dtype == np.bool_:
        return np.ones(tuple(shape), dtype)
    value: Any = np.frombuffer(bytes([_PATTERN]) * dtype.itemsize, dtype)[0]
    return np.full(tuple(shape), value, dtype)
