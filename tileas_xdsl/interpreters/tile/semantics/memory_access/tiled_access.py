"""Tiled loads, stores, updates and copies: whole tiles of a view, in bounds or padded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.checks import LEADING_COORDINATES
from tileas_xdsl.dialects.nv_tileas.memory.copy import AsyncCopyOp, CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    AsyncTiledLoadOp,
    RotatedOp,
    TiledAtomicRmwOp,
    TiledLoadBase,
    TiledLoadOp,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.interpreters.tile.execution.agent import Language, Steps
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor
from tileas_xdsl.interpreters.tile.memory.views import View, as_tile
from tileas_xdsl.interpreters.tile.numerics.element_sizes import bytes_of_tile, unspecified
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.semantics.memory_access.atomic_update import updated
from tileas_xdsl.interpreters.tile.semantics.memory_access.tile_window import (
    access_of,
    atomic_access,
    before_polling,
    check_in_bounds,
    padding_tile,
    read_window,
    seen_through,
    tile_window,
    write_window,
)
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken
from tileas_xdsl.interpreters.tile.synchronization.pipelines import register_reader, slot_filled

COPIES = "copies"
"""The engine of asynchronous copies that are not TMA."""


def value_of(agent: TileAgent, value: SSAValue | None) -> Any:
    """Return the value of an optional operand."""
    return None if value is None else agent.value_of(value)


def tokens_of(agent: TileAgent, value: SSAValue | None) -> Sequence[AsyncToken]:
    """Return the token that an operation depends on, if any."""
    return () if value is None else (agent.value_of(value),)


def after(agent: TileAgent, op: Operation, value: SSAValue | None) -> Steps:
    """Wait for the token that a synchronous operation depends on."""
    for token in tokens_of(agent, value):
        yield from agent.wait_for(token, op)
    return ()


def token_of(agent: TileAgent, wanted: SSAValue | None) -> tuple[AsyncToken, ...]:
    """Return a completed token of a synchronous operation, if one is requested."""
    if wanted is None:
        return ()
    token = AsyncToken("a memory access", done=False)
    token.complete(agent.clock.snapshot(), agent.now)
    agent.clock.tick()
    return (token,)


def tile_type(value: Attribute) -> tuple[tuple[int, ...], Attribute]:
    """Return shape and element type of a tile."""
    shape, element = shape_of(value), element_of(value)
    assert shape is not None
    assert element is not None
    return shape, element


def cost_of(agent: TileAgent, view: View, shape: Sequence[int]) -> int:
    """Return the cycles of an access to a tile, by its memory space."""
    size = bytes_of_tile(shape, view.element)
    if view.memory.space is Space.GMEM:
        return agent.latencies.load(size)
    return agent.latencies.shared(size)


def refuse_images(op: Operation, atom: Any) -> None:
    """Refuse im2col modes, which only descriptor loads support."""
    if isinstance(atom.data, TmaAtom) and atom.data.mode in LEADING_COORDINATES:
        raise fault(
            op, f"mode '{atom.data.mode}' has no meaning: the corners of its box are not said"
        )


def _window(
    agent: TileAgent, op: TiledLoadBase | TiledStoreOp | TiledAtomicRmwOp, tile: Attribute
) -> View:
    refuse_images(op, op.atom)
    shape, element = tile_type(tile)
    view = agent.view(op, agent.value_of(op.view), element, Space.GMEM)
    offsets = agent.get_values(op.offsets)
    if isinstance(op, RotatedOp) and op.rotated is not None:
        offsets = (0,) * len(shape) if op.modulus is not None else (*offsets[:-1], 0)
    window = tile_window(op, view, shape, agent.get_values(op.coords), offsets)
    check_in_bounds(op, window, op.in_bounds)
    return window


def _is_rotated(op: TiledLoadBase | TiledStoreOp | TiledAtomicRmwOp) -> bool:
    return isinstance(op, RotatedOp) and op.rotated is not None


def _read(
    agent: TileAgent, op: TiledLoadBase, window: View, actor: Actor, mask: Array | None
) -> Array:
    """Read a window; its rows may begin at another column."""
    rest, access = _rest(op, op.loaded_type()), access_of(op.mem_semantic)
    if not _is_rotated(op):
        return read_window(window, actor, access, rest, mask)
    found = rest.copy()
    for place, part in _rotated_parts(agent, op, op.loaded_type()):
        found[place] = read_window(part, actor, access, rest[place])
    return found


Place = tuple[Any, ...]
"""An index of a tile: the rows, and the columns."""


def _rotated_parts(
    agent: TileAgent, op: TiledLoadBase | TiledStoreOp, tile: Attribute
) -> Iterator[tuple[Place, View]]:
    """Yield the elements of a rotated tile that are side by side in memory, and where they are."""
    shape, element = tile_type(tile)
    view = agent.view(op, agent.value_of(op.view), element, Space.GMEM)
    *coords, last = agent.get_values(op.coords)
    *offsets, shift = agent.get_values(op.offsets)
    if op.modulus is None:
        for columns, start, count in _side_by_side(op, shape[-1], last, shift):
            where = (*offsets, start)
            yield (
                (..., columns),
                tile_window(op, view, (*shape[:-1], count), (*coords, 0), where),
            )
        return
    one, most = (1,) * len(coords), op.modulus.value.data - 1
    for row in np.ndindex(*shape[:-1]):
        turned = shift + sum(k * step for k, step in zip(row, offsets, strict=True))
        turned = (turned + most) % (most + 1) - most
        starts = [c * n + k for c, n, k in zip(coords, shape, row, strict=False)]
        for columns, start, count in _side_by_side(op, shape[-1], last, turned):
            place = (*(slice(k, k + 1) for k in row), columns)
            zeros = (0,) * len(shape)
            yield place, tile_window(op, view, (*one, count), zeros, (*starts, start))


def _side_by_side(
    op: TiledLoadBase | TiledStoreOp, size: int, last: int, shift: int
) -> Iterator[tuple[slice, int, int]]:
    """Yield the elements of a row that are adjacent columns, the first one, and how many."""
    width = size if op.row_width is None else op.row_width.value.data
    row, part = divmod(last * size, width)
    first = (part + shift) % width
    before_end = min(size, width - first)
    for columns, begin in ((slice(0, before_end), first), (slice(before_end, size), 0)):
        count = columns.stop - columns.start
        if count:
            yield columns, row * width + begin, count


def _rest(op: TiledLoadBase, tile: Attribute) -> Array:
    shape, element = tile_type(tile)
    return padding_tile(shape, element, op.padding_value, op.atom)


def tiled_load(agent: TileAgent, op: TiledLoadOp, inputs: Sequence[Any]) -> Steps:
    """Read a tile."""
    yield from after(agent, op, op.token)
    window = _window(agent, op, op.loaded_type())
    mask, access = value_of(agent, op.mask), access_of(op.mem_semantic)
    yield from before_polling(op, access, window.memory.name, lambda: seen_through(window))
    values = _read(agent, op, window, agent.actor(op), mask)
    agent.work(op, cost_of(agent, window, window.shape))
    return values, *token_of(agent, op.out_token)


def async_tiled_load(
    agent: TileAgent, op: AsyncTiledLoadOp, inputs: Sequence[Any]
) -> tuple[Any, ...]:
    """Issue a tiled load; the token delivers the tile."""
    window = _window(agent, op, op.loaded_type())
    mask = value_of(agent, op.mask)

    def land(actor: Actor) -> tuple[Array]:
        return (_read(agent, op, window, actor, mask),)

    cost = cost_of(agent, window, window.shape)
    token, task = agent.issue(
        agent.block.engine(COPIES),
        op,
        "a load",
        land,
        latency=cost,
        after=tokens_of(agent, op.token),
    )
    register_reader(agent, window, task)
    return token, *(() if op.out_token is None else (token,))


def tiled_store(agent: TileAgent, op: TiledStoreOp, inputs: Sequence[Any]) -> Steps:
    """Write a tile; what is out of bounds is dropped."""
    yield from after(agent, op, op.token)
    window = _window(agent, op, op.value.type)
    agent.destination(op, agent.value_of(op.view))
    values = as_tile(agent.value_of(op.value), agent.actor(op))
    parts = _rotated_parts(agent, op, op.value.type) if _is_rotated(op) else [((...,), window)]
    for place, part in parts:
        write_window(part, values[place], agent.actor(op), access_of(op.mem_semantic))
    agent.work(op, agent.latencies.shared(bytes_of_tile(window.shape, window.element)))
    return token_of(agent, op.out_token)


def tiled_atomic_rmw(agent: TileAgent, op: TiledAtomicRmwOp, inputs: Sequence[Any]) -> Steps:
    """Update a tile atomically, element by element; return the old tile."""
    yield from after(agent, op, op.token)
    window = _window(agent, op, op.value.type)
    agent.destination(op, agent.value_of(op.view))
    values, access = (
        as_tile(agent.value_of(op.value), agent.actor(op)),
        atomic_access(op.mem_semantic),
    )
    yield from before_polling(op, access, window.memory.name, lambda: seen_through(window))
    old = unspecified(window.shape, window.element)
    if (found := window.clipped()) is not None:
        inside, position = found
        before = inside.read(agent.actor(op), access)
        after_update = updated(op.rmw_mode.data, before, values[position], window.element)
        inside.write(after_update, agent.actor(op), access)
        old[position] = before
    agent.work(op, cost_of(agent, window, window.shape))
    return old, *token_of(agent, op.out_token)


def _ends(agent: TileAgent, op: CopyOp | AsyncCopyOp) -> tuple[Any, View]:
    """Return source and destination, which must have equal extents."""
    source = agent.value_of(op.source)
    destination = agent.destination(op, agent.value_of(op.destination))
    shape = source.shape
    if tuple(shape) != destination.shape:
        raise fault(op, f"copies to the same shape, not from {shape} to {destination.shape}")
    return source, destination


def copy(agent: TileAgent, op: CopyOp, inputs: Sequence[Any]) -> tuple[()]:
    """Copy a tile into another one."""
    source, destination = _ends(agent, op)
    destination.write(as_tile(source, agent.actor(op)), agent.actor(op))
    size = bytes_of_tile(destination.shape, destination.element)
    from_global = isinstance(source, View) and source.memory.space is Space.GMEM
    agent.work(op, agent.latencies.load(size) if from_global else agent.latencies.shared(size))
    return ()


def async_copy(agent: TileAgent, op: AsyncCopyOp, inputs: Sequence[Any]) -> tuple[AsyncToken]:
    """Issue a copy of a tile; a stage that it fills is published only after it completes."""
    source, destination = _ends(agent, op)

    def land(actor: Actor) -> tuple[()]:
        destination.write(as_tile(source, actor), actor)
        return ()

    size = bytes_of_tile(destination.shape, destination.element)
    filled = slot_filled(agent, destination)
    token, task = agent.issue(
        agent.block.engine(COPIES),
        op,
        "a copy",
        land,
        latency=agent.latencies.load(size),
        stage=None if filled is None else filled[0].index,
    )
    register_reader(agent, source, task)
    if filled is not None:
        filled[0].copies.append(task)
        filled[0].filling.append(token)
    return (token,)


TILED_MEMORY = Language(
    effects={AsyncCopyOp: async_copy, AsyncTiledLoadOp: async_tiled_load, CopyOp: copy},
    behaviours={
        TiledAtomicRmwOp: tiled_atomic_rmw,
        TiledLoadOp: tiled_load,
        TiledStoreOp: tiled_store,
    },
)
