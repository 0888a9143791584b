"""Debug output of kernels: print and assert."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import (
    AnyFloat,
    FixedBitwidthType,
    IndexType,
    IntegerType,
    StringAttr,
    i1,
)
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.traits import MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileaa.base import element_of
from tileas_xdsl.dialects.nv_tileaa.memory.pointer_access import TokenOp
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.target.printf import Conversion, FormatError, Part, parse_format

_Text: TypeAlias = fields.Field[StringAttr, str | StringAttr]


@tileas_op
class AssertOp(TileasOp):
    """Ends the kernel with a message where a condition, or an element of a tile, does not hold."""

    name = "nv_tileaa.assert"

    condition: fields.Operand = fields.operand()
    message: _Text = fields.prop(StringAttr)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$condition `,` $message attr-dict `:` type($condition)"

    def verify_(self) -> None:
        if element_of(self.condition.type) != i1:
            raise op_error(self, f"asserts an i1 or a tile of them, not {self.condition.type}")


@tileas_op
class PrintOp(TokenOp):
    """Prints text; each `%` format stands for the next value, tiles with all their elements."""

    name = "nv_tileaa.print"

    format: _Text = fields.prop(StringAttr)
    values: fields.Operands = fields.operands()

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$format (`,` $values^ `:` type($values))? (`after` $token^ `:` type($token))?"
        " attr-dict (`->` type($out_token)^)?"
    )

    def verify_(self) -> None:
        self.check_tokens()
        try:
            formats = [part for part in self.parts() if isinstance(part, Conversion)]
        except FormatError as error:
            raise op_error(self, str(error)) from error
        if len(formats) != len(self.values):
            raise op_error(self, f"has {len(formats)} formats for {len(self.values)} values")
        for conversion, value in zip(formats, self.values, strict=True):
            self._check(conversion, element_of(value.type))

    def _check(self, conversion: Conversion, element: Attribute) -> None:
        fits = AnyFloat if conversion.is_float else IntegerType | IndexType
        if not isinstance(element, fits):
            raise op_error(self, f"prints {element} by '{conversion.text}'")

    def parts(self) -> Sequence[Part]:
        """Texts, and the format of each value; raises `FormatError`.

        Integers of 64 bits are shown whole, also where the format has no `ll`.
        """
        elements = iter([element_of(value.type) for value in self.values])
        return [
            part if isinstance(part, str) else part.of_bits(_bits_of(next(elements, None)))
            for part in parse_format(self.format.data)
        ]


def _bits_of(element: Attribute | None) -> int:
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 32
