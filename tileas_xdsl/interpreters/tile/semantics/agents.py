"""Semantics of agents, grid queries and barriers.

`agent_switch` runs its regions as concurrent processes and joins them. Vector clocks order what
they do: each child begins with the parent's clock, the parent joins theirs at the end.

    agent_switch agent 0 { A } agent 1 { B }       A and B are unordered unless a pipeline or a
    C                                              barrier orders them; C is behind both

The agents of a block share barrier 0 of the hardware, which counts threads: an agent without its
own warp count has one warp. `cancel_next_program_id` (clusterlaunchcontrol) takes a block of the
grid that has not started.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.dialects import func, gpu, memref
from xdsl.interpreter import ReturnedValues

from tileas_xdsl.diagnostics.verification.dominance import OPEN_BOUNDARY
from tileas_xdsl.dialects.nv_tileaa.grid import GetNumProgramsOp
from tileas_xdsl.dialects.nv_tileas.control import (
    AsyncCancelNextProgramIdOp,
    AsyncNextTileBlockOp,
    CancelNextProgramIdOp,
    PragmaOp,
    YieldOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.agent_checks import int_values
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import delivered_types
from tileas_xdsl.interpreters.tile.execution.agent import Language, Steps
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.execution.scheduler import Wait
from tileas_xdsl.interpreters.tile.faults import RuleBroken, fault
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import finished
from tileas_xdsl.interpreters.tile.synchronization.named_barrier import NamedBarrier
from tileas_xdsl.layout.units import WARP

AXES = "xyz"


def agent_switch(agent: TileAgent, op: AgentSwitchOp, inputs: Sequence[Any]) -> Steps:
    """Run each region as an agent of its own; join them all."""
    if OPEN_BOUNDARY in op.attributes:
        raise fault(op, "has an open boundary: tileas-resolve-agent-boundary closes it")
    _check_registers(agent, op)
    known, warps = agent.clock.snapshot(), op.agent_warps
    agent.clock.tick()
    prefix = "agent " if agent.name == "kernel" else f"{agent.name}."
    children: list[TileAgent] = []
    for k, body in enumerate(op.agent_bodies):
        share = None if warps is None else warps[k]
        child = TileAgent(agent.block, f"{prefix}{k}", agent.frame, share)
        clock = child.start(child.run_region(body), agent.now).clock
        clock.join(known)
        # An agent of an earlier split had the same name: this one begins after its last step.
        clock.tick()
        children.append(child)
    agent.children = children
    running = [child.process for child in children if child.process is not None]
    names = ", ".join(child.name for child in children)
    yield Wait(
        lambda: all(process.done for process in running),
        f"{names} to end",
        op,
        ready_time=lambda: max(process.time for process in running),
        joins=True,
    )
    for process in running:
        agent.clock.join(process.clock.snapshot())
    agent.children = []
    agent.block.device.scheduler.remove(running)
    return ()


def _check_registers(agent: TileAgent, op: AgentSwitchOp) -> None:
    """Raise a fault if the agents ask for more registers than there are: they would wait for each
    other forever."""
    warps, budgets = op.agent_warps, int_values(op, "max_regs")
    if warps is None or budgets is None or len(warps) != len(budgets):
        return
    needed = sum(WARP * count * budget for count, budget in zip(warps, budgets, strict=True))
    pool = agent.block.device.target.registers_per_multiprocessor
    if needed > pool:
        raise fault(op, f"asks for {needed} registers for its agents; a multiprocessor has {pool}")


def block_id(agent: TileAgent, op: gpu.BlockIdOp, inputs: Sequence[Any]) -> tuple[int]:
    """Return the block's index in the grid along an axis."""
    return (agent.block.index[AXES.index(str(op.dimension.data))],)


def grid_dim(agent: TileAgent, op: gpu.GridDimOp, inputs: Sequence[Any]) -> tuple[int]:
    """Return the number of blocks of the grid along an axis."""
    return (agent.block.device.grid[AXES.index(str(op.dimension.data))],)


def num_programs(agent: TileAgent, op: GetNumProgramsOp, inputs: Sequence[Any]) -> tuple[int]:
    """Return the number of tile blocks of the launch along an axis, however many blocks run."""
    return (agent.block.device.tile_blocks[op.axis.value.data],)


def _leaves(agent: TileAgent) -> Sequence[TileAgent]:
    """Yield the agents without children below an agent, until all have ended."""
    if not agent.children:
        return [agent]
    return [leaf for child in agent.children for leaf in _leaves(child)]


