"""How `nv_tileas` operations read: sugar for types, the layout literal, and the op decorator.

Inside an operation of the dialect these are read as well, and printed in their own form:

    tile<128x64xf16>                      tensor<128x64xf16>
    !async.value<T>                       !nv_tileas.token<T>
    !cute_nvgpu.tma_descriptor_tiled      !nv_tileas.tma_desc
    {nv_tileas.layout = <(64,8),(8,1)>}   {nv_tileas.layout = #nv_tileas.layout<(64,8),(8,1)>}
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.nv_tileas.attributes import LayoutAttr
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, TmaDescType
from tileas_xdsl.dialects.op_definition import defined_on_use
from tileas_xdsl.dialects.shared_parsing import parse_optional_tile, parse_payload_type

_ASYNC_VALUE = "!async.value"
_DESCRIPTOR = "!cute_nvgpu.tma_descriptor_tiled"


class TileasOp(FieldsOp):
    """Base of the operations of the dialect."""

    def check_structure(self) -> None:
        """Checks that come before those of operands, results and attributes; raises `OpError`."""


OpT = TypeVar("OpT", bound=TileasOp)


def tileas_op(cls: type[OpT]) -> type[OpT]:
    """Define an operation of the dialect: sugar in its text, and `check_structure` first."""
    defined: Any = defined_on_use(cls, _verify_structure_first)
    parse: Callable[[Parser], Any] = defined.parse

    def parse_with_sugar(_: type[Any], parser: Parser) -> Any:
        with reading_sugar(parser):
            return parse(parser)

    defined.parse = classmethod(parse_with_sugar)
    return defined


def _verify_structure_first(defined: Any) -> None:
    verify: Callable[[Any], None] = defined.verify_

    def verify_structure_first(op: TileasOp) -> None:
        _check_names(op)
        op.check_structure()
        verify(op)

    defined.verify_ = verify_structure_first


def _check_names(op: IRDLOperation) -> None:
    """No attribute has the name of a property: their text would be one."""
    for name in op.attributes:
        if name in op.properties:
            raise op_error(op, f"has '{name}' twice, as a property and as an attribute")


@contextmanager
def reading_sugar(parser: Parser) -> Generator[None]:
    """Make `parser` accept the sugar; parsers of nested operations inherit it."""
    if "parse_optional_type" in parser.__dict__:
        yield
        return
    read_type, read_attribute = parser.parse_optional_type, parser.parse_optional_attribute

    def parse_optional_type() -> TypeAttribute | None:
        return _sugar_type(parser) or read_type()

    def parse_optional_attribute() -> Attribute | None:
        if parser._current_token.kind is MLIRTokenKind.LESS:  # pyright: ignore[reportPrivateUsage]
            return LayoutAttr(LayoutAttr.parse_parameter(parser))
        return _sugar_type(parser) or read_attribute()

    parser.parse_optional_type = parse_optional_type
    parser.parse_optional_attribute = parse_optional_attribute
    try:
        yield
    finally:
        del parser.parse_optional_type, parser.parse_optional_attribute


def _sugar_type(parser: Parser) -> TypeAttribute | None:
    token = parser._current_token  # pyright: ignore[reportPrivateUsage]
    if token.kind is MLIRTokenKind.BARE_IDENT and token.text == "tile":
        return parse_optional_tile(parser)
    if token.kind is not MLIRTokenKind.EXCLAMATION_IDENT:
        return None
    if token.text == _DESCRIPTOR:
        _next_token(parser)
        return TmaDescType()
    if token.text == _ASYNC_VALUE:
        _next_token(parser)
        with parser.in_angle_brackets():
            return AsyncTokenType(parse_payload_type(parser))
    return None


def _next_token(parser: Parser) -> None:
    parser._parse_token(MLIRTokenKind.EXCLAMATION_IDENT, "expected a type")  # pyright: ignore[reportPrivateUsage]
