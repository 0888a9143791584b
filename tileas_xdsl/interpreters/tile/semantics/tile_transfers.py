"""Semantics of tiles that one block transfers to another: slots that are full or empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tileas_xdsl.dialects.nv_tileas.memory.tile_transfers import TransferInOp, TransferOutOp
from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent, TransferredTiles
from tileas_xdsl.interpreters.tile.execution.scheduler import Steps, Wait
from tileas_xdsl.interpreters.tile.faults import RuleBroken


def transfer_out(agent: TileAgent, op: TransferOutOp, inputs: Sequence[Any]) -> tuple[()]:
    """Fill a slot, and release what the agent did before."""
    slot, *tiles = inputs
    known = agent.block.device.transferred
    if slot in known:
        raise RuleBroken(f"slot {slot} is full: no block has loaded what is there")
    times, bytes_ = agent.latencies, sum(np.asarray(tile).nbytes for tile in tiles)
    agent.work(op, times.transfer(bytes_))
    there = agent.now + times.global_latency
    copies = [np.array(tile) for tile in tiles]
    known[slot] = TransferredTiles(copies, agent.clock.snapshot(), there)
    agent.clock.tick()
    return ()


def transfer_in(agent: TileAgent, op: TransferInOp, inputs: Sequence[Any]) -> Steps:
    """Wait until a slot is full, and empty it."""
    (slot,) = inputs
    known = agent.block.device.transferred
    yield Wait(
        lambda: slot in known,
        f"tiles to be stored to slot {slot}",
        op,
        ready_time=lambda: known[slot].time,
    )
    found = known.pop(slot)
    agent.clock.join(found.clock)
    bytes_ = sum(np.asarray(tile).nbytes for tile in found.tiles)
    agent.work(op, agent.latencies.load(bytes_, cached=True))
    return tuple(found.tiles)


TILE_TRANSFERS = Language(
    effects={TransferOutOp: transfer_out}, behaviours={TransferInOp: transfer_in}
)
