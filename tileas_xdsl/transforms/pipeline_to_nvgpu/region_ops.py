"""Lower operations with regions: produce, consume, executor switch, asynchronous execution."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, scf
from xdsl.ir import SSAValue

from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.transforms.pipeline_to_nvgpu.barriers import stage_barriers as handshake
from tileas_xdsl.transforms.pipeline_to_nvgpu.pipeline_states import incremented, stages_of
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer


def _produce(w: Writer, op: cutlass.ProduceOp) -> list[Values]:
    bytes_ = None if op.bytes is None else value_of(op.bytes)
    handshake.acquire(w, op.pipe, op.state, bytes_=bytes_, elected=op.elected)
    barrier = handshake.full_of(w, op.pipe, op.state)
    yielded = w.inline(op.body.block, (w.parts[op.state][0], barrier))
    handshake.commit(w, op.pipe, op.state, bytes_=None, elected=op.elected)
    return _results(w, op.state, yielded)


def _consume(w: Writer, op: cutlass.ConsumeOp) -> list[Values]:
    handshake.wait_full(w, op.pipe, op.state)
    yielded = w.inline(op.body.block, w.parts[op.state][:1])
    handshake.release(w, op.pipe, op.state, op.elected)
    return _results(w, op.state, yielded)


def _results(w: Writer, state: SSAValue, yielded: Values) -> list[Values]:
    following = incremented(w, w.parts[state], stages_of(state))
    return [following, *(w.parts.get(value, (value,)) for value in yielded)]


def _async_exec(w: Writer, op: cutlass.AsyncExecOp) -> list[Values]:
    """One thread does one thing after another: the body is done where it stands."""
    yielded = w.inline(op.body.block, ())
    return [w.parts.get(value, (value,)) for value in yielded]


def _switch(w: Writer, op: cutlass.SwitchByExecutorOp) -> list[Values]:
    """A condition for each arm, since nobody knows the warps but by comparing."""
    for warps, arm in zip(op.ranges, tuple(op.arms), strict=True):
        if not arm.blocks:
            continue
        condition = w.compare("slt", op.warp, warps[-1] + 1)
        if warps[0]:
            begins = w.compare("sge", op.warp, warps[0])
            condition = w.insert(arith.AndIOp(condition, begins)).result
        arm.block.add_op(scf.YieldOp())
        branch = w.insert(scf.IfOp(condition, [], op.detach_region(arm)))
        w.run(branch.true_region.block)
    return []


HANDLERS: Any = {
    cutlass.AsyncExecOp: _async_exec,
    cutlass.ConsumeOp: _consume,
    cutlass.ProduceOp: _produce,
    cutlass.SwitchByExecutorOp: _switch,
}
