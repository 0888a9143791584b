"""Named barriers of a block: `bar.arrive` and `bar.sync` with a number of threads."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i32

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import NAMED_BARRIERS, WARP
from tileas_xdsl.dialects.fields import FieldsOp, derived_init
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["NamedBarrierArriveAndWaitOp", "NamedBarrierArriveOp"]

IDS = range(1, NAMED_BARRIERS)
"""Barriers that a kernel may name; number 0 is the one of the whole block."""

_NUMBER = IntegerAttr.constr(i32)


@derived_init
class _NamedBarrierOp(FieldsOp):
    """A barrier by its number, and how many threads it is for."""

    id: fields.Int = fields.prop(_NUMBER)
    threads: fields.Int = fields.prop(_NUMBER)

    assembly_format = "$id `threads` $threads attr-dict"

    def verify_(self) -> None:
        id_, threads = value_of(self.id), value_of(self.threads)
        if id_ not in IDS:
            raise op_error(self, f"is barrier {IDS[0]} to {IDS[-1]} of a block, not {id_}")
        if not 0 < threads <= 1024 or threads % WARP:
            raise op_error(self, f"counts whole warps, 32 to 1024 threads, not {threads}")


@irdl_op_definition
class NamedBarrierArriveOp(_NamedBarrierOp):
    """Arrives, and does not wait."""

    name = "cutlass.named_barrier.arrive"


@irdl_op_definition
class NamedBarrierArriveAndWaitOp(_NamedBarrierOp):
    """Arrives, and waits for the others."""

    name = "cutlass.named_barrier.arrive_and_wait"
