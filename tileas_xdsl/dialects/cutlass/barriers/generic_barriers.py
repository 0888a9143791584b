"""Generic barriers: counters in global memory, by which groups of threads of any blocks meet.

A group is the threads that meet at a named barrier of their block; the one whose `thread` is 0
acts for all of them.  Source: CUTLASS include/cutlass/barrier.h, GenericBarrier.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import NAMED_BARRIERS
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout.units import WARP

__all__ = [
    "COUNTER_BYTES",
    "GenericBarrierArriveIncrementOp",
    "GenericBarrierSyncOp",
    "GenericBarrierWaitEqOp",
    "GenericBarrierWaitLessThanOp",
]

COUNTER_BYTES = 4

_NUMBER = IntegerAttr.constr(i32)


def check_group(op: Operation, id: IntegerAttr, threads: IntegerAttr) -> None:
    """A group is whole warps that meet at a barrier of the block; 0 is the one of all threads."""
    id_, count = value_of(id), value_of(threads)
    if not 0 <= id_ < NAMED_BARRIERS:
        raise op_error(op, f"meets at barrier 0 to {NAMED_BARRIERS - 1} of a block, not {id_}")
    if not 0 < count <= 1024 or count % WARP:
        raise op_error(op, f"is of whole warps, 32 to 1024 threads, not {count}")


@irdl_op_definition
class GenericBarrierSyncOp(FieldsOp):
    """The threads of a group wait for one another."""

    name = "cutlass.generic_barrier_sync"

    id: fields.Int = fields.prop(_NUMBER)
    threads: fields.Int = fields.prop(_NUMBER)

    assembly_format = "$id `threads` $threads attr-dict"

    def verify_(self) -> None:
        check_group(self, self.id, self.threads)


class _CounterOp(FieldsOp):
    """What a group does at a counter; all its threads execute it."""

    counter: fields.Operand = fields.operand()
    value: fields.Operand = fields.operand(i32, position=2)
    thread: fields.Operand = fields.operand(i32)
    id: fields.Int = fields.prop(_NUMBER, kw_only=True)
    threads: fields.Int = fields.prop(_NUMBER, kw_only=True)

    assembly_format = (
        "$counter `,` $value `thread` $thread `at` $id `threads` $threads attr-dict"
        " `:` type($counter)"
    )

    def verify_(self) -> None:
        type_ = pointer_to(self, self.counter, "counter", AddressSpace.GMEM, COUNTER_BYTES)
        if type_.element_type != i32:
            raise op_error(self, f"counts in i32, not in {type_.element_type}")
        check_group(self, self.id, self.threads)


@irdl_op_definition
class GenericBarrierArriveIncrementOp(_CounterOp):
    """Adds to the counter when all threads of the group have come; releases what they wrote."""

    name = "cutlass.generic_barrier.arrive_increment"


@irdl_op_definition
class GenericBarrierWaitEqOp(_CounterOp):
    """Waits until the counter is a number; acquires what was released there."""

    name = "cutlass.generic_barrier.wait_eq"


@irdl_op_definition
class GenericBarrierWaitLessThanOp(_CounterOp):
    """Waits while the counter is less than a number; acquires what was released there."""

    name = "cutlass.generic_barrier.wait_less_than"
