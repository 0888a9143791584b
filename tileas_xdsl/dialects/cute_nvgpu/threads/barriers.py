"""mbarriers, barriers of blocks and clusters, fences."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, IntegerType, UnitAttr, i1, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    opt_operand_def,
    opt_prop_def,
    result_def,
)

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import keyword_among, number_among
from tileas_xdsl.dialects.cute.base.checks import pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute_nvgpu.operands import (
    Value,
    optional_number,
)
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout.units import WARP

__all__ = [
    "BarrierArriveOp",
    "BarrierOp",
    "ClusterArriveOp",
    "ClusterWaitOp",
    "FenceMbarrierInitOp",
    "FenceProxyAsyncOp",
    "MbarrierArriveExpectTxOp",
    "MbarrierArriveOp",
    "MbarrierInitOp",
    "MbarrierInvalOp",
    "MbarrierTryWaitOp",
    "MbarrierWaitOp",
    "SyncWarpOp",
]

TURN = "cute_nvgpu.turn"
"""Attribute of an arrival that passes a turn on (`place-turns`)."""

MBARRIER_BYTES = 8

LARGEST_COUNT = 2**20 - 1
"""Of arrivals and of bytes that one phase of an mbarrier counts (PTX ISA 9.7.13.15.2)."""

NAMED_BARRIERS = 16
"""Barriers of a block that `bar.sync` knows."""

WHOLE_WARPS = number_among(
    i32, range(WARP, 1025, WARP), "counts whole warps, 32 to 1024 threads, not {given}"
)

PROXY_SPACES = ("shared::cta", "generic")
"""Which memory a fence between the generic and the async proxy is about; the wide one is slow."""


def check_barrier(op: Operation, ptr: SSAValue) -> None:
    """An mbarrier is an aligned 64-bit object in shared memory."""
    type_ = pointer_to(op, ptr, "mbarrier", AddressSpace.SMEM, MBARRIER_BYTES)
    if type_.element_type != IntegerType(64):
        raise op_error(op, f"expects a pointer to i64 as the mbarrier, but got {type_}")


def counted(what: str, first: int) -> AttrConstraint[IntegerAttr]:
    """How many arrivals or bytes an mbarrier counts in one phase."""
    text = f"counts {first} to {LARGEST_COUNT} {what}, not {{given}}"
    return number_among(i32, range(first, LARGEST_COUNT + 1), text)


class OfBarrierOp(FieldsOp):
    """Base: about an mbarrier.  Subclasses say it again: operands of bases would be last."""

    ptr: fields.Operand = fields.operand()

    def verify_(self) -> None:
        check_barrier(self, self.ptr)


@irdl_op_definition
class MbarrierInitOp(OfBarrierOp):
    """Makes an mbarrier that `count` arrivals complete.  One thread executes it."""

    name = "cute_nvgpu.arch.mbarrier_init"

    ptr: fields.Operand = fields.operand()
    count: fields.Int = fields.prop(counted("arrivals", 1))
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = "$ptr `,` $count (`if` $pred^)? attr-dict `:` type($ptr)"


@irdl_op_definition
class MbarrierInvalOp(OfBarrierOp):
    """Ends the life of an mbarrier, which may be initialised again.  One thread executes it."""

    name = "cute_nvgpu.arch.mbarrier_inval"

    ptr: fields.Operand = fields.operand()
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = "$ptr (`if` $pred^)? attr-dict `:` type($ptr)"


@irdl_op_definition
class MbarrierArriveOp(OfBarrierOp):
    """One arrival, at the same barrier of block `cta` of the cluster if that is given."""

    name = "cute_nvgpu.arch.mbarrier_arrive"

    ptr: fields.Operand = fields.operand()
    pred: fields.OptOperand = fields.opt_operand(i1, default=None, position=2)
    cta: fields.OptOperand = fields.opt_operand(i32, default=None)

    assembly_format = "$ptr (`cta` $cta^)? (`if` $pred^)? attr-dict `:` type($ptr)"


@irdl_op_definition
class MbarrierArriveExpectTxOp(OfBarrierOp):
    """One arrival that announces bytes which bulk copies are to deliver in this phase."""

    name = "cute_nvgpu.arch.mbarrier_arrive_expect_tx"

    ptr: fields.Operand = fields.operand()
    bytes: fields.Int = fields.prop(counted("bytes", 0))
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = "$ptr `,` $bytes (`if` $pred^)? attr-dict `:` type($ptr)"


@irdl_op_definition
class MbarrierWaitOp(OfBarrierOp):
    """Waits until the phase with this parity (0 or 1) is complete."""

    name = "cute_nvgpu.arch.mbarrier_wait"

    ptr: fields.Operand = fields.operand()
    parity: fields.Operand = fields.operand(i32)

    assembly_format = "$ptr `,` $parity attr-dict `:` type($ptr)"


@irdl_op_definition
class MbarrierTryWaitOp(OfBarrierOp):
    """Whether the phase with this parity (0 or 1) is complete, after a limited time."""

    name = "cute_nvgpu.arch.mbarrier_try_wait"

    ptr: fields.Operand = fields.operand()
    parity: fields.Operand = fields.operand(i32)
    result = result_def(i1)

    assembly_format = "$ptr `,` $parity attr-dict `:` type($ptr)"


class _BareOp(FieldsOp):
    """An operation that only acts."""

    assembly_format = "attr-dict"


@irdl_op_definition
class FenceMbarrierInitOp(_BareOp):
    """Makes initialised mbarriers visible to the cluster and to bulk copies."""

    name = "cute_nvgpu.arch.fence_mbarrier_init"


@irdl_op_definition
class FenceProxyAsyncOp(FieldsOp):
    """Orders this thread's plain accesses before later ones by bulk copies and wgmma."""

    name = "cute_nvgpu.arch.fence_proxy_async"

    space: fields.String = fields.prop(
        keyword_among(PROXY_SPACES, "fences {either}, not {given}"), default="shared::cta"
    )

    assembly_format = "$space attr-dict"


