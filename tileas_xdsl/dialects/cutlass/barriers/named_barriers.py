"""Named barriers of a block: `bar.arrive` and `bar.sync` with a number of threads."""

from __future__ import annotations

from xdsl.dialects.builtin import i32

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import number_among
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import NAMED_BARRIERS, WHOLE_WARPS
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["NamedBarrierArriveAndWaitOp", "NamedBarrierArriveOp"]

IDS = range(1, NAMED_BARRIERS)
"""Barriers that a kernel may name; number 0 is the one of the whole block."""


class _NamedBarrierOp(FieldsOp):
    """A barrier by its number, and how many threads it is for."""

    id: fields.Int = fields.prop(
        number_among(i32, IDS, f"is barrier {IDS[0]} to {IDS[-1]} of a block, not {{given}}")
    )
    threads: fields.Int = fields.prop(WHOLE_WARPS)

    assembly_format = "$id `threads` $threads attr-dict"


@irdl_op_definition
class NamedBarrierArriveOp(_NamedBarrierOp):
    """Arrives, and does not wait."""

    name = "cutlass.named_barrier.arrive"


@irdl_op_definition
class NamedBarrierArriveAndWaitOp(_NamedBarrierOp):
    """Arrives, and waits for the others."""

    name = "cutlass.named_barrier.arrive_and_wait"
