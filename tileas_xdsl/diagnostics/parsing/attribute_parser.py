"""Types and attributes as MLIR reads them: float bit patterns, limits of widths, located errors.

dense<[0x7FC00001, 1.0]> : tensor<2xf32>     keeps the payload of the NaN
i16777216                                    is refused: MLIR limits the width
"""

from __future__ import annotations

import re
from math import isnan
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    FloatData,
)
from xdsl.ir import (
    Attribute,
    TypeAttribute,
)
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from tileas_xdsl.diagnostics.float_bits import float_of_bits
from tileas_xdsl.diagnostics.parsing.bit_patterns import (
    NEGATIVE_BITS,
    HexadecimalElement,
    with_bits,
)
from tileas_xdsl.diagnostics.parsing.parse_errors import (
    explain_exception,
)

_HEXADECIMAL = re.compile(r"-?\s*0[xX][0-9a-fA-F]+")
_INTEGER_TYPE = re.compile(r"[su]?i0*(\d+)")
_WIDEST = (1 << 24) - 1
"""Bits of an integer type, in MLIR."""

_UNKNOWN_NAME = re.compile(r"^undefined symbol alias |' is not registered$")


class AttributeParser(Parser):
    """A `Parser` that keeps all bits of hexadecimal floats, and locates errors of attributes."""

    _bit_patterns: list[HexadecimalElement | None]
    """Of the elements of a dense literal that are read so far: those that are bit patterns."""

    def __init__(self, ctx: Context, input: str, name: str) -> None:
        self._bit_patterns = []
        super().__init__(ctx, input, name)

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        token = self._current_token
        width = _INTEGER_TYPE.fullmatch(token.text)
        if width is not None and int(width[1][:9]) > _WIDEST:
            text = f"integer bitwidth is limited to {_WIDEST} bits"
            self.raise_error(text, at_position=token.span)
        return super()._parse_optional_integer_or_float_type()

    def parse_optional_type(self) -> TypeAttribute | None:
        span = self._current_token.span
        try:
            return super().parse_optional_type()
        except Exception as error:
            if (located := _located_at_attribute(span, error)) is None:
                raise
            raise located from error

    def parse_optional_attribute(self) -> Attribute | None:
        span = self._current_token.span
        try:
            return super().parse_optional_attribute()
        except Exception as error:
            if (located := _located_at_attribute(span, error)) is None:
                raise
            raise located from error

    def _parse_tensor_literal_element(self) -> Parser._TensorLiteralElement:
        is_hexadecimal = self._hexadecimal() is not None
        element = super()._parse_tensor_literal_element()
        if not is_hexadecimal or not isinstance(element.value, int):
            self._bit_patterns.append(None)
            return element
        pattern = HexadecimalElement(element.is_negative, element.value, element.span)
        self._bit_patterns.append(pattern)
        return pattern

    def parse_optional_builtin_int_or_float_attr(self) -> Any:
        literal = self._hexadecimal()
        found = super().parse_optional_builtin_int_or_float_attr()
        if not isinstance(found, FloatAttr) or literal is None:
            return found
        if literal.text[0] == "-":
            self.raise_error(NEGATIVE_BITS, at_position=literal)
        type_: AnyFloat = found.type
        value = float_of_bits(int(literal.text, 16), type_)
        return FloatAttr.new((FloatData(value), type_)) if isnan(value) else found

    def parse_dense_int_or_fp_elements_attr(self, type: Any) -> Any:
        """Elements that are bit patterns keep all of their bits."""
        before, self._bit_patterns = self._bit_patterns, []
        try:
            found: Any = super().parse_dense_int_or_fp_elements_attr(type)
            patterns = self._bit_patterns
        finally:
            self._bit_patterns = before
        has_bits = any(patterns) and isinstance(found.get_element_type(), AnyFloat)
        return with_bits(found, patterns) if has_bits else found

    def _hexadecimal(self) -> Span[str] | None:
        """Return the hexadecimal literal that comes next, with its minus sign, if one does."""
        token = self._current_token
        found = _HEXADECIMAL.match(token.span.input.content, token.span.start)
        return None if found is None else Span(*found.span(), token.span.input)


class _LocatedError(ParseError):
    """An error of an attribute that already points to its beginning."""


def _located_at_attribute(span: Span[str], error: Exception) -> ParseError | None:
    """xDSL reports an unknown name at the token after it, and a failing `verify` nowhere."""
    if not isinstance(error, ParseError):
        return _LocatedError(span, explain_exception(error))
    if isinstance(error, _LocatedError) or not _UNKNOWN_NAME.search(error.msg):
        return None
    return _LocatedError(span, error.msg)
