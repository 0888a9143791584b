"""The enumerations of the dialect by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.utils import EnumAttribute

from tileas_xdsl.dialects.cuda_tile.enums import ATTRIBUTES

Member = EnumAttribute[Any]

_DEFINITIONS: tuple[Any, ...] = ATTRIBUTES

ENUMERATIONS: Mapping[str, tuple[Member, ...]] = {
    definition.enum_type.__name__: tuple(map(definition, definition.enum_type))
    for definition in _DEFINITIONS
}
"""Their attributes, in the order of the numbers in bytecode."""
