"""Lower agents: warp ranges of the block, each with a register budget (`setmaxnreg`).

    agent_switch {max_regs = [40, 232], num_warps = [4, 8]}
      {load}, {multiply}

    if %warp < 4                { setmaxnreg.dec 40    load }
    if 3 < %warp and %warp < 12 { setmaxnreg.inc 232   multiply }

All warps go on behind it.  An agent that only issues copies runs in one elected thread; where
tcgen05 multiplies, an idle warp of another agent may issue the products (`mma_issuer_warp.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.builder import Builder
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.verification.dominance import OPEN_BOUNDARY
from tileas_xdsl.dialects.cute_nvgpu import SetMaxRegisterOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agent_checks import captures
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import note_at
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i32_constant, is_equal, is_less, logical_and
from tileas_xdsl.threads.codegen.lowered_values import (
    DotToken,
    LoadToken,
    Lowered,
    RegisterTile,
    TmemTile,
)
from tileas_xdsl.threads.codegen.structured_control_flow import run_if
from tileas_xdsl.threads.codegen.thread_ids import (
    compute_thread_ids,
    is_elected_in_warp,
    is_leader_cta,
    warp_id,
)
from tileas_xdsl.threads.dot.mma_issuer_warp import Issuer, host_of, issuers
from tileas_xdsl.threads.pipeline.kernel_plan import is_for_one_thread
from tileas_xdsl.threads.pipeline.warp_allocation import Agent, agents_of, registers_at_entry
from tileas_xdsl.threads.tmem.accumulator_barriers import reset_rings


def agent_switch(e: ThreadBuilder, op: AgentSwitchOp) -> Sequence[Lowered]:
    """Run the body of each agent in its own warps; all of them continue after it."""
    if OPEN_BOUNDARY in op.attributes:
        raise op_error(op, "has an open boundary: tileas-resolve-agent-boundary closes it")
    if e.agent.number:
        raise op_error(op, f"splits {e.agent.name} again, which is not lowered to threads yet")
    plan = e.plan
    agents = agents_of(op, e.agent, plan.target, plan.blocks_together)
    split = issuers(plan, op)
    for position, (agent, body) in enumerate(zip(agents, op.agent_bodies, strict=True)):
        _check_captures(e, agent, body)
        block = Block()
        inner = _inside(e, agent, block)
        inner.issues = position not in split
        _write(inner, body)
        for other, issuer in split.items():
            if host_of(agents, issuer) == position:
                _write_products(inner, issuer, op.agent_bodies[other])
        run_if(e, _is_mine(e, agent), block)
    return []


def _inside(e: ThreadBuilder, agent: Agent, block: Block) -> ThreadBuilder:
    builder = Builder(InsertPoint.at_end(block))
    return replace(e, agent=agent, builder=builder, values=dict(e.values), at_entry={})


def _write_products(e: ThreadBuilder, issuer: Issuer, body: Region) -> None:
    """Issue the MMAs of another agent from an idle warp of this one."""
    block = Block()
    inner = _inside(e, issuer.agent, block)
    inner.issues, inner.reads, inner.by_one_warp = True, False, True
    inner.kept = issuer.operations
    compute_thread_ids(inner)
    reset_rings(inner)
    inner.run(body.block)
    is_issuer = is_equal(e, warp_id(e), issuer.agent.first_warp - e.agent.first_warp)
    condition = logical_and(e, is_leader_cta(e), is_issuer)
    assert condition is not None
    run_if(e, condition, block)


def _check_captures(e: ThreadBuilder, agent: Agent, body: Region) -> None:
    """Reject register tiles captured from other agents' threads."""
    if (agent.first_warp, agent.warps) == (e.agent.first_warp, e.agent.warps):
        return
    for user, value in captures(body):
        if isinstance(e.values.get(value), RegisterTile | LoadToken | DotToken | TmemTile):
            name = "a tile" if value.name_hint is None else f"%{value.name_hint}"
            text = f"uses {name} in registers of other threads than those of {agent.name}"
            reason = note_at(value, "tileas-resolve-agent-boundary hands it over")
            raise op_error(user, text, [reason])


def _is_mine(e: ThreadBuilder, agent: Agent) -> SSAValue:
    """Return an `i1`: the warp belongs to an agent."""
    last = is_less(e, warp_id(e), i32_constant(e, agent.first_warp + agent.warps))
    if agent.first_warp == 0:
        return last
    first = is_less(e, i32_constant(e, agent.first_warp - 1), warp_id(e))
    both = logical_and(e, first, last)
    assert both is not None
    return both


def _write(e: ThreadBuilder, body: Region) -> None:
    _set_registers(e)
    compute_thread_ids(e)
    reset_rings(e)
    if not is_for_one_thread(body):
        e.run(body.block)
        return
    first, only = Block(), Block()
    with e.within(first):
        elected = is_elected_in_warp(e)
        assert elected is not None
        with e.within(only):
            e.by_one_thread = True
            e.run(body.block)
        run_if(e, elected, only)
    run_if(e, is_equal(e, warp_id(e), 0), first)


def _set_registers(e: ThreadBuilder) -> None:
    """Emit `setmaxnreg` where an agent consists of whole warpgroups."""
    wanted = e.agent.registers
    if not wanted or not e.agent.groups:
        return
    plan = e.plan
    entry = registers_at_entry(plan.block.threads, plan.target, plan.blocks_together)
    if wanted != entry:
        e.insert(SetMaxRegisterOp(wanted, wanted > entry))


HANDLERS: Handlers = {
    AgentSwitchOp: agent_switch,
}
