"""What threads reach beside their arguments: globals of the module, and the console."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    FlatSymbolRefAttr,
    Float64Type,
    StringAttr,
    SymbolRefAttr,
    i32,
    i64,
)
from xdsl.irdl import traits_def
from xdsl.traits import MemoryWriteEffect, Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.target.printf import MAX_VALUES, Conversion, FormatError, parse_format

__all__ = ["AddressOfOp", "PrintTextOp"]


@irdl_op_definition
class AddressOfOp(FieldsOp):
    """The pointer to the first element of a global of the module."""

    name = "cute.address_of"

    symbol: fields.Field[SymbolRefAttr, str] = fields.prop(FlatSymbolRefAttr, convert=SymbolRefAttr)
    result: fields.Result[PtrType] = fields.typed_result(PtrType)

    traits = traits_def(Pure())
    assembly_format = "$symbol attr-dict `:` type($result)"

    def verify_(self) -> None:
        if self.result.type.space is not AddressSpace.GMEM:
            raise op_error(self, f"is in global memory, not {self.result.type}")


@irdl_op_definition
class PrintTextOp(FieldsOp):
    """The thread prints text; values are `f64`, and `i32`, or `i64` by formats with `ll`."""

    name = "cute.print_text"

    format: fields.String = fields.prop(StringAttr)
    values: fields.Operands = fields.operands(default=())

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$format (`,` $values^ `:` type($values))? attr-dict"

    def verify_(self) -> None:
        try:
            parts = parse_format(self.format.data)
        except FormatError as error:
            raise op_error(self, str(error)) from error
        wanted = [part for part in parts if isinstance(part, Conversion)]
        if len(wanted) != len(self.values):
            raise op_error(self, f"has {len(wanted)} formats for {len(self.values)} values")
        if len(wanted) > MAX_VALUES:
            raise op_error(self, f"prints {MAX_VALUES} values at most, not {len(wanted)}")
        for conversion, value in zip(wanted, self.values, strict=True):
            type_ = Float64Type() if conversion.is_float else (i32, i64)[conversion.bits == 64]
            if value.type != type_:
                raise op_error(self, f"prints {type_} by '{conversion.text}', not {value.type}")
