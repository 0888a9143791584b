"""Recompute values in the agent that uses them, and hoist objects of the block above the switch.

Scalars, ids, views and constants are computed again where they are used.  Buffers that all threads
reach, pipelines and descriptors exist once: an agent that makes some for another one has them made
before the switch.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.transforms.resolve_agent_boundary.crossings import (
    SHARED_SPACES,
    agent_of,
    is_recomputed,
    memory_space,
    title,
    who,
)
from tileas_xdsl.transforms.resolve_agent_boundary.paired_loops import counter_in

_OBJECTS = (AllocTensorOp, CreatePipelineOp, MakeTiledTmaDescOp)


class Rematerialization:
    """What the agents of a switch reach without a transfer."""

    def __init__(self, switch: AgentSwitchOp) -> None:
        self.switch = switch
        self.isolated = bool(switch.isolated.value.data)
        self._made: dict[tuple[SSAValue, Block], SSAValue] = {}
        self._problems: dict[tuple[SSAValue, Block | None], str | None] = {}
        self._problems_in_front: dict[SSAValue, str | None] = {}

    def problem(self, value: SSAValue, user: Operation, agent: int) -> str | None:
        """Why an operation of an agent does not reach a value; None if it does."""
        for needed in self._needed(value):
            if (needed, user.parent) not in self._problems:
                found = self._problem(needed, user, agent)
                self._problems[needed, user.parent] = found
        return self._problems[value, user.parent]

    def _needed(self, value: SSAValue) -> Sequence[SSAValue]:
        """The value and what it is made of in the agents, each after what it is made of itself."""
        found: dict[SSAValue, None] = {}
        pending = [(value, False)]
        while pending:
            current, is_complete = pending.pop()
            if is_complete:
                found[current] = None
            if is_complete or current in found:
                continue
            pending.append((current, True))
            if isinstance(current, OpResult) and self._is_inside(current):
                pending += [(operand, False) for operand in reversed(_ingredients(current.op))]
        return list(found)

    def _is_inside(self, value: SSAValue) -> bool:
        return self.isolated or agent_of(self.switch, value) is not None

    def _problem(self, value: SSAValue, user: Operation, agent: int) -> str | None:
        """The same for one value, of whose operands it is known."""
        defining = agent_of(self.switch, value)
        if defining == agent:
            return f"it depends on {title(value)} of {who(agent)} itself"
        if defining is None and not self.isolated:
            return None
        if self._counter(value, user, agent) is not None:
            return None
        if not isinstance(value, OpResult):
            return self._unreachable(value)
        if is_recomputed(value.op):
            problems = (self._problems.get((v, user.parent)) for v in value.op.operands)
            return next((problem for problem in problems if problem is not None), None)
        for needed in self._needed(value):
            if needed not in self._problems_in_front:
                self._problems_in_front[needed] = self._problem_in_front(needed)
        return self._problems_in_front[value]

    def _unreachable(self, value: SSAValue) -> str:
        if isinstance(value, BlockArgument) and agent_of(self.switch, value) is None:
            return f"{title(value)} is an argument, and isolated agents see none"
        return f"{title(value)} is an argument that control flow gives"

    def _problem_in_front(self, value: SSAValue) -> str | None:
        """Why a value cannot be made before the switch, as is known of its operands."""
        defining = agent_of(self.switch, value)
        if defining is None and not self.isolated:
            return None
        if not isinstance(value, OpResult):
            return self._unreachable(value)
        op = value.op
        if self.isolated or not (is_recomputed(op) or _is_object(op)):
            return f"'{name_of(op)}' makes it, which no other agent can do again"
        if defining is None or op.parent is not self.switch.agent_bodies[defining].block:
            return f"'{name_of(op)}' makes it under control flow"
        problems = (self._problems_in_front.get(operand) for operand in op.operands)
        return next((problem for problem in problems if problem is not None), None)

    def bring(self, value: SSAValue, user: Operation, agent: int) -> SSAValue:
        """The value for an operation of an agent, which reaches it."""
        for needed in self._needed(value):
            if isinstance(needed, OpResult) and _is_object(needed.op) and self._is_inside(needed):
                self._move_in_front(needed.op)
        for needed in self._needed(value):
            self._rematerialize(needed, user, agent)
        return self._rematerialize(value, user, agent)

    def _rematerialize(self, value: SSAValue, user: Operation, agent: int) -> SSAValue:
        if not self._is_inside(value):
            return value
        if (counter := self._counter(value, user, agent)) is not None:
            return counter
        assert isinstance(value, OpResult)
        return self.remake(value, user, agent)

    def remake(self, value: OpResult, user: Operation, agent: int) -> SSAValue:
        """The result of an operation that the agent runs again itself, right before its user."""
        block = user.parent
        assert block is not None
        known = self._made.get((value, block))
        if isinstance(known, OpResult) and known.op.is_before_in_block(user):
            return known
        operands = {v: self._rematerialize(v, user, agent) for v in value.op.operands}
        made = value.op.clone(operands)
        made.location = value.op.location
        block.insert_op_before(made, user)
        for old, new in zip(value.op.results, made.results, strict=True):
            self._made[old, block] = new
        return made.results[value.index]

    def _counter(self, value: SSAValue, user: Operation, agent: int) -> SSAValue | None:
        defining, block = agent_of(self.switch, value), user.parent
        if defining is None or block is None:
            return None
        bodies = self.switch.agent_bodies
        return counter_in(value, block, bodies[agent].block, bodies[defining].block)

    def _move_in_front(self, op: Operation) -> None:
        """Move an operation and what it needs out of its agent."""
        block = self.switch.parent
        assert block is not None
        inside = [v for v in self._needed(op.results[0]) if self._is_inside(v)]
        for moved in dict.fromkeys(v.op for v in inside if isinstance(v, OpResult)):
            moved.detach()
            block.insert_op_before(moved, self.switch)


def _ingredients(op: Operation) -> Sequence[SSAValue]:
    """What must be there for an operation to run again, or to run before the switch."""
    return tuple(dict.fromkeys(op.operands)) if is_recomputed(op) or _is_object(op) else ()


def _is_object(op: Operation) -> bool:
    """Whether an operation makes something that all agents can use."""
    if isinstance(op, AllocTensorOp):
        return memory_space(op.result) in SHARED_SPACES
    return isinstance(op, _OBJECTS)
