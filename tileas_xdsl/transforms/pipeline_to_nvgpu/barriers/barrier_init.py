"""Lower pipeline initialisation: one thread initialises the mbarriers, the others wait for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute import PtrAddOp
from tileas_xdsl.dialects.cute_nvgpu import (
    BarrierOp,
    ClusterArriveOp,
    ClusterWaitOp,
    FenceMbarrierInitOp,
    MbarrierInitOp,
    ThreadIdxOp,
)
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer


def _create(w: Writer, op: cutlass.PipelineCreateOp) -> list[Values]:
    type_ = op.result.type
    return [(op.storage, w.barrier(op.storage, type_.stages.data))]


def _participants(w: Writer, op: cutlass.MakeParticipantsOp) -> list[Values]:
    return [()]


def _init(w: Writer, op: cutlass.PipelineInitOp) -> list[Values]:
    full, empty = w.parts[op.pipe]
    stages = value_of(op.stages)
    _initialise(
        w,
        [
            *((full, stage, op.producer_arrivals) for stage in range(stages)),
            *((empty, stage, op.consumer_arrivals) for stage in range(stages)),
        ],
    )
    type_ = op.pipe.type
    assert isinstance(type_, cutlass.PipelineType)
    _synchronise(w, type_.multicast.data)
    return []


def _initialise(w: Writer, barriers: Iterable[tuple[SSAValue, int, int]]) -> None:
    """Barriers by the first of their array, their index, and how many arrivals complete them."""
    body: list[Operation] = []
    for first, index, count in barriers:
        if index:
            constant = arith.ConstantOp.from_int_and_width(index, i32)
            moved = PtrAddOp(first, constant)
            body += [constant, moved]
            first = moved.result
        body.append(MbarrierInitOp(first, count))
    thread = w.insert(ThreadIdxOp("x")).result
    w.when(w.compare("eq", thread, 0), [*body, FenceMbarrierInitOp()])


def _synchronise(w: Writer, blocks: int) -> None:
    if blocks > 1:
        w.insert(ClusterArriveOp(relaxed=True))
        w.insert(ClusterWaitOp())
    else:
        w.insert(BarrierOp(0))


def _seq_create(w: Writer, op: cutlass.SeqBarCreateOp) -> list[Values]:
    return [(op.storage,)]


def _seq_init(w: Writer, op: cutlass.SeqBarInitOp) -> list[Values]:
    type_ = op.bar.type
    assert isinstance(type_, cutlass.SeqBarType)
    (first,) = w.parts[op.bar]
    _initialise(w, ((first, k, value_of(op.arrivals)) for k in range(type_.barriers)))
    _synchronise(w, 1)
    return []


HANDLERS: Any = {
    cutlass.MakeParticipantsOp: _participants,
    cutlass.PipelineCreateOp: _create,
    cutlass.PipelineInitOp: _init,
    cutlass.SeqBarCreateOp: _seq_create,
    cutlass.SeqBarInitOp: _seq_init,
}
