"""Lower generic barriers: one thread increments or polls a counter, the group synchronises."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute import LoadOp
from tileas_xdsl.dialects.cute_nvgpu import AtomicRmwOp, BarrierOp
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer

SCOPE = "gpu"
"""Blocks of one device meet."""


def synchronize(w: Writer, id: IntegerAttr, threads: IntegerAttr) -> None:
    """The threads of a group wait for one another."""
    w.insert(BarrierOp(value_of(id), value_of(threads)))


def increment(w: Writer, counter: SSAValue, by: SSAValue, acts: SSAValue) -> None:
    """One thread adds to a counter, behind all that its group has written before it met."""
    w.when(acts, [AtomicRmwOp("add", by, counter, order="release", scope=SCOPE)])


def poll_while(w: Writer, counter: SSAValue, how: str, value: SSAValue, acts: SSAValue) -> None:
    """One thread reads a counter again and again while a comparison with `value` holds."""
    read = LoadOp(counter, i32, order="acquire", scope=SCOPE)
    goes_on = arith.CmpiOp(read, value, how)
    before = Block([read, goes_on, scf.ConditionOp(goes_on)])
    w.when(acts, [scf.WhileOp([], [], [before], [Block([scf.YieldOp()])])])


def _acts(w: Writer, thread: SSAValue) -> SSAValue:
    return w.compare("eq", thread, 0)


def _sync(w: Writer, op: cutlass.GenericBarrierSyncOp) -> list[Values]:
    synchronize(w, op.id, op.threads)
    return []


def _arrive(w: Writer, op: cutlass.GenericBarrierArriveIncrementOp) -> list[Values]:
    synchronize(w, op.id, op.threads)
    increment(w, op.counter, op.value, _acts(w, op.thread))
    return []


def _wait(
    w: Writer, op: cutlass.GenericBarrierWaitEqOp | cutlass.GenericBarrierWaitLessThanOp
) -> list[Values]:
    poll_while(w, op.counter, WAITS[type(op)], op.value, _acts(w, op.thread))
    synchronize(w, op.id, op.threads)
    return []


WAITS: dict[type[Operation], str] = {
    cutlass.GenericBarrierWaitEqOp: "ne",
    cutlass.GenericBarrierWaitLessThanOp: "slt",
}
"""What goes on while a wait does."""

HANDLERS: Any = {
    cutlass.GenericBarrierArriveIncrementOp: _arrive,
    cutlass.GenericBarrierSyncOp: _sync,
    cutlass.GenericBarrierWaitEqOp: _wait,
    cutlass.GenericBarrierWaitLessThanOp: _wait,
}
