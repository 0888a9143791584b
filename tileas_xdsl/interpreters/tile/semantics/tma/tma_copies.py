"""TMA: boxes between a described tensor and shared memory, by an engine of its own.

A load into a stage of a pipeline completes bytes on the stage's mbarrier; any load completes its
token.  Out of bounds, loads deliver zero or NaN and stores write nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import (
    AsyncGatherTmaLoadOp,
    AsyncScatterTmaStoreOp,
    AsyncTiledAtomicRmwOp,
    AsyncTiledTmaLoadOp,
    AsyncTiledTmaStoreOp,
    TmaLoadBase,
)
from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.execution.engines import Task
from tileas_xdsl.interpreters.tile.execution.machine import Block, TileAgent
from tileas_xdsl.interpreters.tile.faults import RuleBroken, fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import WEAK, Access, Actor
from tileas_xdsl.interpreters.tile.memory.views import View, as_tile
from tileas_xdsl.interpreters.tile.numerics.element_sizes import bytes_of_tile
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.semantics.memory_access.atomic_update import updated
from tileas_xdsl.interpreters.tile.semantics.memory_access.tile_window import (
    read_window,
    tile_window,
    write_window,
)
from tileas_xdsl.interpreters.tile.semantics.memory_access.tiled_access import refuse_images
from tileas_xdsl.interpreters.tile.semantics.tma.descriptors import Descriptor
from tileas_xdsl.interpreters.tile.semantics.tma.im2col import column_reader
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken
from tileas_xdsl.interpreters.tile.synchronization.pipeline_stages import Slot
from tileas_xdsl.interpreters.tile.synchronization.pipelines import (
    Pipeline,
    register_reader,
    slot_filled,
)

LOADS, STORES = "TMA", "stores"
"""The engines: loads complete on mbarriers, stores and reductions in bulk groups."""

Read: TypeAlias = Callable[[Actor], Array]


def _descriptor(op: Operation, descriptor: Any) -> Descriptor:
    if not isinstance(descriptor, Descriptor):
        raise fault(op, "uses a descriptor that no operation has made")
    return descriptor


def _check_boxes(op: Operation, shape: Sequence[int], box: Sequence[int]) -> None:
    """Raise a fault unless a tile consists of whole boxes."""
    if len(shape) != len(box) or any(n % b for n, b in zip(shape, box, strict=True)):
        raise fault(op, f"a tile of {_listed(shape)} is not made of boxes of {_listed(box)}")


def _listed(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def _box_reader(
    op: AsyncTiledTmaLoadOp,
    descriptor: Descriptor,
    destination: View,
    coords: Sequence[int],
    offsets: Sequence[int],
) -> Read:
    """Read the box at the coordinates, filled where it is out of bounds."""
    if descriptor.pixels is not None:
        return column_reader(op, descriptor, destination, coords)
    refuse_images(op, op.atom)
    _check_boxes(op, destination.shape, descriptor.box)
    window = tile_window(op, descriptor.view, destination.shape, coords, offsets)
    if window.is_inside:
        return lambda actor: window.read(actor)
    rest = descriptor.outside(window.shape, descriptor.view.element)
    return lambda actor: read_window(window, actor, WEAK, rest)


def _rows(agent: TileAgent, rows: SSAValue, op: Operation) -> Array:
    return np.asarray(as_tile(agent.value_of(rows), agent.actor(op))).astype(np.int64)


def _row_windows(
    op: Operation, descriptor: Descriptor, rows: Array, start: int, width: int
) -> list[View]:
    """Return the window of each row from column `start` on."""
    if len(descriptor.view.shape) != 2:
        raise fault(op, f"rows are of a matrix, not of rank {len(descriptor.view.shape)}")
    return [descriptor.view.part((int(row), start), (1, width)) for row in rows]


def _row_reader(
    agent: TileAgent, op: AsyncGatherTmaLoadOp, descriptor: Descriptor, destination: View
) -> Read:
    """Read rows by index; out-of-bounds rows are filled."""
    width = destination.shape[-1]
    start = agent.value_of(op.coords[0]) * width
    windows = _row_windows(op, descriptor, _rows(agent, op.rows, op), start, width)
    rest = descriptor.outside((1, width), descriptor.view.element)

    def read(actor: Actor) -> Array:
        found = [read_window(window, actor, WEAK, rest) for window in windows]
        return np.concatenate(found).reshape(destination.shape)

    return read


def tiled_tma_load(
    agent: TileAgent, op: AsyncTiledTmaLoadOp, inputs: Sequence[Any]
) -> tuple[AsyncToken]:
    """Issue a load of a box to shared memory."""
    desc, to, barrier = inputs[0], inputs[1], agent.value_of(op.barrier)
    coords, offsets = agent.get_values(op.coords), agent.get_values(op.offsets)
    destination = agent.destination(op, to)
    read = _box_reader(op, _descriptor(op, desc), destination, coords, offsets)
    return _load(agent, op, destination, barrier, read)


def gather_tma_load(
    agent: TileAgent, op: AsyncGatherTmaLoadOp, inputs: Sequence[Any]
) -> tuple[AsyncToken]:
    """Issue a gather of rows to shared memory."""
    desc, to, *_, barrier = inputs
    destination = agent.destination(op, to)
    read = _row_reader(agent, op, _descriptor(op, desc), destination)
    return _load(agent, op, destination, barrier, read)


def _load(
    agent: TileAgent,
    op: AsyncTiledTmaLoadOp | AsyncGatherTmaLoadOp,
    destination: View,
    barrier: AsyncToken,
    read: Read,
) -> tuple[AsyncToken]:
    size = bytes_of_tile(destination.shape, destination.element)
    group = number_of(op.num_multicast) or 1
    blocks = agent.block.peers(group) if group > 1 else [agent.block]
    filled = slot_filled(agent, destination)
    announced = _announce(agent, op, filled, size, group)
    delivers = op.result.type.delivered is not None

    def land(actor: Actor) -> tuple[Any, ...]:
        values = read(actor)
        for block in blocks:
            _deliver(block, destination, values, actor, block is agent.block)
        if filled is None:
            _check_count(op, announced, size)
        else:
            _tell(blocks, filled, size, actor, task)
        return (destination,) if delivers else ()

    latencies = agent.latencies
    token, task = agent.issue(
        agent.block.engine(LOADS),
        op,
        "a TMA load",
        land,
        latency=latencies.tma(size) + (latencies.remote if group > 1 else 0),
        busy=latencies.transfer(size),
        stage=None if filled is None else filled[0].index,
    )
    _wait_for_memory(task, destination, blocks)
    barrier.parts.append(token)
    if filled is not None:
        filled[0].filling.append(token)
    return (token,)


def _announce(
    agent: TileAgent, op: TmaLoadBase, filled: tuple[Slot, int] | None, size: int, group: int
) -> int:
    """Announce bytes on the mbarrier of the stage, unless the program did; return them."""
    given = number_of(op.tx_count)
    announced = size if given is None else given
    if filled is not None:
        slot, phase = filled
        slot.check_filling(agent.who, phase)
        slot.issued += size
        if slot.announced is None:
            slot.full.expect_tx(announced * group, agent.name, agent.now)
    agent.work(op, agent.latencies.arrive)
    return announced


def _check_count(op: Operation, announced: int, size: int) -> None:
    if announced != size:
        raise RuleBroken(f"announces {announced} bytes, but {size} have landed")


def _wait_for_memory(task: Task, destination: View, blocks: Sequence[Block]) -> None:
    """Delay a load to other blocks until they have allocated the memory."""
    key = destination.memory.key
    if len(blocks) > 1:
        task.ready = lambda: all(key in block.memories for block in blocks)


def _deliver(block: Block, destination: View, values: Array, actor: Actor, is_own: bool) -> None:
    if is_own:
        destination.write(values, actor)
        return
    memory = block.memories[destination.memory.key]
    there = replace(destination, memory=memory, lease=None)
    memory.check_write(there.region(), actor)
    there.array()[...] = values


def _tell(
    blocks: Sequence[Block], filled: tuple[Slot, int], size: int, actor: Actor, task: Task
) -> None:
    """Complete bytes on the mbarriers of the stage, in every block that received them."""
    slot, phase = filled
    pipeline = _pipeline_of(blocks, slot)
    for block in blocks:
        there = slot if pipeline is None else block.pipelines[pipeline.key].slots[slot.index]
        there.deliver(size, phase, actor, task.ended)


def _pipeline_of(blocks: Sequence[Block], slot: Slot) -> Pipeline | None:
    """Return the pipeline of a stage that several blocks share; None for a single block."""
    if len(blocks) == 1:
        return None
    known = [pipeline for block in blocks for pipeline in block.pipelines.values()]
    return next(pipeline for pipeline in known if slot in pipeline.slots)


def _store(
    agent: TileAgent,
    op: AsyncTiledTmaStoreOp | AsyncScatterTmaStoreOp | AsyncTiledAtomicRmwOp,
    what: str,
    put: Callable[[Array, Actor], None],
) -> tuple[AsyncToken]:
    """Issue a task that reads shared memory, then writes what it read."""
    source = agent.value_of(op.source)
    shape, element = source.shape, element_of(op.source.type)
    assert element is not None

    def land(actor: Actor) -> tuple[()]:
        put(as_tile(source, actor), actor)
        return ()

    size = bytes_of_tile(shape, element)
    token, task = agent.issue(
        agent.block.engine(STORES),
        op,
        what,
        land,
        latency=agent.latencies.bulk_store(size),
        busy=agent.latencies.bulk_store(size) - agent.latencies.bulk_store(0),
    )
    register_reader(agent, source, task)
    agent.work(op, agent.latencies.arrive)
    return (token,)


def _target(
    agent: TileAgent, op: AsyncTiledTmaStoreOp | AsyncTiledAtomicRmwOp
) -> tuple[View, Descriptor]:
    refuse_images(op, op.atom)
    descriptor, source = _descriptor(op, agent.value_of(op.desc)), agent.value_of(op.source)
    _check_boxes(op, source.shape, descriptor.box)
    coords, offsets = agent.get_values(op.coords), agent.get_values(op.offsets)
    window = tile_window(op, descriptor.view, source.shape, coords, offsets)
    return window, descriptor


def tiled_tma_store(
    agent: TileAgent, op: AsyncTiledTmaStoreOp, inputs: Sequence[Any]
) -> tuple[AsyncToken]:
    """Issue a store of a tile to a box."""
    window, _ = _target(agent, op)
    return _store(
        agent, op, "a TMA store", lambda values, actor: write_window(window, values, actor, WEAK)
    )


def scatter_tma_store(
    agent: TileAgent, op: AsyncScatterTmaStoreOp, inputs: Sequence[Any]
) -> tuple[AsyncToken]:
    """Issue a scatter of rows by index; rows out of bounds are dropped."""
    descriptor, source = _descriptor(op, agent.value_of(op.desc)), agent.value_of(op.source)
    width = source.shape[-1]
    start = agent.value_of(op.coords[0]) * width
    windows = _row_windows(op, descriptor, _rows(agent, op.rows, op), start, width)

    def put(values: Array, actor: Actor) -> None:
        for window, row in zip(windows, values.reshape(-1, width), strict=True):
            write_window(window, row[None, :], actor, WEAK)

    return _store(agent, op, "a TMA store", put)


_RELAXED = Access(is_strong=True, updates=True)


def tiled_reduce(
    agent: TileAgent, op: AsyncTiledAtomicRmwOp, inputs: Sequence[Any]
) -> tuple[AsyncToken]:
    """Issue an atomic reduction of a tile into a box."""
    window, _ = _target(agent, op)
    mode = op.rmw_mode.data

    def put(values: Array, actor: Actor) -> None:
        if (found := window.clipped()) is None:
            return
        inside, position = found
        before = inside.read(actor, _RELAXED)
        inside.write(updated(mode, before, values[position], window.element), actor, _RELAXED)

    return _store(agent, op, "a TMA reduction", put)


TMA = Language(
    effects={
        AsyncGatherTmaLoadOp: gather_tma_load,
        AsyncScatterTmaStoreOp: scatter_tma_store,
        AsyncTiledAtomicRmwOp: tiled_reduce,
        AsyncTiledTmaLoadOp: tiled_tma_load,
        AsyncTiledTmaStoreOp: tiled_tma_store,
    }
)
