"""Lower named barriers and ordered sequence barriers."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute_nvgpu import (
    BarrierArriveOp,
    BarrierOp,
    MbarrierArriveOp,
    MbarrierWaitOp,
    SyncWarpOp,
)
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.transforms.pipeline_to_nvgpu.pipeline_states import following
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer


def _arrive(w: Writer, op: cutlass.NamedBarrierArriveOp) -> list[Values]:
    w.insert(BarrierArriveOp(value_of(op.id), value_of(op.threads)))
    return []


def _arrive_and_wait(w: Writer, op: cutlass.NamedBarrierArriveAndWaitOp) -> list[Values]:
    w.insert(BarrierOp(value_of(op.id), value_of(op.threads)))
    return []


def _type(bar: SSAValue) -> cutlass.SeqBarType:
    type_ = bar.type
    assert isinstance(type_, cutlass.SeqBarType)
    return type_


def _state(w: Writer, op: cutlass.SeqBarStateCreateOp) -> list[Values]:
    first = w.compare("eq", op.group, 0)
    return [(w.number(0), w.insert(arith.ExtUIOp(first, i32)).result)]


def _barrier(w: Writer, bar: SSAValue, stage: SSAValue, group: SSAValue) -> SSAValue:
    index = w.add(w.multiply(stage, _type(bar).length.data), group)
    return w.barrier(w.parts[bar][0], index)


def _seq_wait(w: Writer, op: cutlass.SeqBarWaitOp) -> list[Values]:
    stage, phase = w.parts[op.state]
    w.insert(MbarrierWaitOp(_barrier(w, op.bar, stage, op.group), phase))
    return []


def _seq_arrive(w: Writer, op: cutlass.SeqBarArriveOp) -> list[Values]:
    """At the barrier of the next group; behind the last one comes the first."""
    stage, phase = w.parts[op.state]
    type_, next_ = _type(op.bar), w.add(op.group, 1)
    wraps = w.compare("eq", next_, type_.length.data)
    next_ = w.pick(wraps, w.number(0), next_)
    if op.elected is not None:
        w.insert(SyncWarpOp())
    w.insert(MbarrierArriveOp(_barrier(w, op.bar, stage, next_), op.elected))
    return [following(w, stage, phase, type_.depth.data)]


HANDLERS: Any = {
    cutlass.NamedBarrierArriveAndWaitOp: _arrive_and_wait,
    cutlass.NamedBarrierArriveOp: _arrive,
    cutlass.SeqBarArriveOp: _seq_arrive,
    cutlass.SeqBarStateCreateOp: _state,
    cutlass.SeqBarWaitOp: _seq_wait,
}
