"""Semantics of tiles that one block hands over to another: places that are full or empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tileas_xdsl.dialects.nv_tileas.memory.handed_tiles import HandOverOp, TakeOverOp
from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.execution.machine import Handed, TileAgent
from tileas_xdsl.interpreters.tile.execution.scheduler import Steps, Wait
from tileas_xdsl.interpreters.tile.faults import RuleBroken


def hand_over(agent: TileAgent, op: HandOverOp, inputs: Sequence[Any]) -> tuple[()]:
    """Fill a place, and release what the agent did before."""
    place, *tiles = inputs
    known = agent.block.device.handed
    if place in known:
        raise RuleBroken(f"place {place} is full: nobody has taken over what is there")
    times, bytes_ = agent.latencies, sum(np.asarray(tile).nbytes for tile in tiles)
    agent.work(op, times.transfer(bytes_))
    there = agent.now + times.global_latency
    copies = [np.array(tile) for tile in tiles]
    known[place] = Handed(copies, agent.clock.snapshot(), there)
    agent.clock.tick()
    return ()


def take_over(agent: TileAgent, op: TakeOverOp, inputs: Sequence[Any]) -> Steps:
    """Wait until a place is full, and empty it."""
    (place,) = inputs
    known = agent.block.device.handed
    yield Wait(
        lambda: place in known,
        f"tiles to be handed over in place {place}",
        op,
        ready_time=lambda: known[place].time,
    )
    found = known.pop(place)
    agent.clock.join(found.clock)
    bytes_ = sum(np.asarray(tile).nbytes for tile in found.tiles)
    agent.work(op, agent.latencies.load(bytes_, cached=True))
    return tuple(found.tiles)


HANDED_TILES = Language(effects={HandOverOp: hand_over}, behaviours={TakeOverOp: take_over})
