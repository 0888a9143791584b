"""Bulk copies through tensor maps (PTX ISA 9.7.9.27)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i1, i16, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.checks import pointer_to
from tileas_xdsl.dialects.cute.spaces import AddressSpace
from tileas_xdsl.dialects.cute_nvgpu.barriers import check_barrier
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, flag, number, value_of, word
from tileas_xdsl.dialects.cute_nvgpu.types import TmaDescriptorTiledType

BULK_ALIGNMENT = 128
"""Alignment in bytes of what tensor maps copy to and from in shared memory."""

RANKS = range(1, 6)

REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
"""What `cp.reduce.async.bulk.tensor` does, in the order of the reduction kinds."""

_DESC = TmaDescriptorTiledType()


def check_copy(op: Operation, smem: SSAValue, coords: Sequence[SSAValue]) -> None:
    pointer_to(op, smem, "tile", AddressSpace.SMEM, BULK_ALIGNMENT)
    if len(coords) not in RANKS:
        raise op_error(op, f"takes 1 to 5 coordinates, not {len(coords)}")


@irdl_op_definition
class TmaLoadOp(IRDLOperation):
    """Starts the copy of one box to shared memory; its bytes complete at the mbarrier.

    Coordinates count elements, innermost first.  With a mask the box goes to every block of the
    cluster whose bit is set, at the same place, and completes at the same mbarrier of each.
    """

    name = "cute_nvgpu.arch.copy.SM90.tma_load"

    desc = operand_def(_DESC)
    smem = operand_def()
    mbar = operand_def()
    coords = var_operand_def(i32)
    multicast_mask = opt_operand_def(i16)
    pred = opt_operand_def(i1)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$desc `[` $coords `]` `to` $smem `,` $mbar (`multicast` $multicast_mask^)? (`if` $pred^)?"
        " attr-dict `:` type($smem) `,` type($mbar)"
    )

    def __init__(
        self,
        desc: Value,
        smem: Value,
        mbar: Value,
        coords: Sequence[Value],
        multicast_mask: Value | None = None,
        pred: Value | None = None,
    ) -> None:
        super().__init__(operands=[desc, smem, mbar, coords, multicast_mask, pred])

    def verify_(self) -> None:
        check_copy(self, self.smem, self.coords)
        check_barrier(self, self.mbar)


@irdl_op_definition
class TmaStoreOp(IRDLOperation):
    """Starts the copy of one box from shared memory; the bulk group counts it."""

    name = "cute_nvgpu.arch.copy.SM90.tma_store"

    desc = operand_def(_DESC)
    smem = operand_def()
    coords = var_operand_def(i32)
    pred = opt_operand_def(i1)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "$desc `[` $coords `]` `from` $smem (`if` $pred^)? attr-dict `:` type($smem)"

    def __init__(
        self, desc: Value, smem: Value, coords: Sequence[Value], pred: Value | None = None
    ) -> None:
        super().__init__(operands=[desc, smem, coords, pred])

    def verify_(self) -> None:
        check_copy(self, self.smem, self.coords)


@irdl_op_definition
class TmaReduceOp(IRDLOperation):
    """Like a store, but combines with what is in global memory."""

    name = "cute_nvgpu.arch.copy.SM90.tma_reduce"

    desc = operand_def(_DESC)
    smem = operand_def()
    coords = var_operand_def(i32)
    pred = opt_operand_def(i1)
    kind = prop_def(StringAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$kind `,` $desc `[` $coords `]` `from` $smem (`if` $pred^)? attr-dict `:` type($smem)"
    )

    def __init__(
        self,
        desc: Value,
        smem: Value,
        coords: Sequence[Value],
        kind: str = "add",
        pred: Value | None = None,
    ) -> None:
        super().__init__(operands=[desc, smem, coords, pred], properties={"kind": word(kind)})

    def verify_(self) -> None:
        check_copy(self, self.smem, self.coords)
        if self.kind.data not in REDUCTIONS:
            raise op_error(self, f"reduces by {', '.join(REDUCTIONS)}, not by {self.kind.data}")


@irdl_op_definition
class BulkCommitOp(IRDLOperation):
    """Closes the group of bulk copies that this thread started since the last one."""

    name = "cute_nvgpu.arch.bulk_commit_group"

    pred = opt_operand_def(i1)

    assembly_format = "(`if` $pred^)? attr-dict"

    def __init__(self, pred: Value | None = None) -> None:
        super().__init__(operands=[pred])


@irdl_op_definition
class BulkWaitOp(IRDLOperation):
    """Waits until at most `count` groups of this thread are open; with `read`, still read."""

    name = "cute_nvgpu.arch.bulk_wait_group"

    count = prop_def(IntegerAttr.constr(i32))
    read = opt_prop_def(UnitAttr)
    pred = opt_operand_def(i1)

    assembly_format = "$count (`read` $read^)? (`if` $pred^)? attr-dict"

    def __init__(self, count: int, read: bool = False, pred: Value | None = None) -> None:
        super().__init__(operands=[pred], properties={"count": number(count), "read": flag(read)})

    def verify_(self) -> None:
        if value_of(self.count) < 0:
            raise op_error(self, f"leaves 0 groups or more open, not {value_of(self.count)}")


@irdl_op_definition
class PrefetchTmaDescOp(IRDLOperation):
    """Brings a tensor map into the descriptor cache."""

    name = "cute_nvgpu.arch.prefetch_tma_desc"

    desc = operand_def(_DESC)
    pred = opt_operand_def(i1)

    assembly_format = "$desc (`if` $pred^)? attr-dict"

    def __init__(self, desc: Value, pred: Value | None = None) -> None:
        super().__init__(operands=[desc, pred])


OPERATIONS = (BulkCommitOp, BulkWaitOp, PrefetchTmaDescOp, TmaLoadOp, TmaReduceOp, TmaStoreOp)
