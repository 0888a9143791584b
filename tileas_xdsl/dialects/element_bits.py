"""How many bits elements take in memory."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType, FloatTF32Type
from xdsl.ir import Attribute

from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.layout.units import WORD_BITS

_OF_BITS = Kinds(FixedBitwidthType)


def bits_of(element: Attribute | None) -> int:
    """Return the bits of an element in memory; an `index`, and what has no width, takes 64."""
    if type(element) is FloatTF32Type:
        return WORD_BITS
    return cast("FixedBitwidthType", element).bitwidth if _OF_BITS[type(element)] else 64
