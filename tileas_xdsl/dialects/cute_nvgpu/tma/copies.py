"""Bulk copies through tensor maps (PTX ISA 9.7.9.27)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, UnitAttr, i1, i16, i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import AT_LEAST_0, keyword_among, number_among
from tileas_xdsl.dialects.cute.base.checks import pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import check_barrier
from tileas_xdsl.dialects.cute_nvgpu.types import TmaDescriptorTiledType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "BulkCommitOp",
    "BulkWaitOp",
    "PrefetchTmaDescOp",
    "TmaLoadOp",
    "TmaReduceOp",
    "TmaStoreOp",
]

BULK_ALIGNMENT = 128
"""Alignment in bytes of what tensor maps copy to and from in shared memory."""

RANKS = range(1, 6)

LOAD_MODES = ("gather4", "im2col")
STORE_MODES = ("scatter4", "im2col")
"""What copies move instead of boxes: four rows by their numbers, or a column of pixels."""

ROW_MODES = ("gather4", "scatter4")
ROW_COORDINATES = 5
"""A column and four rows."""

PIXEL_RANKS = range(3, 6)

REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
"""What `cp.reduce.async.bulk.tensor` does, in the order of the reduction kinds."""

_DESC = TmaDescriptorTiledType()


def check_copy(
    op: Operation,
    smem: SSAValue,
    coords: Sequence[SSAValue],
    mode: StringAttr | None = None,
    modes: Sequence[str] = (),
) -> str:
    """The mode of the copy, empty for boxes."""
    pointer_to(op, smem, "tile", AddressSpace.SMEM, BULK_ALIGNMENT)
    if len(coords) not in RANKS:
        raise op_error(op, f"takes 1 to 5 coordinates, not {len(coords)}")
    if mode is None:
        return ""
    if mode.data not in modes:
        raise op_error(op, f"has mode {' or '.join(modes)}, not {mode.data}")
    if mode.data in ROW_MODES and len(coords) != ROW_COORDINATES:
        raise op_error(op, f"takes a column and four rows in mode {mode.data}, not {len(coords)}")
    if mode.data == "im2col" and len(coords) not in PIXEL_RANKS:
        raise op_error(op, f"takes 3 to 5 coordinates in mode im2col, not {len(coords)}")
    return mode.data


@irdl_op_definition
class TmaLoadOp(FieldsOp):
    """Starts the copy of one box to shared memory; its bytes complete at the mbarrier.

    Coordinates count elements, innermost first.  With a mask the box goes to every block of the
    cluster whose bit is set, at the same place, and completes at the same mbarrier of each.  In
    mode gather4 the coordinates are a column and four rows; in mode im2col offsets are added to
    those of the pixels, W first.
    """

    name = "cute_nvgpu.arch.copy.SM90.tma_load"

    desc: fields.Operand = fields.operand(_DESC)
    smem: fields.Operand = fields.operand()
    mbar: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands(i32)
    offsets: fields.Operands = fields.operands(i16, default=(), kw_only=True)
    multicast_mask: fields.OptOperand = fields.opt_operand(i16, default=None)
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)
    mode: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)

    assembly_format = (
        "(`mode` $mode^)? $desc `[` $coords `]` (`offsets` `[` $offsets^ `]`)? `to` $smem `,` $mbar"
        " (`multicast` $multicast_mask^)? (`if` $pred^)? attr-dict `:` type($smem) `,` type($mbar)"
    )

    def verify_(self) -> None:
        mode = check_copy(self, self.smem, self.coords, self.mode, LOAD_MODES)
        check_barrier(self, self.mbar)
        wanted = len(self.coords) - 2 if mode == "im2col" else 0
        if len(self.offsets) != wanted:
            raise op_error(self, f"takes {wanted} offsets, not {len(self.offsets)}")


@irdl_op_definition
class TmaStoreOp(FieldsOp):
    """Starts the copy of one box from shared memory; the bulk group counts it.

    In mode scatter4 the coordinates are a column and four rows.
    """

    name = "cute_nvgpu.arch.copy.SM90.tma_store"

    desc: fields.Operand = fields.operand(_DESC)
    smem: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands(i32)
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)
    mode: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)

    assembly_format = (
        "(`mode` $mode^)? $desc `[` $coords `]` `from` $smem (`if` $pred^)? attr-dict"
        " `:` type($smem)"
    )

    def verify_(self) -> None:
        check_copy(self, self.smem, self.coords, self.mode, STORE_MODES)


@irdl_op_definition
class TmaReduceOp(FieldsOp):
    """Like a store, but combines with what is in global memory."""

    name = "cute_nvgpu.arch.copy.SM90.tma_reduce"

    desc: fields.Operand = fields.operand(_DESC)
    smem: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands(i32)
    kind: fields.String = fields.prop(
        keyword_among(REDUCTIONS, "reduces by {known}, not by {given}"), default="add"
    )
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = (
        "$kind `,` $desc `[` $coords `]` `from` $smem (`if` $pred^)? attr-dict `:` type($smem)"
    )

    def verify_(self) -> None:
        check_copy(self, self.smem, self.coords)


@irdl_op_definition
class BulkCommitOp(FieldsOp):
    """Closes the group of bulk copies that this thread started since the last one."""

    name = "cute_nvgpu.arch.bulk_commit_group"

    pred: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = "(`if` $pred^)? attr-dict"


@irdl_op_definition
class BulkWaitOp(FieldsOp):
    """Waits until at most `count` groups of this thread are open; with `read`, still read."""

    name = "cute_nvgpu.arch.bulk_wait_group"

    count: fields.Int = fields.prop(
        number_among(i32, AT_LEAST_0, "leaves 0 groups or more open, not {given}")
    )
    read: fields.Flag = fields.opt_prop(UnitAttr, default=False)
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = "$count (`read` $read^)? (`if` $pred^)? attr-dict"


@irdl_op_definition
class PrefetchTmaDescOp(FieldsOp):
    """Brings a tensor map into the descriptor cache."""

    name = "cute_nvgpu.arch.prefetch_tma_desc"

    desc: fields.Operand = fields.operand(_DESC)
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = "$desc (`if` $pred^)? attr-dict"
