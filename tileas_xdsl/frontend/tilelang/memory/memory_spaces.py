"""Where buffers live."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from tileas_xdsl.dialects.tl.enums import Space, SpaceAttr


def space_of(type_: Attribute) -> Space | None:
    """The space of a buffer of the block; None for global memory."""
    space = cast("MemRefType[Attribute]", type_).memory_space
    return space.data if isinstance(space, SpaceAttr) else None
