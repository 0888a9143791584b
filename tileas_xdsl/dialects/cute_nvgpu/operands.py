"""What constructors of `cute_nvgpu` take, and the attributes they make of it."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, i32

from tileas_xdsl.dialects.constraints import AT_LEAST_0, number_among
from tileas_xdsl.dialects.fields import Value as Value
from tileas_xdsl.dialects.interned import i32_attr, text_attr

GROUPS_UNDER_WAY = number_among(i32, AT_LEAST_0, "leaves 0 groups or more under way, not {given}")
"""Of how many groups a wait is not about."""


def number(value: int) -> IntegerAttr:
    """A count, an offset or a size."""
    return i32_attr(value)


def optional_number(value: int | None) -> IntegerAttr | None:
    """`number` of a value that may be absent."""
    return None if value is None else number(value)


def boolean(value: bool) -> BoolAttr:
    """`true` or `false`."""
    return BoolAttr.from_bool(value)


def keyword(value: str) -> StringAttr:
    """A keyword of a closed set, which the verifier knows."""
    return text_attr(value)


def value_of(attribute: IntegerAttr) -> int:
    """The number that `number` made an attribute of."""
    return attribute.value.data
