"""Block-scaled products of Blackwell, and the copies that bring their scales to tensor memory.

Sources: PTX ISA 9.7.16, tcgen05.cp and tcgen05.mma with `.block_scale`.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i1, i32
from xdsl.ir import Attribute

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute_nvgpu.mma.tcgen05 import FORMATS
from tileas_xdsl.dialects.cute_nvgpu.mma.tcgen05_rules import ONE_OR_TWO_BLOCKS, check_tensor_target
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.cute_nvgpu.types import SmemDescType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import TMEM_COPIES
from tileas_xdsl.target.mma.block_scales import SCALE_VECTORS, scale_vector
from tileas_xdsl.target.mma.instruction_descriptor import BlockScaledDescriptor
from tileas_xdsl.target.mma.mma_kinds import KINDS

__all__ = ["CopyToTmemOp", "UmmaBlockScaledOp"]

_DESC = SmemDescType()
_NUMBER = IntegerAttr.constr(i32)

BROADCASTS: Mapping[str, str] = {
    "none": "", "lw_0213": "warpx2::02_13", "lw_0123": "warpx2::01_23", "x4": "warpx4",
}  # fmt: skip
"""How several warps get what is copied, and what PTX calls that."""

ALL_FORMATS: Mapping[str, str] = {
    **FORMATS, "e2m3": "f6e2m3", "e3m2": "f6e3m2", "e2m1": "f4e2m1",
}  # fmt: skip
"""What descriptors call the elements that have another name in PTX."""


@irdl_op_definition
class CopyToTmemOp(FieldsOp):
    """One thread starts the copy of a matrix of shared memory to tensor memory.

    `lanes` rows of `bits` bits each, by the descriptor of the matrix; with `x4` all four quarters
    of the lanes get the same.  Products that the thread starts later find it there.
    """

    name = "cute_nvgpu.arch.copy.SM100.copy_s2t"

    source: fields.Operand = fields.operand(_DESC)
    address: fields.Operand = fields.operand(i32)
    lanes: fields.Int = fields.prop(_NUMBER, default=32)
    bits: fields.Int = fields.prop(_NUMBER, default=128)
    broadcast: fields.String = fields.prop(StringAttr, default="x4")
    num_cta: fields.Int = fields.prop(ONE_OR_TWO_BLOCKS, default=1)

    assembly_format = (
        "$source `,` $address `lanes` $lanes `bits` $bits `broadcast` $broadcast"
        " `blocks` $num_cta attr-dict"
    )

    @property
    def shape(self) -> str:
        """The shape as PTX writes it."""
        return f"{value_of(self.lanes)}x{value_of(self.bits)}b"

    @property
    def multicast(self) -> str:
        """The broadcast as PTX writes it; empty for none."""
        return BROADCASTS[self.broadcast.data]

    def verify_(self) -> None:
        if self.shape not in TMEM_COPIES:
            raise op_error(self, f"copies {', '.join(TMEM_COPIES)}, not {self.shape}")
        known = [name for name, ptx in BROADCASTS.items() if ptx in TMEM_COPIES[self.shape]]
        if self.broadcast.data not in known:
            allowed = " or ".join(known)
            raise op_error(
                self, f"broadcasts {self.shape} by {allowed}, not by {self.broadcast.data}"
            )


@irdl_op_definition
class UmmaBlockScaledOp(FieldsOp):
    """One thread starts `D = (A * SFA) * (B * SFB) + D`, or without `+ D`.

    A and B are K-major, by descriptors; the scales begin in lane 0 at addresses of tensor memory,
    `a_scale_id` and `b_scale_id` bytes into their columns.  D has f32 elements.
    `kind` is mxf8f6f4, mxf4 or mxf4nvf4; `scale_vec` 1X, 2X or 4X; `sf_type` ue8m0 or ue4m3.
    """

    name = "cute_nvgpu.arch.mma.SM100.umma_block_scaled"

    d: fields.Operand = fields.operand(i32)
    a: fields.Operand = fields.operand(_DESC)
    b: fields.Operand = fields.operand(_DESC)
    sf_a: fields.Operand = fields.operand(i32)
    sf_b: fields.Operand = fields.operand(i32)
    accumulate: fields.Operand = fields.operand(i1)
    shape: fields.Array = fields.prop(DenseArrayBase.constr(i32), kw_only=True)
    kind: fields.String = fields.prop(StringAttr, kw_only=True)
    scale_vec: fields.String = fields.prop(StringAttr, kw_only=True)
    a_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    b_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    sf_type: fields.String = fields.prop(StringAttr, kw_only=True)
    a_scale_id: fields.Int = fields.prop(_NUMBER, default=0, kw_only=True)
    b_scale_id: fields.Int = fields.prop(_NUMBER, default=0, kw_only=True)
    num_cta: fields.Int = fields.prop(ONE_OR_TWO_BLOCKS, default=1, kw_only=True)

    assembly_format = (
        "$a `,` $b `,` $d `scales` $sf_a `[` $a_scale_id `]` `,` $sf_b `[` $b_scale_id `]`"
        " `accumulate` $accumulate `shape` $shape `kind` $kind `scale_vec` $scale_vec"
        " `elements` $a_type `,` $b_type `,` $sf_type `blocks` $num_cta attr-dict"
    )

    @property
    def scale_ids(self) -> tuple[int, int]:
        """The bytes of a column at which the scales of a row of A and of B begin."""
        return value_of(self.a_scale_id), value_of(self.b_scale_id)

    def descriptor(self) -> int:
        """The instruction descriptor; raises `TargetError` for what the kind does not have."""
        m, n, _ = (int(extent) for extent in self.shape.get_values())
        a, b = (ALL_FORMATS.get(t.data, t.data) for t in (self.a_type, self.b_type))
        a_id, b_id = self.scale_ids
        return BlockScaledDescriptor(
            self.kind.data, a, b, m, n, scale=self.sf_type.data, a_scale_id=a_id, b_scale_id=b_id,
            group=str(value_of(self.num_cta)),
        ).encode()  # fmt: skip

    def verify_(self) -> None:
        check_tensor_target(self, "mma")
        kind, shape = self.kind.data, tuple(self.shape.get_values())
        if kind not in SCALE_VECTORS:
            raise op_error(self, f"is of kind {', '.join(SCALE_VECTORS)}, not {kind}")
        if len(shape) != 3 or shape[2] != KINDS[kind].k:
            listed = " x ".join(map(str, shape))
            raise op_error(self, f"has shape M x N x {KINDS[kind].k} for {kind}, not {listed}")
        try:
            scale_vector(kind, self.scale_vec.data, self.sf_type.data, *self.scale_ids)
            self.descriptor()
        except TargetError as error:
            raise op_error(self, str(error)) from None
