"""Integers under the name of this dialect: `!cute_nvgpu.i4<divby 2>` is read as `!cute.i4<...>`.

The classes are there for the parser only; none of them is ever the type of a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.cute.types.integers import DIVISIBLE, DivisibleType


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


def _alias(width: int) -> type[IntegerAlias]:
    members = {
        "__module__": __name__,
        "__annotations__": {"MEANS": ClassVar[Any]},
        "name": f"cute_nvgpu.i{width}",
        "MEANS": DIVISIBLE[width],
    }
    bases = (IntegerAlias, TypeAttribute)
    return irdl_attr_definition(cast("type[IntegerAlias]", type(f"I{width}Alias", bases, members)))


I4Alias, I8Alias, I16Alias, I32Alias, I64Alias = map(_alias, DIVISIBLE)
