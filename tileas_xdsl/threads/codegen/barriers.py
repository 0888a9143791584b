"""Barriers of the threads of an agent or a warp."""

from __future__ import annotations

from tileas_xdsl.dialects.cute_nvgpu import BarrierOp, SyncWarpOp
from tileas_xdsl.threads.codegen.builder import ThreadBuilder


class BarrierInTurnError(Exception):
    """A barrier of all warpgroups while one of them holds its turn: a deadlock."""


def synchronize_agent(e: ThreadBuilder) -> None:
    """Insert a barrier of all threads of the agent: `bar.sync`, named unless it is the block.

    Raises an `BarrierInTurnError` between the `take` and the `pass` of an `async.turn`.
    """
    if e.in_turn:
        raise BarrierInTurnError
    if e.agent.number == 0:
        e.insert(BarrierOp(0))
    else:
        e.insert(BarrierOp(e.agent.number, e.agent.threads))


def synchronize_warp(e: ThreadBuilder) -> None:
    """Insert a barrier of the threads of each warp: `bar.warp.sync`."""
    e.insert(SyncWarpOp())
