"""Fragments of one thread, `vector<NxT>`: put together from elements, cut and joined.

The vector dialect of xDSL has no operation with these meanings.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, VectorType, i1, i32
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import fragment
from tileas_xdsl.dialects.cute.memory.pointers import Value
from tileas_xdsl.dialects.cute.types.elements import as_vector, element_of
from tileas_xdsl.dialects.field_init import as_value, initialise
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.interned import i32_attr, vector_of
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["MakeFragmentOp", "SelectFragmentOp", "SliceFragmentOp", "UndefFragmentOp"]


def _length(type_: Attribute) -> int:
    vector = as_vector(type_)
    return 1 if vector is None else vector.get_shape()[0]


@irdl_op_definition
class MakeFragmentOp(IRDLOperation):
    """A fragment of elements and fragments, one after the other."""

    name = "cute.fragment.make"

    parts = var_operand_def()
    result = result_def()

    traits = traits_def(Pure())
    assembly_format = "$parts attr-dict `:` type($parts) `->` type($result)"

    def __init__(self, parts: Sequence[Value]) -> None:
        values = [as_value(part) for part in parts]
        count = sum(_length(value.type) for value in values)
        element = element_of(values[0].type) if values else i32
        initialise(self, values, [vector_of(element, count)], {})

    def verify_(self) -> None:
        result = fragment(self, self.result.type, "result")
        for part in self.parts:
            if element_of(part.type) != result.get_element_type():
                raise op_error(
                    self, f"puts {result.get_element_type()} together, but got {part.type}"
                )
            if as_vector(part.type) is not None:
                fragment(self, part.type, "part")
        count = sum(_length(part.type) for part in self.parts)
        if count != result.get_shape()[0]:
            raise op_error(self, f"gives {count} elements, not {result}")


@irdl_op_definition
class SliceFragmentOp(IRDLOperation):
    """Consecutive elements of a fragment, from `offset` on, as many as the result has."""

    name = "cute.fragment.slice"

    source = operand_def()
    offset = prop_def(IntegerAttr.constr(i32))
    result = result_def()

    traits = traits_def(Pure())
    assembly_format = "$source `[` $offset `]` attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: Value, offset: int, size: int) -> None:
        source = as_value(source)
        result = vector_of(element_of(source.type), size)
        initialise(self, [source], [result], {"offset": i32_attr(offset)})

    def verify_(self) -> None:
        source = fragment(self, self.source.type, "source")
        result = fragment(self, self.result.type, "result")
        if source.get_element_type() != result.get_element_type():
            raise op_error(self, f"cuts {source}, and cannot turn it into {result}")
        first, size, count = self.offset.value.data, result.get_shape()[0], source.get_shape()[0]
        if first < 0 or first + size > count:
            raise op_error(self, f"takes elements {first} to {first + size - 1} of {count}")


@irdl_op_definition
class UndefFragmentOp(FieldsOp):
    """Registers that hold nothing yet: an accumulator whose first product does not add to it."""

    name = "cute.fragment.undef"

    result: fields.Result[Attribute] = fields.typed_result()

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def verify_(self) -> None:
        fragment(self, self.result.type, "result")


@irdl_op_definition
class SelectFragmentOp(FieldsOp):
    """Element by element: that of `lhs` where the mask holds, else that of `rhs`.

    `arith.select` takes one condition for all elements only.
    """

    name = "cute.fragment.select"

    mask: fields.Operand = fields.operand()
    lhs: fields.Operand = fields.operand()
    rhs: fields.Operand = fields.operand()
    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("lhs"))

    traits = traits_def(Pure())
    assembly_format = (
        "$mask `,` $lhs `,` $rhs attr-dict"
        " `:` type($mask) `,` type($lhs) `,` type($rhs) `->` type($result)"
    )

    def verify_(self) -> None:
        result = fragment(self, self.result.type, "result")
        if self.lhs.type != result or self.rhs.type != result:
            raise op_error(self, f"selects {result}, but got {self.lhs.type} and {self.rhs.type}")
        expected = VectorType(i1, result.shape)
        if self.mask.type != expected:
            raise op_error(self, f"expects a mask {expected}, but got {self.mask.type}")
