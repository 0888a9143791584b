"""The handshake at a stage: full[s] for those who read it, empty[s] for those who fill it.

| step | TMA fills | threads fill | products fill (tensor memory) |
|---|---|---|---|
| acquire | wait empty; announce bytes at full | wait empty | wait empty, fence |
| commit | the bytes arrive by themselves | an arrival of each warp | `tcgen05.commit` at full |
| wait | wait full | wait full | wait full, fence |

Where threads fill a stage by cp.async, each of them arrives when its copies do.

Who reads releases by an arrival of each warp at empty, or by `tcgen05.commit` there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import i16
from xdsl.ir import Block, SSAValue

from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute_nvgpu import (
    CpAsyncMbarrierArriveOp,
    FenceProxyAsyncOp,
    MbarrierArriveExpectTxOp,
    MbarrierArriveOp,
    MbarrierTryWaitOp,
    MbarrierWaitOp,
    SyncWarpOp,
    TmemFenceOp,
    UmmaCommitOp,
)
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.transforms.pipeline_to_nvgpu.pipeline_states import following
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer


def _type(pipe: SSAValue) -> cutlass.PipelineType:
    type_ = pipe.type
    assert isinstance(type_, cutlass.PipelineType)
    return type_


def full_of(w: Writer, pipe: SSAValue, state: SSAValue) -> SSAValue:
    """The barrier of those who wait for a stage to be full."""
    return w.barrier(w.parts[pipe][0], w.parts[state][0])


def _empty_of(w: Writer, pipe: SSAValue, state: SSAValue) -> SSAValue:
    return w.barrier(w.parts[pipe][1], w.parts[state][0])


def _wait(w: Writer, barrier: SSAValue, parity: SSAValue, probe: SSAValue | None = None) -> None:
    wait = MbarrierWaitOp(barrier, parity)
    if probe is None:
        w.insert(wait)
        return
    w.insert(scf.IfOp(w.negated(probe), [], [Block([wait, scf.YieldOp()])]))


def acquire(
    w: Writer,
    pipe: SSAValue,
    state: SSAValue,
    *,
    bytes_: int | None,
    elected: SSAValue | None,
    probe: SSAValue | None = None,
) -> None:
    """Wait until the stage is empty; announce the bytes of TMA."""
    _wait(w, _empty_of(w, pipe, state), w.parts[state][1], probe)
    if _type(pipe).facts.is_in_tensor_memory:
        w.insert(TmemFenceOp("after"))
    if bytes_ is not None:
        w.insert(MbarrierArriveExpectTxOp(full_of(w, pipe, state), bytes_, elected))


def commit(
    w: Writer,
    pipe: SSAValue,
    state: SSAValue,
    *,
    bytes_: int | None,
    elected: SSAValue | None,
) -> None:
    """Say that the stage is full, unless TMA does."""
    facts = _type(pipe).facts
    if facts.producer == "umma":
        w.insert(UmmaCommitOp(full_of(w, pipe, state), None, elected))
    elif facts.producer == "cp_async":
        w.insert(CpAsyncMbarrierArriveOp(full_of(w, pipe, state)))
    elif facts.producer == "threads":
        if facts.consumer == "umma":
            # Products read shared memory by the asynchronous proxy.
            w.insert(FenceProxyAsyncOp())
        _synchronise(w, elected)
        w.insert(MbarrierArriveOp(full_of(w, pipe, state), elected))
    elif bytes_ is not None:
        w.insert(MbarrierArriveExpectTxOp(full_of(w, pipe, state), bytes_, elected))


def _synchronise(w: Writer, elected: SSAValue | None) -> None:
    """What lanes have done comes before the arrival of the one that acts for their warp."""
    if elected is not None:
        w.insert(SyncWarpOp())


def wait_full(w: Writer, pipe: SSAValue, state: SSAValue, probe: SSAValue | None = None) -> None:
    """Wait until the stage is full."""
    _wait(w, full_of(w, pipe, state), w.parts[state][1], probe)
    if _type(pipe).facts.is_in_tensor_memory:
        w.insert(TmemFenceOp("after"))


def release(w: Writer, pipe: SSAValue, state: SSAValue, elected: SSAValue | None) -> None:
    """Say that the stage was read, to every block that shares it."""
    type_, barrier = _type(pipe), _empty_of(w, pipe, state)
    blocks = type_.multicast.data
    if type_.facts.consumer == "umma":
        mask = w.number((1 << blocks) - 1, i16) if blocks > 1 else None
        w.insert(UmmaCommitOp(barrier, mask, elected))
        return
    if type_.facts.is_in_tensor_memory:
        w.insert(TmemFenceOp("before"))
    _synchronise(w, elected)
    ranks: Sequence[SSAValue | None] = [None]
    if blocks > 1:
        ranks = [w.number(rank) for rank in range(blocks)]
    for rank in ranks:
        w.insert(MbarrierArriveOp(barrier, elected, rank))


def _bytes(op: cutlass.ProducerAcquireOp | cutlass.ProducerCommitOp) -> int | None:
    return None if op.bytes is None else value_of(op.bytes)


def _acquire(w: Writer, op: cutlass.ProducerAcquireOp) -> list[Values]:
    acquire(w, op.pipe, op.state, bytes_=_bytes(op), elected=op.elected, probe=op.probe)
    return []


def _commit(w: Writer, op: cutlass.ProducerCommitOp) -> list[Values]:
    commit(w, op.pipe, op.state, bytes_=_bytes(op), elected=op.elected)
    return []


def _tail(w: Writer, op: cutlass.ProducerTailOp) -> list[Values]:
    """Stage after stage from the next one on: all are waited for, each in its own phase."""
    empty, stages = w.parts[op.pipe][1], _type(op.pipe).stages.data
    stage, phase = w.parts[op.state][:2]
    for _ in range(stages):
        w.insert(MbarrierWaitOp(w.barrier(empty, stage), phase))
        stage, phase = following(w, stage, phase, stages)
    return []


def _consumer_wait(w: Writer, op: cutlass.ConsumerWaitOp) -> list[Values]:
    wait_full(w, op.pipe, op.state, op.probe)
    return []


def _release(w: Writer, op: cutlass.ConsumerReleaseOp) -> list[Values]:
    release(w, op.pipe, op.state, op.elected)
    return []


def _try_acquire(w: Writer, op: cutlass.ProducerTryAcquireOp) -> list[Values]:
    return [[_probe(w, op, _empty_of(w, op.pipe, op.state))]]


def _try_wait(w: Writer, op: cutlass.ConsumerTryWaitOp) -> list[Values]:
    return [[_probe(w, op, full_of(w, op.pipe, op.state))]]


def _probe(
    w: Writer, op: cutlass.ProducerTryAcquireOp | cutlass.ConsumerTryWaitOp, barrier: SSAValue
) -> SSAValue:
    return w.insert(MbarrierTryWaitOp(barrier, w.parts[op.state][1])).result


def _barrier(w: Writer, op: cutlass.GetProducerBarrierOp) -> list[Values]:
    return [[full_of(w, op.pipe, op.state)]]


def _mask(w: Writer, op: cutlass.GetProducerMaskOp) -> list[Values]:
    return [[w.number((1 << _type(op.pipe).multicast.data) - 1, i16)]]


HANDLERS: Any = {
    cutlass.ConsumerReleaseOp: _release,
    cutlass.ConsumerTryWaitOp: _try_wait,
    cutlass.ConsumerWaitOp: _consumer_wait,
    cutlass.GetProducerBarrierOp: _barrier,
    cutlass.GetProducerMaskOp: _mask,
    cutlass.ProducerAcquireOp: _acquire,
    cutlass.ProducerCommitOp: _commit,
    cutlass.ProducerTailOp: _tail,
    cutlass.ProducerTryAcquireOp: _try_acquire,
}
