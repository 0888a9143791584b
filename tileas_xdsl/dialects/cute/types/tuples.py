"""Types of tuples: all that is known before run time stands in the type.

`!cute.shape<"(4,?)">`, `!cute.stride<"(1@1,1@0)">`, `!cute.coord<"(0,_)">`,
`!cute.int_tuple<"(1,?{div=128})">` and `!cute.tile<"[64:1;_;(2,2):(1,8)]">`.  A `?` is a number of
32 bits that run time knows, `?{i64 div=8}` one of 64 bits that is a multiple of 8; a value of the
type carries just these.  In Python the tree is nested tuples of `int`, of
`layout.expr.expression.Variable`, of `layout.AxisSum` (scaled bases) and, in coordinates, None for
`_`.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tileas_xdsl.dialects.shared_parsing import parse_quoted_layout
from tileas_xdsl.layout import Layout
from tileas_xdsl.layout.int_tuple import show
from tileas_xdsl.layout.output.text import parse_tile_type, parse_tuple_type


def print_quoted(printer: Printer, text: object) -> None:
    """`<"text">`."""
    with printer.in_angle_brackets():
        printer.print_string(f'"{text}"')


class TreeAttribute(Data[Any]):
    """A tuple written as `<"(4,?)">`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        return parse_quoted_layout(parser, parse_tuple_type)

    def print_parameter(self, printer: Printer) -> None:
        print_quoted(printer, show(self.data))


class CoordinateAttribute(TreeAttribute):
    """A tuple that may have underscores."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        return parse_quoted_layout(parser, lambda text: parse_tuple_type(text, underscores=True))


@irdl_attr_definition
class ShapeType(TreeAttribute, TypeAttribute):
    """Extents."""

    name = "cute.shape"


@irdl_attr_definition
class StrideType(TreeAttribute, TypeAttribute):
    """How far a step along each mode goes."""

    name = "cute.stride"


@irdl_attr_definition
class CoordType(CoordinateAttribute, TypeAttribute):
    """A place in a shape; `_` is a mode that is kept whole."""

    name = "cute.coord"


@irdl_attr_definition
class IntTupleType(TreeAttribute, TypeAttribute):
    """Integers."""

    name = "cute.int_tuple"


def show_tile(modes: tuple[Layout | None, ...]) -> str:
    """`[64:1;_]`."""
    return f"[{';'.join('_' if mode is None else str(mode) for mode in modes)}]"


@irdl_attr_definition
class TileType(Data[tuple[Any, ...]], TypeAttribute):
    """A tiler, mode by mode: a layout each, None for a mode that is left whole."""

    name = "cute.tile"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Any, ...]:
        return parse_quoted_layout(parser, parse_tile_type)

    def print_parameter(self, printer: Printer) -> None:
        print_quoted(printer, show_tile(self.data))


@irdl_attr_definition
class ShapeAttr(TreeAttribute):
    """`#cute.shape<"(128,64)">`."""

    name = "cute.shape"


@irdl_attr_definition
class StrideAttr(TreeAttribute):
    """`#cute.stride<"(1,128)">`."""

    name = "cute.stride"


@irdl_attr_definition
class CoordAttr(CoordinateAttribute):
    """`#cute.coord<"(1,_)">`."""

    name = "cute.coord"


@irdl_attr_definition
class IntTupleAttr(TreeAttribute):
    """`#cute.int_tuple<"(0,?)">`."""

    name = "cute.int_tuple"


@irdl_attr_definition
class TileAttr(Data[tuple[Any, ...]]):
    """`#cute.tile<"[64:1;_]">`."""

    name = "cute.tile"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Any, ...]:
        return parse_quoted_layout(parser, parse_tile_type)

    def print_parameter(self, printer: Printer) -> None:
        print_quoted(printer, show_tile(self.data))


TUPLE_TYPES = (ShapeType, StrideType, CoordType, IntTupleType)
