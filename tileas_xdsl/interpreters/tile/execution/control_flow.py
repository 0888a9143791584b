"""Structured and plain control flow, and calls: `scf`, `cf`, `func`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any, cast

import numpy as np
from xdsl.dialects import cf, func, scf
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerType
from xdsl.interpreter import ReturnedValues, Successor

from tileas_xdsl.interpreters.tile.execution.agent import AgentInterpreter, Language, Steps
from tileas_xdsl.interpreters.tile.execution.scheduler import Wait
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import ELEMENTWISE

PATIENCE = 100
"""Iterations of a loop after which it yields to other processes between two iterations."""

_SCALARS: tuple[type, ...] = (int, float, np.generic)


def run_for(agent: AgentInterpreter, op: scf.ForOp, inputs: Sequence[Any]) -> Steps:
    """`scf.for` with signed bounds; a step of zero or less is a fault."""
    first, end, step, *carried = inputs
    if step <= 0:
        raise fault(op, f"the step of a loop is positive, not {step}")
    values = tuple(carried)
    for i in range(first, end, step):
        values = yield from agent.run_region(op.body, (i, *values))
    return values


def run_if(agent: AgentInterpreter, op: scf.IfOp, inputs: Sequence[Any]) -> Steps:
    """`scf.if`: run one of the regions; a missing one does nothing."""
    return (yield from agent.run_region(op.true_region if inputs[0] else op.false_region))


def run_while(agent: AgentInterpreter, op: scf.WhileOp, inputs: Sequence[Any]) -> Steps:
    """`scf.while`: run the condition region, then the body or leave.

    A long-running loop yields to other processes, for it may poll for their writes.
    """
    values = tuple(inputs)
    for iteration in count():
        goes_on, *passed = yield from agent.run_region(op.before_region, values)
        if not goes_on:
            return tuple(passed)
        if iteration >= PATIENCE:
            seen = [_observed(value) for value in passed]
            yield Wait(lambda: True, "its loop to end", op, observed=partial(tuple, seen))
        values = yield from agent.run_region(op.after_region, passed)
    raise AssertionError("a loop without end has ended")


def _observed(value: Any) -> object:
    """Return the value of a scalar for comparison; tiles never compare equal."""
    return value if isinstance(value, _SCALARS) else object()


def run_index_switch(
    agent: AgentInterpreter, op: scf.IndexSwitchOp, inputs: Sequence[Any]
) -> Steps:
    """`scf.index_switch`: run the region of the matching case, or the default."""
    cases = cast("DenseArrayBase[IntegerType]", op.cases).get_values()
    if inputs[0] in cases:
        return (yield from agent.run_region(op.case_regions[cases.index(inputs[0])]))
    return (yield from agent.run_region(op.default_region))


def run_execute_region(
    agent: AgentInterpreter, op: scf.ExecuteRegionOp, inputs: Sequence[Any]
) -> Steps:
    """`scf.execute_region`: run its region, which may contain branches."""
    return (yield from agent.run_region(op.region, inputs))


def run_call(agent: AgentInterpreter, op: func.CallOp, inputs: Sequence[Any]) -> Steps:
    """`func.call`: run another function in a frame of its own."""
    return (yield from agent.call(op.callee.string_value(), inputs))


def _returned(_: Any, inputs: Sequence[Any]) -> ReturnedValues:
    return ReturnedValues(tuple(inputs))


def _branch(op: cf.BranchOp, inputs: Sequence[Any]) -> Successor:
    return Successor(op.successor, tuple(inputs))


def _conditional_branch(op: cf.ConditionalBranchOp, inputs: Sequence[Any]) -> Successor:
    condition, *arguments = inputs
    split = len(op.then_arguments)
    if condition:
        return Successor(op.then_block, tuple(arguments[:split]))
    return Successor(op.else_block, tuple(arguments[split:]))


def _switch(op: cf.SwitchOp, inputs: Sequence[Any]) -> Successor:
    flag, *arguments = inputs
    groups = [len(op.default_operands), *(len(group) for group in op.case_operand)]
    ends = [sum(groups[: k + 1]) for k in range(len(groups))]
    chosen = _case(op, flag)
    block = op.default_block if chosen is None else op.case_blocks[chosen]
    k = 0 if chosen is None else chosen + 1
    return Successor(block, tuple(arguments[ends[k] - groups[k] : ends[k]]))


def _case(op: cf.SwitchOp, flag: int) -> int | None:
    if op.case_values is None:
        return None
    values = [int(v) for v in cast("DenseIntOrFPElementsAttr[Any]", op.case_values).get_values()]
    return values.index(flag) if flag in values else None


def _assert(op: cf.AssertOp, inputs: Sequence[Any]) -> tuple[()]:
    if not inputs[0]:
        raise fault(op, f"assertion failed: {op.msg.data}")
    return ()


CONTROL_FLOW = Language(
    pure={cf.AssertOp: _assert},
    behaviours={
        func.CallOp: run_call,
        scf.ExecuteRegionOp: run_execute_region,
        scf.ForOp: run_for,
        scf.IfOp: run_if,
        scf.IndexSwitchOp: run_index_switch,
        scf.WhileOp: run_while,
    },
    ends={
        cf.BranchOp: _branch,
        cf.ConditionalBranchOp: _conditional_branch,
        cf.SwitchOp: _switch,
        func.ReturnOp: _returned,
        scf.ConditionOp: _returned,
        scf.YieldOp: _returned,
    },
)
"""`scf`, `cf` and `func`, except `scf.parallel`, which the dialect does not use."""

SCALAR = CONTROL_FLOW | Language(pure=ELEMENTWISE)
"""Control flow and the arithmetic of scalars and tiles."""
