"""Barriers of the threads of an agent or a warp.

A loop must not write again what threads still read of the round before. Two exchanges in one loop
need no barrier for that, since the barrier of each stands between the other one's rounds:

    barrier (rounds)                               store %a
    store %a;  barrier;  load %a             ->    barrier;  load %a
    barrier (rounds)                               store %b
    store %b;  barrier;  load %b                   barrier;  load %b
"""

from __future__ import annotations

from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.cute_nvgpu import BarrierOp, SyncWarpOp
from tileas_xdsl.dialects.ir_queries import is_defined_before
from tileas_xdsl.threads.codegen.builder import AgentBarrier, ThreadBuilder
from tileas_xdsl.threads.codegen.shared_allocations import ScratchAllocation


class BarrierInTurnError(Exception):
    """A barrier of all warpgroups while one of them holds its turn: a deadlock."""


def synchronize_agent(e: ThreadBuilder) -> None:
    """Insert a barrier of all threads of the agent: `bar.sync`, named unless it is the block.

    Raises an `BarrierInTurnError` between the `take` and the `pass` of an `async.turn`.
    """
    _synchronize(e)


def separate_rounds(e: ThreadBuilder, buffer: ScratchAllocation | None = None) -> None:
    """Insert a barrier between what the operation did the round before and what it does now.

    It writes a buffer that it read, or completes a phase that it waited for.  `drop_round_barriers`
    takes the barrier away where barriers of other operations do as well.
    """
    _synchronize(e, buffer, is_between_rounds=True)


def _synchronize(
    e: ThreadBuilder, guarded: ScratchAllocation | None = None, *, is_between_rounds: bool = False
) -> None:
    if e.in_turn:
        raise BarrierInTurnError
    number = e.agent.number
    op = e.insert(BarrierOp(0) if number == 0 else BarrierOp(number, e.agent.threads))
    e.agent_barriers.append(AgentBarrier(op, e.source, is_between_rounds, guarded))


def drop_round_barriers(e: ThreadBuilder) -> None:
    """Erase barriers between rounds where another operation of the same block has one of its own.

    What an operation exchanges it has read when its code ends. From there to its code in the next
    round threads pass all of the block that is behind it or in front of it.
    """
    kept = list(e.agent_barriers)
    for barrier in e.agent_barriers:
        if barrier.only_separates_rounds and any(barrier.is_implied_by(other) for other in kept):
            kept.remove(barrier)
            Rewriter.erase_op(barrier.op)


def hand_out_with_barriers(e: ThreadBuilder) -> None:
    """Hand out what one thread has with the barriers that are between that and the other threads.

    %n = atom; ...; bar; use; bar; store %n; bar; load  ->  %n = atom; ...; store %n; bar; use; load

    What threads read of the round before they have read when they meet at another barrier of the
    block; without one that in front of the store stays.
    """
    for one in e.handed_out:
        block = one.store.parent
        kept = [barrier.op for barrier in e.agent_barriers if barrier.op.parent is block]
        between = [
            op
            for op in kept
            if is_defined_before(one.value, op) and op.is_before_in_block(one.store)
        ]
        if not between:
            continue
        last = between[-1]
        for op in (one.before, one.store):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(last))
        Rewriter.erase_op(one.behind)
        if len(kept) > 1:
            Rewriter.erase_op(one.before)


def synchronize_warp(e: ThreadBuilder) -> None:
    """Insert a barrier of the threads of each warp: `bar.warp.sync`."""
    e.insert(SyncWarpOp())
