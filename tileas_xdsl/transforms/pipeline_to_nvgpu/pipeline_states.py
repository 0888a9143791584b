"""Lower pipeline states: stage index, phase parity, and the count if somebody reads it."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from tileas_xdsl.dialects import cutlass
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer


def following(w: Writer, stage: SSAValue, phase: SSAValue, count: int) -> tuple[SSAValue, SSAValue]:
    """The next of `count` stages; behind the last one the first, with the other parity."""
    next_ = w.add(stage, 1)
    wraps = w.compare("eq", next_, count)
    return w.pick(wraps, w.number(0), next_), w.flip(phase, wraps)


def incremented(w: Writer, parts: Values, stages: int) -> Values:
    """The parts of the next state."""
    stage, phase, *count = parts
    return (*following(w, stage, phase, stages), *(w.add(done, 1) for done in count))


def stages_of(state: SSAValue) -> int:
    """The number of stages that a state goes through."""
    type_ = state.type
    assert isinstance(type_, cutlass.PipelineStateType)
    return type_.number.data


def _create(w: Writer, op: cutlass.StateCreateOp) -> list[Values]:
    phase = w.number(cutlass.FIRST_PHASE[op.role.data])
    parts = (w.number(0), phase, w.number(0))
    return [parts if w.counted else parts[:2]]


def _increment(w: Writer, op: cutlass.StateIncrementOp) -> list[Values]:
    return [incremented(w, w.parts[op.state], stages_of(op.state))]


def _index(w: Writer, op: cutlass.StateGetOp) -> list[Values]:
    return [w.parts[op.state][:1]]


def _phase(w: Writer, op: cutlass.StateGetOp) -> list[Values]:
    return [w.parts[op.state][1:2]]


def _count(w: Writer, op: cutlass.StateGetOp) -> list[Values]:
    return [w.parts[op.state][2:]]


HANDLERS: Any = {
    cutlass.StateCreateOp: _create,
    cutlass.StateGetCountOp: _count,
    cutlass.StateGetIndexOp: _index,
    cutlass.StateGetPhaseOp: _phase,
    cutlass.StateIncrementOp: _increment,
}
