"""Allocate warps and registers to the agents of a block (warp specialisation).

Agents are contiguous ranges of warps. A kernel starts with equal registers for all threads, a
multiple of 8; `setmaxnreg` (PTX ISA, sm_90a) then moves registers between warpgroups. On an SM with
65,536 registers:

    agent_switch num_warps [4, 4], max_regs [40, 232]: 256 threads begin with 248 each (the limit
    of 255, rounded down), 63,488 in all; 128 * 40 + 128 * 232 = 34,816 fit

The sum must fit what the threads began with: `setmaxnreg.inc` waits until registers are free, so
that a plan which does not fit hangs. An agent that is not whole warpgroups keeps its entry count.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.pipelines.agent_checks import int_values
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.isa.tables.warps import MAX_REGISTERS, MIN_REGISTERS, REGISTER_STEP

MAX_CONSUMER_REGISTERS = 232
"""Of a thread that multiplies: a block of three warpgroups has no more."""


@dataclass(frozen=True)
class Agent:
    """The contiguous warps that run the body of an agent."""

    name: str
    first_warp: int
    warps: int
    registers: int = 0
    """Registers per thread; 0 to keep the count at kernel entry."""
    number: int = 0
    """0 for the whole block, else one more than the position of the body."""

    @property
    def threads(self) -> int:
        """The number of threads."""
        return self.warps * WARP

    @property
    def groups(self) -> int:
        """The number of warpgroups; 0 if the warps do not make whole, aligned ones."""
        whole = self.warps % WARPGROUP_WARPS == 0 and self.first_warp % WARPGROUP_WARPS == 0
        return self.warps // WARPGROUP_WARPS if whole else 0


def agents_of(op: AgentSwitchOp, block: Agent, target: Target, blocks: int = 1) -> Sequence[Agent]:
    """Return the agents of a switch, by its attributes or else in equal parts of the block's warps.

    `blocks` share a multiprocessor.
    """
    bodies = len(op.agent_bodies)
    warps = int_values(op, "num_warps") or _equal_parts(op, block, bodies)
    first = int_values(op, "warp_id") or [sum(warps[:k]) for k in range(bodies)]
    budgets = int_values(op, "max_regs") or [0] * bodies
    agents = [
        Agent(f"agent {k}", first[k], warps[k], _budget(budgets[k]), k + 1) for k in range(bodies)
    ]
    threads = max(block.threads, *((agent.first_warp + agent.warps) * WARP for agent in agents))
    _check_budget(op, agents, threads, registers_at_entry(threads, target, blocks))
    return agents


def _equal_parts(op: Operation, block: Agent, bodies: int) -> Sequence[int]:
    share, rest = divmod(block.warps, bodies)
    if rest or not share:
        raise op_error(op, f"divides {block.warps} warps among {bodies} agents, say num_warps")
    return [share] * bodies


def _budget(registers: int) -> int:
    """Round a register budget up to a legal count of `setmaxnreg`."""
    if not registers:
        return 0
    rounded = align_up(registers, REGISTER_STEP)
    return min(max(rounded, MIN_REGISTERS), MAX_REGISTERS)


def _check_budget(op: Operation, agents: Sequence[Agent], threads: int, entry: int) -> None:
    """Check that `setmaxnreg` budgets fit the registers at entry: else an H200 waits forever.

    Agents without a budget, or without whole warpgroups, keep their entry count.
    """
    kept = [agent.registers if agent.groups and agent.registers else entry for agent in agents]
    wanted = sum(agent.threads * count for agent, count in zip(agents, kept, strict=True))
    if wanted > threads * entry:
        raise op_error(
            op,
            f"its agents want {wanted} registers; {threads} threads begin with {threads * entry}",
        )


MIN_KEPT_REGISTERS = 128
"""Minimum registers per thread, whatever the requested occupancy."""


def blocks_together(threads: int, occupancy: int, target: Target) -> int:
    """Return the guaranteed CTAs per multiprocessor: `occupancy`, if registers suffice."""
    most = target.registers_per_multiprocessor // (threads * MIN_KEPT_REGISTERS)
    return max(min(occupancy, most), 1)


def registers_at_entry(threads: int, target: Target, blocks: int) -> int:
    """Return the registers per thread at kernel entry, before `setmaxnreg`.

    `blocks` share a multiprocessor.
    """
    of_block = target.registers_per_multiprocessor // blocks
    share = of_block // threads // REGISTER_STEP * REGISTER_STEP
    return min(share, target.registers_per_thread // REGISTER_STEP * REGISTER_STEP)
