"""Hexadecimal float elements of dense attributes, which keep the sign and the payload of a NaN.

Of `dense<[1.0, 0x7fc00001]> : tensor<2xf32>` the second element is a NaN with payload 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
)
from xdsl.parser import AttrParser, Parser

from tileas_xdsl.diagnostics.float_bits import FloatElements

NEGATIVE_BITS = "hexadecimal float literal should not have a leading minus"


class HexadecimalElement(Parser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element such as `0xff800000`: of floats it has the bits, where xDSL reads a number.

    Infinities and NaN are printed so, since they have no decimal form.
    """

    def to_type(
        self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
    ) -> Any:
        if not isinstance(type, AnyFloat):
            return super().to_type(parser, type)
        if self.is_negative:
            parser.raise_error(NEGATIVE_BITS, at_position=self.span)
        return next(iter(type.iter_unpack(self.to_bytes(type.compile_time_size))))

    def to_bytes(self, size: int) -> bytes:
        """Return the bits as they are in memory."""
        assert isinstance(self.value, int)
        return self.value.to_bytes(size, "little")


def with_bits(
    found: FloatElements, patterns: Sequence[HexadecimalElement | None]
) -> DenseIntOrFPElementsAttr:
    """Return a dense attribute with the bits of the elements that are patterns; a splat has one."""
    data, size = found.data.data, found.get_element_type().compile_time_size
    each = patterns if len(patterns) > 1 else [*patterns] * (len(data) // size)
    made = bytearray(data)
    for at, pattern in enumerate(each):
        if pattern is not None:
            made[at * size : (at + 1) * size] = pattern.to_bytes(size)
    return DenseIntOrFPElementsAttr(found.type, BytesAttr(bytes(made)))
