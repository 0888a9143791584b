"""Semantics of tiles that one block transfers to another: slots that are full or empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
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
    """Wait until slots are full, and empty them."""
    known, tiles = agent.block.device.transferred, list[Any]()
    for slot in inputs:
        yield Wait(
            partial(known.__contains__, slot),
            f"tiles to be stored to slot {slot}",
            op,
            ready_time=partial(_time_of, known, slot),
        )
        found = known.pop(slot)
        agent.clock.join(found.clock)
        tiles += found.tiles
    bytes_ = sum(np.asarray(tile).nbytes for tile in tiles)
    agent.work(op, agent.latencies.load(bytes_, cached=True))
    return tuple(tiles)


def _time_of(known: Mapping[int, TransferredTiles], slot: int) -> int:
    return known[slot].time


TILE_TRANSFERS = Language(
    effects={TransferOutOp: transfer_out}, behaviours={TransferInOp: transfer_in}
)
