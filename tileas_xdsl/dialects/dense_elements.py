"""Constants of tiles, whose elements are bytes: 128x256 of f32 are not unpacked to compare them."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr


def is_splat(value: DenseIntOrFPElementsAttr[Any]) -> bool:
    """Whether all elements are the same bits; there is one at least."""
    data, count = value.data.data, len(value)
    return count > 0 and data[len(data) // count :] == data[: -(len(data) // count)]
