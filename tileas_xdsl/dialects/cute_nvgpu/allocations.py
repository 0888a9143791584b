"""Memory that the text of a kernel takes by the number of elements: shared memory and registers.

`convert-cute-to-nvgpu` places them; what follows has addresses and fragments only.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import MemoryAllocEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["AllocRmemOp", "AllocSmemOp"]


@irdl_op_definition
class AllocSmemOp(FieldsOp):
    """`input` elements of shared memory, aligned as the pointer says."""

    name = "cute_nvgpu.arch.alloc_smem"

    input: fields.Int = fields.prop(IntegerAttr.constr(i32), alias="count")
    result: fields.Result[PtrType] = fields.typed_result(PtrType)

    traits = traits_def(MemoryAllocEffect())
    assembly_format = "$input attr-dict `->` type($result)"

    @property
    def count(self) -> int:
        """How many elements."""
        return value_of(self.input)

    def verify_(self) -> None:
        if self.result.type.space is not AddressSpace.SMEM:
            raise op_error(self, f"gives a pointer to smem, not {self.result.type}")
        if self.count < 1:
            raise op_error(self, f"takes 1 element or more, not {self.count}")


@irdl_op_definition
class AllocRmemOp(FieldsOp):
    """Registers for as many elements as the tuple, which is known, says."""

    name = "cute_nvgpu.arch.alloc_rmem"

    input: fields.Operand = fields.operand(IntTupleType)
    result: fields.Result[PtrType] = fields.typed_result(PtrType)

    traits = traits_def(MemoryAllocEffect())
    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"

    @property
    def count(self) -> int:
        """How many elements."""
        type_ = SSAValue.get(self.input).type
        known = type_.data if isinstance(type_, IntTupleType) else None
        if not isinstance(known, int) or known < 1:
            raise op_error(self, f"takes a known number of registers, at least 1, not {type_}")
        return known

    def verify_(self) -> None:
        if self.result.type.space is not AddressSpace.RMEM:
            raise op_error(self, f"gives a pointer to rmem, not {self.result.type}")
        _ = self.count