class _NamedBarrierOp(FieldsOp):
    """One of the sixteen barriers of a block, named by a number or by a value."""

    id = opt_prop_def(
        number_among(
            i32,
            range(NAMED_BARRIERS),
            f"is barrier 0 to {NAMED_BARRIERS - 1} of a block, not {{given}}",
        )
    )
    id_value = opt_operand_def(i32)
    threads = opt_prop_def(WHOLE_WARPS)

    assembly_format = "(`id` $id^)? (`of` $id_value^)? (`threads` $threads^)? attr-dict"

    def __init__(self, id: int | Value = 0, threads: int | None = None) -> None:
        number_, value = (id, None) if isinstance(id, int) else (None, id)
        super().__init__(
            operands=[value],
            properties={"id": optional_number(number_), "threads": optional_number(threads)},
        )

    def verify_(self) -> None:
        if (self.id is None) == (self.id_value is None):
            raise op_error(self, "names its barrier by a number or by a value")


@irdl_op_definition
class BarrierOp(_NamedBarrierOp):
    """Waits for `threads` threads of the block, all of them if it says no number."""

    name = "cute_nvgpu.arch.barrier"
    __init__ = _NamedBarrierOp.__init__


@irdl_op_definition
class BarrierArriveOp(_NamedBarrierOp):
    """Arrives at a barrier that others wait at; needs the number of threads.

    It arrives once more as long as `again` holds.  With a condition that never does, which ptxas
    does not know, the arrival is where it is written: a loop is a block of code of its own.
    """

    name = "cute_nvgpu.arch.barrier_arrive"

    again = opt_operand_def(i1)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "(`id` $id^)? (`of` $id_value^)? (`threads` $threads^)? (`again` $again^)? attr-dict"
    )

    def __init__(
        self, id: int | Value = 0, threads: int | None = None, again: Value | None = None
    ) -> None:
        number_, value = (id, None) if isinstance(id, int) else (None, id)
        FieldsOp.__init__(
            self,
            operands=[again, value],
            properties={"id": optional_number(number_), "threads": optional_number(threads)},
        )

    def verify_(self) -> None:
        super().verify_()
        if self.threads is None:
            raise op_error(self, "says how many threads take part")


@irdl_op_definition
class ClusterArriveOp(FieldsOp):
    """Arrives at the barrier of the cluster; `relaxed` orders no memory and is cheap."""

    name = "cute_nvgpu.arch.cluster_arrive"

    relaxed: fields.Flag = fields.opt_prop(UnitAttr, default=False)

    assembly_format = "(`relaxed` $relaxed^)? attr-dict"


@irdl_op_definition
class SyncWarpOp(_BareOp):
    """The threads of a warp wait for one another; memory they touched before is ordered."""

    name = "cute_nvgpu.arch.sync_warp"


@irdl_op_definition
class ClusterWaitOp(_BareOp):
    """Waits until every thread of the cluster arrived."""

    name = "cute_nvgpu.arch.cluster_wait"