def barrier(agent: TileAgent, op: gpu.BarrierOp, inputs: Sequence[Any]) -> Steps:
    """Synchronise all agents of the block: barrier 0, for all of its threads.

    An agent that has ended waits for its siblings, not on the barrier: its threads are missing.
    """
    block = agent.block
    shares = [a.warps or 1 for a in _leaves(block.agents[0])]
    joint = block.barriers.setdefault(0, NamedBarrier(0, f"{block.prefix}barrier 0"))
    generation = joint.arrive(
        agent.who,
        WARP * (agent.warps or 1),
        joint.threads or WARP * sum(shares),
        agent.now,
        agent.clock.snapshot(),
    )
    agent.clock.tick()
    yield Wait(
        lambda: joint.passed(generation),
        f"all agents on {joint.name}: {joint.missing()}",
        op,
        ready_time=lambda: joint.completed_at,
    )
    agent.clock.join(joint.released_clock)
    agent.work(op, agent.latencies.barrier)
    return ()


def dim(agent: TileAgent, op: memref.DimOp, inputs: Sequence[Any]) -> tuple[int]:
    """Return an extent of a memref."""
    source: Any = inputs[0]
    axis: int = inputs[1]
    if not isinstance(source, View) or not 0 <= axis < len(source.extents):
        raise fault(op, f"a memref has no dimension {axis}")
    return (source.extents[axis],)


def pragma(agent: TileAgent, op: PragmaOp, inputs: Sequence[Any]) -> Steps:
    """Run the body; directives have no semantics."""
    if op.body is None:
        return ()
    return (yield from agent.run_region(op.body))


def _claim(agent: TileAgent, axes: int, with_validity: bool) -> tuple[Any, ...]:
    """Claim a block that has not started: return its ids, -1 where there is none."""
    block = agent.block
    if len(block.cluster) > 1:
        raise RuleBroken("the place of a block is not taken by one of a cluster")
    waiting = block.device.waiting
    ids = waiting.popleft() if waiting else (-1, -1, -1)
    return (*ids[:axes], ids[0] >= 0) if with_validity else ids[:axes]


def cancel(agent: TileAgent, op: CancelNextProgramIdOp, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Claim the next block of the grid."""
    return _claim(agent, len(op.program_ids), op.valid is not None)


def async_cancel(
    agent: TileAgent, op: AsyncCancelNextProgramIdOp, inputs: Sequence[Any]
) -> tuple[Any, ...]:
    """Claim the next block of the grid; the token delivers its ids."""
    types = delivered_types(op.token.type)
    with_validity = len(types) > 1 and str(types[-1]) == "i1"
    claimed = _claim(agent, len(types) - with_validity, with_validity)
    return (finished("the next program id", claimed),)


def next_tile_block(
    agent: TileAgent, op: AsyncNextTileBlockOp, inputs: Sequence[Any]
) -> tuple[Any, ...]:
    """Take the next tile block; the token delivers its ids, the first of which is -1 for none."""
    device, axes = agent.block.device, len(delivered_types(op.token.type))
    if (ctas := device.program.spec.tile_block_ctas) > 1:
        raise RuleBroken(f"one CTA asks for a tile block, which {ctas} CTAs compute")
    number = prod(device.grid) * op.rounds.value.data + device.asked
    device.asked += 1
    x, y, _ = device.tile_blocks
    is_there = number < prod(device.tile_blocks)
    ids = (number % x, number // x % y, number // (x * y)) if is_there else (-1, 0, 0)
    return (finished("the next tile block", ids[:axes]),)


def _yielded(_: Any, inputs: Sequence[Any]) -> ReturnedValues:
    return ReturnedValues(tuple(inputs))


AGENTS = Language(
    effects={
        AsyncCancelNextProgramIdOp: async_cancel,
        AsyncNextTileBlockOp: next_tile_block,
        CancelNextProgramIdOp: cancel,
        GetNumProgramsOp: num_programs,
        gpu.BlockIdOp: block_id,
        gpu.GridDimOp: grid_dim,
        memref.DimOp: dim,
    },
    behaviours={
        AgentSwitchOp: agent_switch,
        PragmaOp: pragma,
        gpu.BarrierOp: barrier,
    },
    ends={YieldOp: _yielded, func.ReturnOp: _yielded},
)
