"""Sizes as the hardware counts them, and elements whose value is not said."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute

from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of, float_format

_PATTERN = 0x5A
"""The bytes of an integer that nobody chose."""


def bits_of_element(element: Attribute) -> int:
    """The bits of an element; an index has 64."""
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 64


def bytes_of_tile(shape: Sequence[int], element: Attribute) -> int:
    """The bytes of a tile; elements below a byte are packed."""
    return -(-prod(shape) * bits_of_element(element) // 8)


def unspecified(shape: Sequence[int], element: Attribute) -> Array:
    """Elements whose value a program must not use: NaN where there is one, never zero."""
    dtype = dtype_of(element)
    if float_format(element) is not None:
        with np.errstate(invalid="ignore"):
            return np.full(tuple(shape), np.nan).astype(dtype)
    if dtype == np.bool_:
        return np.ones(tuple(shape), dtype)
    value: Any = np.frombuffer(bytes([_PATTERN]) * dtype.itemsize, dtype)[0]
    return np.full(tuple(shape), value, dtype)
