"""What the threads of a warp do together: matrices in registers, shuffles, reductions.

Also the bytes of two words in another order, which matrices of pairs of bytes need.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, f32, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import keyword_among, number_among
from tileas_xdsl.dialects.cute.base.checks import fragment, one_of, pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import stored_bytes
from tileas_xdsl.dialects.cute_nvgpu.operands import (
    Value,
    keyword,
    optional_number,
    value_of,
)
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["LdsmOp", "PrmtOp", "ReduxOp", "ShuffleOp", "StsmOp", "VoteOp"]

ROW_BYTES = 16
"""A row of an 8x8 matrix of 16-bit elements."""

MATRICES = (1, 2, 4)

SHUFFLE_MODES: Mapping[str, int] = {"bfly": 31, "down": 31, "idx": 31, "up": 0}
"""How `shfl.sync` finds its source lane, and its clamp for the whole warp."""

VOTES = ("all", "any")
"""What `vote.sync` tells."""

REDUCTIONS: Mapping[str, str] = {
    "add": "add.s32",
    "min": "min.s32",
    "max": "max.s32",
    "umin": "min.u32",
    "umax": "max.u32",
    "and": "and.b32",
    "or": "or.b32",
    "xor": "xor.b32",
}
"""What `redux.sync` does, and its form (PTX ISA 9.7.13.10)."""


def _check_matrices(op: Operation, ptr: SSAValue, count: int, value: Attribute) -> None:
    pointer_to(op, ptr, "rows", AddressSpace.SMEM, ROW_BYTES)
    if count not in MATRICES:
        raise op_error(op, f"moves 1, 2 or 4 matrices, not {count}")
    fragment(op, value, "matrices")
    if stored_bytes(value) != 4 * count:
        raise op_error(op, f"holds {count} matrices in {count} 32-bit registers, not in {value}")


@irdl_op_definition
class StsmOp(FieldsOp):
    """Writes 8x8 matrices of 16-bit elements: lane l gives the address of row l%8 of matrix l/8."""

    name = "cute_nvgpu.arch.copy.stsm"

    ptr: fields.Operand = fields.operand(position=1)
    value: fields.Operand = fields.operand()
    num_matrices: fields.Int = fields.prop(IntegerAttr.constr(i32), default=4)
    transpose: fields.Flag = fields.opt_prop(UnitAttr, default=False)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $ptr `matrices` $num_matrices (`transpose` $transpose^)? attr-dict"
        " `:` type($value) `,` type($ptr)"
    )

    def verify_(self) -> None:
        _check_matrices(self, self.ptr, value_of(self.num_matrices), self.value.type)


@irdl_op_definition
class LdsmOp(FieldsOp):
    """Reads 8x8 matrices of 16-bit elements: lane l gives the address of row l%8 of matrix l/8."""

    name = "cute_nvgpu.arch.copy.ldsm"

    ptr: fields.Operand = fields.operand()
    result: fields.Result[Attribute] = fields.typed_result()
    num_matrices: fields.Int = fields.prop(IntegerAttr.constr(i32), default=4)
    transpose: fields.Flag = fields.opt_prop(UnitAttr, default=False)

    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$ptr `matrices` $num_matrices (`transpose` $transpose^)? attr-dict"
        " `:` type($ptr) `->` type($result)"
    )

    def verify_(self) -> None:
        _check_matrices(self, self.ptr, value_of(self.num_matrices), self.result.type)


@irdl_op_definition
class ShuffleOp(FieldsOp):
    """The value of another lane of the warp, all of which execute it.

    `bfly`: lane xor n, `idx`: lane n, `up`: lane - n, `down`: lane + n; a lane that would read
    outside of the warp reads itself.
    """

    name = "cute_nvgpu.arch.shuffle"

    value = operand_def()
    lane = opt_operand_def(i32)
    offset = opt_prop_def(number_among(i32, range(32), "names lane 0 to 31 of a warp, not {given}"))
    mode = prop_def(keyword_among(SHUFFLE_MODES, "shuffles {known}, not {given}"))
    result = result_def()

    assembly_format = (
        "$mode $value (`by` $offset^)? (`lane` $lane^)? attr-dict"
        " `:` type($value) `->` type($result)"
    )

    def __init__(self, value: Value, lane: int | Value, mode: str = "bfly") -> None:
        static, dynamic = (lane, None) if isinstance(lane, int) else (None, lane)
        super().__init__(
            operands=[value, dynamic],
            result_types=[SSAValue.get(value).type],
            properties={"offset": optional_number(static), "mode": keyword(mode)},
        )

    def verify_(self) -> None:
        one_of(self, self.value, "value", (i32, f32))
        if self.result.type != self.value.type:
            raise op_error(self, f"gives {self.value.type}, not {self.result.type}")
        if (self.offset is None) == (self.lane is None):
            raise op_error(self, "names the lane by a number or by a value")


@irdl_op_definition
class ReduxOp(FieldsOp):
    """Combines a 32-bit integer of all lanes of the warp; every lane gets the result."""

    name = "cute_nvgpu.arch.redux"

    value: fields.Operand = fields.operand(i32)
    kind: fields.String = fields.prop(
        keyword_among(REDUCTIONS, "reduces by {known}, not by {given}"), default="add"
    )
    result = result_def(i32)

    assembly_format = "$kind $value attr-dict"


@irdl_op_definition
class VoteOp(FieldsOp):
    """Whether a condition holds in all lanes of the warp, or in any; every lane gets the result."""

    name = "cute_nvgpu.arch.vote"

    value: fields.Operand = fields.operand(i1)
    kind: fields.String = fields.prop(
        keyword_among(VOTES, "votes by {known}, not by {given}"), default="all"
    )
    result = result_def(i1)

    assembly_format = "$kind $value attr-dict"


@irdl_op_definition
class PrmtOp(FieldsOp):
    """Four bytes of two words: digit n of the selector picks byte n, 0 to 3 of `a`, 4 to 7 of `b`.

    Source: PTX ISA 9.7.9.7, prmt.
    """

    name = "cute_nvgpu.arch.prmt"

    a: fields.Operand = fields.operand(i32)
    b: fields.Operand = fields.operand(i32)
    selector: fields.Operand = fields.operand(i32)
    result = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "$a `,` $b `by` $selector attr-dict"
