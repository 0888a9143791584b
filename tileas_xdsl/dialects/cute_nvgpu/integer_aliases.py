"""Integers under the name of this dialect: `!cute_nvgpu.i4<divby 2>` is read as `!cute.i4<...>`.

The classes are there for the parser only; none of them is ever the type of a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.cute.types.integers import (
    DivisibleType,
    I4Type,
    I8Type,
    I16Type,
    I32Type,
    I64Type,
)


class IntegerAlias(ParametrizedAttribute):
    """A name that is read as the type `MEANS`."""

    MEANS: ClassVar[type[DivisibleType]]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return [IntAttr(cls.MEANS.parse_parameter(parser))]

    @classmethod
    def new(cls, params: Sequence[Attribute]) -> Any:
        """Return the type that is meant: the parser ends here."""
        (divisor,) = params
        assert isa(divisor, IntAttr)
        return cls.MEANS(divisor.data)


@irdl_attr_definition
class I4Alias(IntegerAlias, TypeAttribute):
    """4 bits."""

    name = "cute_nvgpu.i4"
    MEANS: ClassVar = I4Type


@irdl_attr_definition
class I8Alias(IntegerAlias, TypeAttribute):
    """8 bits."""

    name = "cute_nvgpu.i8"
    MEANS: ClassVar = I8Type


@irdl_attr_definition
class I16Alias(IntegerAlias, TypeAttribute):
    """16 bits."""

    name = "cute_nvgpu.i16"
    MEANS: ClassVar = I16Type


@irdl_attr_definition
class I32Alias(IntegerAlias, TypeAttribute):
    """32 bits."""

    name = "cute_nvgpu.i32"
    MEANS: ClassVar = I32Type


@irdl_attr_definition
class I64Alias(IntegerAlias, TypeAttribute):
    """64 bits."""

    name = "cute_nvgpu.i64"
    MEANS: ClassVar = I64Type
