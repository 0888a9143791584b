"""Agents: each runs its body in its own warps, with its own budget of registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xdsl.builder import Builder
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.cute_nvgpu import SetMaxRegisterOp
from tileas_xdsl.dialects.nv_tileas.agents import AgentSwitchOp
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter, Handler
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.plan import is_for_one_thread
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import Lowered
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.warps import Agent, agents_of, registers_at_entry


def agent_switch(e: Emitter, op: AgentSwitchOp) -> Sequence[Lowered]:
    """The warps of each agent run its body; all of them go on after it."""
    for agent, body in zip(agents_of(op, e.agent, e.plan.target), op.agent_bodies, strict=True):
        block = Block()
        inner = replace(
            e,
            agent=agent,
            builder=Builder(InsertPoint.at_end(block)),
            values=dict(e.values),
            _facts={},
        )
        _write(inner, body)
        e.when(_is_mine(e, agent), block)
    return []


def _is_mine(e: Emitter, agent: Agent) -> SSAValue:
    """Whether the warp belongs to an agent."""
    last = e.is_less(e.warp, e.int32(agent.first_warp + agent.warps))
    if agent.first_warp == 0:
        return last
    first = e.is_less(e.int32(agent.first_warp - 1), e.warp)
    both = e.both(first, last)
    assert both is not None
    return both


def _write(e: Emitter, body: Region) -> None:
    _set_registers(e)
    e.begin()
    if not is_for_one_thread(body):
        e.run(body.block)
        return
    first, only = Block(), Block()
    with e.within(first):
        elected = e.elected_of_warp()
        assert elected is not None
        with e.within(only):
            e.by_one_thread = True
            e.run(body.block)
        e.when(elected, only)
    e.when(e.is_equal(e.warp, 0), first)


def _set_registers(e: Emitter) -> None:
    """Give registers away or take more, where whole warpgroups do."""
    wanted = e.agent.registers
    if not wanted or not e.agent.groups:
        return
    entry = registers_at_entry(e.plan.block.threads, e.plan.target)
    if wanted != entry:
        e.insert(SetMaxRegisterOp(wanted, wanted > entry))


_TABLE: Any = {AgentSwitchOp: agent_switch}

AGENTS: Mapping[type[Operation], Handler] = _TABLE
"""Agents."""
