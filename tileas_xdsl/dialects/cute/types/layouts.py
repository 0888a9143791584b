"""Types of layouts: `!cute.layout<"(16,(4)):(1,(?))">` and composed ones.

`!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">` is written inner, offset, outer: the inner
component, a swizzle or a layout, is applied last.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cute.types.tuples import print_quoted
from tileas_xdsl.dialects.shared_parsing import parse_quoted_layout
from tileas_xdsl.layout import ComposedLayout, Layout
from tileas_xdsl.layout.errors import CongruenceError, LayoutError, LayoutSyntaxError
from tileas_xdsl.layout.output.text import parse_layout_type


def read_layout(text: str) -> Layout | ComposedLayout:
    """Return the layout that a type of CuTe IR writes."""
    try:
        return parse_layout_type(text)
    except LayoutSyntaxError as error:
        if not isinstance(error.__cause__, CongruenceError):
            raise
        reason = message(
            "cute.layout_syntax.expects_no_error_x", error=error.reason, text=error.text
        )
        raise LayoutSyntaxError(reason, error.text, error.position) from error


def _plain(text: str) -> Layout:
    layout = read_layout(text)
    if not isinstance(layout, Layout):
        raise LayoutError(f"{layout} is composed: its type is !cute.composed_layout")
    return layout


def _composed(text: str) -> ComposedLayout:
    layout = read_layout(text)
    if not isinstance(layout, ComposedLayout):
        raise LayoutError(f"{layout} is not composed: its type is !cute.layout")
    return layout


@irdl_attr_definition
class LayoutType(Data[Layout], TypeAttribute):
    """A layout, `shape:stride`."""

    name = "cute.layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Layout:
        return parse_quoted_layout(parser, _plain)

    def print_parameter(self, printer: Printer) -> None:
        print_quoted(printer, self.data)


@irdl_attr_definition
class ComposedLayoutType(Data[ComposedLayout], TypeAttribute):
    """A composed layout, `inner o offset o outer`."""

    name = "cute.composed_layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ComposedLayout:
        return parse_quoted_layout(parser, _composed)

    def print_parameter(self, printer: Printer) -> None:
        print_quoted(printer, self.data)


@irdl_attr_definition
class LayoutAttr(Data[Layout]):
    """`#cute.layout<"(8,4):(1,8)">`."""

    name = "cute.layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Layout:
        return parse_quoted_layout(parser, _plain)

    def print_parameter(self, printer: Printer) -> None:
        print_quoted(printer, self.data)


AnyLayoutType = LayoutType | ComposedLayoutType


def layout_type(layout: Any) -> AnyLayoutType:
    """The type of a plain or composed layout."""
    return LayoutType(layout) if isinstance(layout, Layout) else ComposedLayoutType(layout)


LAYOUT_TYPES: tuple[type[Attribute], ...] = (LayoutType, ComposedLayoutType)
