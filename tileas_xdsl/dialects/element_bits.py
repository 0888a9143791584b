"""How many bits elements take in memory."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType, FloatTF32Type
from xdsl.ir import Attribute

from tileas_xdsl.dialects.kinds import Kinds

_OF_BITS = Kinds(FixedBitwidthType)

WORD_BITS = 32
"""Of a register, and of a tf32 in memory, of which 19 bits count (PTX ISA, alternate floats)."""


def bits_of(element: Attribute | None) -> int:
    """Return the bits of an element in memory; an `index`, and what has no width, takes 64."""
    if type(element) is FloatTF32Type:
        return WORD_BITS
    return cast("FixedBitwidthType", element).bitwidth if _OF_BITS[type(element)] else 64
