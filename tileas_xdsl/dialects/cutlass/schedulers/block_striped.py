"""Block-striped accesses: thread i of T has the pieces i, T + i, 2T + i, ... of an array.

A piece is `width` elements, which one access moves.  Source: CUTLASS include/cutlass/
block_striped.h, BlockStriped and BlockStripedReduce.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import AT_LEAST_1, number_among
from tileas_xdsl.dialects.cute.base.checks import pointer_to
from tileas_xdsl.dialects.cute.base.operands import has_static_shape
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.cute_nvgpu.threads.atomics import has_update
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "BlockStripedLoadAddOp",
    "BlockStripedLoadOp",
    "BlockStripedOp",
    "BlockStripedReduceOp",
    "BlockStripedStoreOp",
]

WIDEST = 16
"""Bytes that one access moves at most."""

SMALLEST_BITS = 16
"""Of an element."""

REDUCTIONS = ("add", "max")

_NUMBER = IntegerAttr.constr(i32)


def registers_of(op: Operation, data: SSAValue) -> MemRefType:
    """The type of the registers that a thread has of the array; refuses what else is given."""
    type_ = data.type
    if not isinstance(type_, MemRefType) or type_.space is not AddressSpace.RMEM:
        raise op_error(op, f"moves a view of rmem, but got {type_}")
    if not has_static_shape(type_.layout):
        raise op_error(op, f"moves what is known before run time, not {type_}")
    bits = element_bits(type_.element_type)
    if bits is None or bits < SMALLEST_BITS:
        raise op_error(op, f"moves elements of {SMALLEST_BITS} bits or more, not {type_}")
    return type_


def check_pieces(op: Operation, data: MemRefType, array: SSAValue, width: int) -> None:
    """Registers are whole pieces of an array, each of which one access moves."""
    elements, bits = int(data.layout.size()), element_bits(data.element_type)
    assert bits is not None
    if width < 1 or elements % width:
        raise op_error(op, f"moves {elements} elements in pieces of {width}")
    size = width * bits // 8
    if size > WIDEST or size & (size - 1):
        raise op_error(op, f"moves 2, 4, 8 or {WIDEST} bytes at once, not {size}")
    type_ = pointer_to(op, array, "array", AddressSpace.GMEM, size)
    if type_.element_type != data.element_type:
        raise op_error(op, f"moves {data.element_type}, but the array is {type_}")


class BlockStripedOp(FieldsOp):
    """Base: all of `threads` threads execute it, each with its own number."""

    data: fields.Operand = fields.operand()
    array: fields.Operand = fields.operand()
    thread: fields.Operand = fields.operand(i32)
    threads: fields.Int = fields.prop(
        number_among(i32, AT_LEAST_1, "is of 1 thread or more, not {given}"), kw_only=True
    )
    width: fields.Int = fields.prop(_NUMBER, default=1, kw_only=True)

    assembly_format = (
        "$data `,` $array `thread` $thread `of` $threads `width` $width attr-dict"
        " `:` type($data) `,` type($array)"
    )

    @property
    def elements(self) -> int:
        """How many elements each thread has."""
        type_ = self.data.type
        assert isinstance(type_, MemRefType)
        return int(type_.layout.size())

    def verify_(self) -> None:
        data = registers_of(self, self.data)
        check_pieces(self, data, self.array, value_of(self.width))


@irdl_op_definition
class BlockStripedLoadOp(BlockStripedOp):
    """Reads the elements of a thread into its registers."""

    name = "cutlass.block_striped.load"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class BlockStripedLoadAddOp(BlockStripedOp):
    """Adds the elements of a thread to its registers."""

    name = "cutlass.block_striped.load_add"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class BlockStripedStoreOp(BlockStripedOp):
    """Writes the registers of a thread to its elements."""

    name = "cutlass.block_striped.store"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class BlockStripedReduceOp(BlockStripedOp):
    """Updates each element of a thread by its register, atomically on the device."""

    name = "cutlass.block_striped.reduce"

    kind: fields.String = fields.prop(StringAttr, default="add", kw_only=True)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = f"$kind {BlockStripedOp.assembly_format}"

    def verify_(self) -> None:
        super().verify_()
        kind = self.kind.data
        if kind not in REDUCTIONS:
            raise op_error(self, f"updates by {' or '.join(REDUCTIONS)}, not by {kind}")
        array = self.array.type
        assert isinstance(array, PtrType)
        if not has_update(kind, array.element_type):
            raise op_error(self, f"has no {kind} of {array.element_type}")
