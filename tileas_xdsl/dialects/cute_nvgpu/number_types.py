"""Integers under the name of this dialect: `!cute_nvgpu.i4<divby 2>` is read as `!cute.i4<...>`."""

from __future__ import annotations

from typing import Self, cast

from xdsl.ir import TypeAttribute
from xdsl.irdl import irdl_attr_definition

from tileas_xdsl.dialects.cute.number_types import DIVISIBLE, DivisibleType


class OtherName(DivisibleType):
    """The integer of `cute` of the same width is what is read."""

    def __new__(cls, data: int) -> Self:
        return cast("Self", DIVISIBLE[cls.WIDTH](data))


@irdl_attr_definition
class OtherI4Type(OtherName, TypeAttribute):
    """4 bits."""

    WIDTH = 4
    name = "cute_nvgpu.i4"


@irdl_attr_definition
class OtherI8Type(OtherName, TypeAttribute):
    """8 bits."""

    WIDTH = 8
    name = "cute_nvgpu.i8"


@irdl_attr_definition
class OtherI16Type(OtherName, TypeAttribute):
    """16 bits."""

    WIDTH = 16
    name = "cute_nvgpu.i16"


@irdl_attr_definition
class OtherI32Type(OtherName, TypeAttribute):
    """32 bits."""

    WIDTH = 32
    name = "cute_nvgpu.i32"


@irdl_attr_definition
class OtherI64Type(OtherName, TypeAttribute):
    """64 bits."""

    WIDTH = 64
    name = "cute_nvgpu.i64"


TYPES = (OtherI4Type, OtherI8Type, OtherI16Type, OtherI32Type, OtherI64Type)
