"""Products of Blackwell into tensor memory, and how registers reach that memory.

An address of tensor memory is an `i32`: lane in its upper half, column in its lower one.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FixedBitwidthType,
    IntegerAttr,
    StringAttr,
    VectorType,
    i1,
    i16,
    i32,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    result_def,
)

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import keyword_among, number_among
from tileas_xdsl.dialects.cute.base.checks import fragment, pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute_nvgpu.mma.tcgen05_rules import ONE_OR_TWO_BLOCKS, check_tensor_target
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma import DescriptorOp
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, keyword, number, value_of
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import check_barrier
from tileas_xdsl.dialects.cute_nvgpu.tma.copies import check_copy
from tileas_xdsl.dialects.cute_nvgpu.types import SmemDescType, TmaDescriptorTiledType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import (
    TMEM_COLUMNS,
    TMEM_MAX_REGISTERS,
    TMEM_REGISTERS,
    TMEM_REPEATS,
)
from tileas_xdsl.target.mma.canonical import INSTRUCTION_K_BITS
from tileas_xdsl.target.mma.instruction_descriptor import InstructionDescriptor

__all__ = [
    "AllocTmemOp",
    "DeallocTmemOp",
    "MakeUmmaSmemDescOp",
    "PairTmaLoadOp",
    "RelinquishTmemOp",
    "RetrieveTmemPtrOp",
    "TmemFenceOp",
    "TmemLoadOp",
    "TmemStoreOp",
    "TmemWaitOp",
    "UmmaCommitOp",
    "UmmaOp",
]

_DESC = SmemDescType()
_NUMBER = IntegerAttr.constr(i32)

KINDS = {
    "f16": "f16", "bf16": "f16", "tf32": "tf32", "e4m3": "f8f6f4", "e5m2": "f8f6f4",
    "s8": "i8", "u8": "i8",
}  # fmt: skip
"""By the elements of A, the kind of the instruction."""

FORMATS = {"e4m3": "f8e4m3", "e5m2": "f8e5m2", "i32": "s32"}
"""What descriptors call the elements that have another name in PTX."""

ELEMENT_BITS = {"f16": 16, "tf32": 32, "f8f6f4": 8, "i8": 8}
"""By kind, the bits of an element in shared memory."""

SIDES = ("before", "after")


_COLUMNS = number_among(i32, TMEM_COLUMNS, "has {known} columns, not {given}")


@irdl_op_definition
class AllocTmemOp(FieldsOp):
    """A whole warp takes columns of tensor memory; their address is written to shared memory."""

    name = "cute_nvgpu.arch.sm100.alloc_tmem"

    ptr: fields.Operand = fields.operand()
    columns: fields.Int = fields.prop(_COLUMNS)
    num_cta: fields.Int = fields.prop(ONE_OR_TWO_BLOCKS, default=1)

    assembly_format = "$ptr `,` $columns `blocks` $num_cta attr-dict `:` type($ptr)"

    def verify_(self) -> None:
        pointer_to(self, self.ptr, "place of the address", AddressSpace.SMEM, 4)


@irdl_op_definition
class DeallocTmemOp(FieldsOp):
    """A whole warp gives columns of tensor memory back, all of whose users are done."""

    name = "cute_nvgpu.arch.sm100.dealloc_tmem"

    address: fields.Operand = fields.operand(i32)
    columns: fields.Int = fields.prop(_COLUMNS)
    num_cta: fields.Int = fields.prop(ONE_OR_TWO_BLOCKS, default=1)

    assembly_format = "$address `,` $columns `blocks` $num_cta attr-dict"


@irdl_op_definition
class RelinquishTmemOp(FieldsOp):
    """The block allocates no more tensor memory, so that others may."""

    name = "cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit"

    num_cta: fields.Int = fields.prop(ONE_OR_TWO_BLOCKS, default=1)

    assembly_format = "`blocks` $num_cta attr-dict"


@irdl_op_definition
class RetrieveTmemPtrOp(FieldsOp):
    """The address that an allocation has written to shared memory."""

    name = "cute_nvgpu.arch.sm100.retrieve_tmem_ptr"

    ptr: fields.Operand = fields.operand()
    result = result_def(i32)

    assembly_format = "$ptr attr-dict `:` type($ptr)"

    def verify_(self) -> None:
        pointer_to(self, self.ptr, "place of the address", AddressSpace.SMEM, 4)


@irdl_op_definition
class TmemLoadOp(IRDLOperation):
    """Starts to load registers from the lanes of tensor memory that this warp reaches.

    The result may be read after a wait.  A warp reaches lanes `32 * (warp % 4)` to 31 more.
    """

    name = "cute_nvgpu.arch.copy.SM100.tmem_load"

    address = operand_def(i32)
    shape = prop_def(StringAttr)
    repeat = prop_def(_NUMBER)
    result = result_def()

    assembly_format = "$address `shape` $shape `repeat` $repeat attr-dict `:` type($result)"

    def __init__(self, address: Value, element: Attribute, shape: str, repeat: int) -> None:
        count = repeat * TMEM_REGISTERS.get(shape, 1)
        super().__init__(
            operands=[address],
            result_types=[VectorType(element, [count])],
            properties={"shape": keyword(shape), "repeat": number(repeat)},
        )

    def verify_(self) -> None:
        _check_move(self, self.shape.data, value_of(self.repeat), self.result.type)


@irdl_op_definition
class TmemStoreOp(FieldsOp):
    """Starts to store registers to the lanes of tensor memory that this warp reaches."""

    name = "cute_nvgpu.arch.copy.SM100.tmem_store"

    address: fields.Operand = fields.operand(i32)
    value: fields.Operand = fields.operand()
    shape: fields.String = fields.prop(StringAttr)
    repeat: fields.Int = fields.prop(_NUMBER)

    assembly_format = (
        "$value `,` $address `shape` $shape `repeat` $repeat attr-dict `:` type($value)"
    )

    def verify_(self) -> None:
        _check_move(self, self.shape.data, value_of(self.repeat), self.value.type)


def _check_move(op: Operation, shape: str, repeat: int, type_: Attribute) -> None:
    per = TMEM_REGISTERS.get(shape)
    if per is None:
        raise op_error(op, f"has a shape {', '.join(TMEM_REGISTERS)}, not {shape}")
    if repeat not in TMEM_REPEATS or per * repeat > TMEM_MAX_REGISTERS:
        raise op_error(op, f"has no form {shape}.x{repeat}")
    held = fragment(op, type_, "registers")
    element = held.get_element_type()
    if not isinstance(element, FixedBitwidthType) or element.bitwidth != WORD_BITS:
        raise op_error(op, f"moves elements of {WORD_BITS} bits, not {element}")
    if held.get_shape()[0] != per * repeat:
        raise op_error(op, f"{shape}.x{repeat} moves {per * repeat} registers, not {held}")


@irdl_op_definition
class TmemWaitOp(FieldsOp):
    """Waits for the loads, or the stores, of tensor memory that this warp has started.

    The results are the operands, which are there now.
    """

    name = "cute_nvgpu.arch.sm100.wait_tmem"

    access: fields.String = fields.prop(
        keyword_among(("load", "store"), "waits for a load or a store, not for a {given}")
    )
    values: fields.Operands = fields.operands(default=())
    outs: fields.Results = fields.typed_results(type=fields.types_of("values"))

    assembly_format = "$access (`,` $values^ `:` type($values))? attr-dict (`->` type($outs)^)?"

    def verify_(self) -> None:
        check_tensor_target(self, "wait")
        if [value.type for value in self.values] != [out.type for out in self.outs]:
            raise op_error(self, "gives back the values that it takes, with their types")


@irdl_op_definition
class TmemFenceOp(FieldsOp):
    """Orders accesses to tensor memory around a barrier: `before` it, or `after` it."""

    name = "cute_nvgpu.arch.sm100.fence_tmem"

    side: fields.String = fields.prop(
        keyword_among(SIDES, "is before or after a barrier, not {given}")
    )

    assembly_format = "$side attr-dict"


@irdl_op_definition
class MakeUmmaSmemDescOp(DescriptorOp):
    """The descriptor of an operand of `umma` that starts at `ptr`; as that of wgmma."""

    name = "cute_nvgpu.make_umma_smem_desc"


@irdl_op_definition
class UmmaOp(FieldsOp):
    """One thread starts `D = A * B + D` at address `d`, or `D = A * B` where `accumulate` is false.

    A and B are descriptors.  With two blocks each holds half of the rows of A and D, and half of
    the columns of B.
    """

    name = "cute_nvgpu.arch.mma.SM100.umma"

    d: fields.Operand = fields.operand(i32)
    a: fields.Operand = fields.operand(_DESC)
    b: fields.Operand = fields.operand(_DESC)
    accumulate: fields.Operand = fields.operand(i1)
    shape: fields.Array = fields.prop(DenseArrayBase.constr(i32), kw_only=True)
    a_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    b_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    d_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    a_major: fields.String = fields.prop(StringAttr, default="k", kw_only=True)
    b_major: fields.String = fields.prop(StringAttr, default="k", kw_only=True)
    num_cta: fields.Int = fields.prop(ONE_OR_TWO_BLOCKS, default=1, kw_only=True)

    assembly_format = (
        "$a `,` $b `,` $d `accumulate` $accumulate `shape` $shape `elements` $a_type `,` $b_type"
        " `,` $d_type `major` $a_major `,` $b_major `blocks` $num_cta attr-dict"
    )

    @property
    def kind(self) -> str:
        """The kind of the instruction; empty for elements that none multiplies."""
        return KINDS.get(self.a_type.data, "")

    def descriptor(self) -> int:
        """The instruction descriptor; raises `TargetError` for what the kind does not have."""
        m, n, _ = (int(extent) for extent in self.shape.get_values())
        a, b, d = (_format(name.data) for name in (self.a_type, self.b_type, self.d_type))
        a_major: Any = self.a_major.data
        b_major: Any = self.b_major.data
        group = str(value_of(self.num_cta))
        return InstructionDescriptor(
            self.kind, a, b, m, n, a_major, b_major, d=d, group=group
        ).encode()

    def verify_(self) -> None:
        check_tensor_target(self, "mma")
        if not self.kind:
            raise op_error(self, f"multiplies {', '.join(KINDS)}, not {self.a_type.data}")
        shape, k = tuple(self.shape.get_values()), INSTRUCTION_K_BITS // ELEMENT_BITS[self.kind]
        if len(shape) != 3 or shape[2] != k:
            listed = " x ".join(map(str, shape))
            raise op_error(self, f"has shape M x N x {k} for {self.a_type.data}, not {listed}")
        try:
            self.descriptor()
        except TargetError as error:
            raise op_error(self, str(error)) from None


def _format(name: str) -> str:
    return FORMATS.get(name, name)


@irdl_op_definition
class UmmaCommitOp(FieldsOp):
    """An arrival at an mbarrier when all products that this thread has started are done.

    With `mask`, at the same barrier of each block of the cluster whose bit is set.
    """

    name = "cute_nvgpu.arch.sm100.umma_commit"

    ptr: fields.Operand = fields.operand()
    mask: fields.OptOperand = fields.opt_operand(i16, default=None)
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)
    num_cta: fields.Int = fields.prop(ONE_OR_TWO_BLOCKS, default=1)

    assembly_format = (
        "$ptr (`mask` $mask^)? (`if` $pred^)? `blocks` $num_cta attr-dict `:` type($ptr)"
    )

    def verify_(self) -> None:
        check_barrier(self, self.ptr)


@irdl_op_definition
class PairTmaLoadOp(FieldsOp):
    """Starts the copy of one box to shared memory, for products of two blocks.

    The box is for this block; its bytes complete at the same mbarrier of the even block of the two.
    """

    name = "cute_nvgpu.arch.copy.SM100.tma_load"

    desc: fields.Operand = fields.operand(TmaDescriptorTiledType())
    smem: fields.Operand = fields.operand()
    mbar: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands(i32)
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = (
        "$desc `[` $coords `]` `to` $smem `,` $mbar (`if` $pred^)?"
        " attr-dict `:` type($smem) `,` type($mbar)"
    )

    def verify_(self) -> None:
        check_copy(self, self.smem, self.coords)
        check_barrier(self, self.mbar)
