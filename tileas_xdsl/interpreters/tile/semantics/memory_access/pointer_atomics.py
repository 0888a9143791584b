"""Atomic updates through pointers; updates of one element happen one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tileas_xdsl.dialects.nv_tileas.memory.atomics import (
    AtomicCasOp,
    AtomicRmwOp,
    PointedAtomicOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.interpreters.tile.execution.agent import Language, Steps
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.memory.views import as_tile
from tileas_xdsl.interpreters.tile.numerics.element_sizes import bytes_of_tile
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of
from tileas_xdsl.interpreters.tile.semantics.memory_access.atomic_update import updated
from tileas_xdsl.interpreters.tile.semantics.memory_access.gather_scatter import (
    MaskedElements,
    pointed,
    single_result,
)
from tileas_xdsl.interpreters.tile.semantics.memory_access.tile_window import (
    atomic_access,
    before_polling,
)
from tileas_xdsl.interpreters.tile.semantics.memory_access.tiled_access import (
    after,
    token_of,
    value_of,
)

Update = Callable[[Array, Array], Array]
"""Return the new elements, given the old ones and their indices in the tile."""


def atomic_rmw(agent: TileAgent, op: AtomicRmwOp, inputs: Sequence[Any]) -> Steps:
    """Update elements by a value; what is masked out gives zero, as in threads."""
    values = _array(agent, op, op.value)
    mode, element = op.rmw_mode.data, op.element

    def update(old: Array, chosen: Array) -> Array:
        return updated(mode, old, values[chosen], element)

    return (yield from _update(agent, op, update, np.zeros_like(values)))


def atomic_cas(agent: TileAgent, op: AtomicCasOp, inputs: Sequence[Any]) -> Steps:
    """Compare and swap, by bits; what is masked out gives what it would be compared with."""
    values, compare = _array(agent, op, op.value), _array(agent, op, op.compare)

    def update(old: Array, chosen: Array) -> Array:
        return np.where(_bits(old) == _bits(compare[chosen]), values[chosen], old)

    return (yield from _update(agent, op, update, compare))


def _bits(values: Array) -> Array:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def _array(agent: TileAgent, op: PointedAtomicOp, value: Any) -> Array:
    """Return a value as a flat array in tile order, of length one for a scalar."""
    found = np.asarray(as_tile(agent.value_of(value), agent.actor(op)), dtype_of(op.element))
    return found.reshape(-1)


def _update(agent: TileAgent, op: PointedAtomicOp, update: Update, masked: Array) -> Steps:
    """Update elements one after the other; `masked` has the results of those that are not."""
    yield from after(agent, op, op.token)
    shape = shape_of(op.value.type) or ()
    mask = value_of(agent, op.mask)
    wanted = np.broadcast_to(np.asarray(True if mask is None else mask), shape)
    pointed_elements = pointed(agent, op, agent.value_of(op.base), op.element, wanted)
    access = atomic_access(op.mem_semantic)
    yield from before_polling(op, access, pointed_elements.name, pointed_elements.seen)
    old, actor = np.array(masked), agent.actor(op)
    for part in pointed_elements.parts:
        for chosen, positions in _rounds(part):
            before = part.view.read_at(positions, actor, access)
            old[chosen] = before
            part.view.write_at(positions, update(before, chosen), actor, access)
    agent.work(op, agent.latencies.load(bytes_of_tile(shape, op.element)))
    return single_result(old.reshape(shape), op.result.type), *token_of(agent, op.out_token)


def _rounds(part: MaskedElements) -> Iterator[tuple[Array, tuple[Array, ...]]]:
    """Return the chosen elements in groups without duplicate addresses."""
    left, (positions,) = np.flatnonzero(part.chosen), part.positions()
    while left.size:
        _, first = np.unique(positions, return_index=True)
        yield left[first], (positions[first],)
        left, positions = np.delete(left, first), np.delete(positions, first)


POINTER_ATOMICS = Language(behaviours={AtomicCasOp: atomic_cas, AtomicRmwOp: atomic_rmw})
