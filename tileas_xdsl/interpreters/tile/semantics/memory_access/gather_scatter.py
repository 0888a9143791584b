"""Loads and stores through pointers, at coordinates of elements, and at scattered ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import pointer_of
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.access_checks import accessed_element
from tileas_xdsl.dialects.nv_tileas.memory.element_access import (
    AsyncLoadOp,
    AsyncStoreOp,
    GatherLoadOp,
    LoadBase,
    LoadOp,
    ScatterStoreOp,
    StoreBase,
    StoreOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.interpreters.tile.execution.agent import Language, Steps
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.pointers import memory_of
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Access, Actor, Memory
from tileas_xdsl.interpreters.tile.memory.views import View, as_tile
from tileas_xdsl.interpreters.tile.numerics.element_sizes import bytes_of_tile
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of, is_array
from tileas_xdsl.interpreters.tile.numerics.integers import width_of
from tileas_xdsl.interpreters.tile.semantics.memory_access.tile_window import (
    access_of,
    before_polling,
    padding_tile,
)
from tileas_xdsl.interpreters.tile.semantics.memory_access.tiled_access import (
    COPIES,
    after,
    token_of,
    tokens_of,
    value_of,
)


@dataclass(frozen=True)
class MaskedElements:
    """Scattered elements of a view, some of them masked."""

    op: Operation
    shape: tuple[int, ...]
    chosen: Array
    """The mask of accessed elements: in bounds and not masked."""
    view: View
    index: Sequence[Any]
    """Index arrays, one per dimension of the view."""

    def positions(self) -> tuple[Array, ...]:
        """Return the indices of the accessed elements, one array per dimension."""
        return tuple([np.broadcast_to(np.asarray(i), self.shape)[self.chosen] for i in self.index])

    def seen(self) -> Array:
        """Return the accessed elements, unchecked."""
        return self.view.seen_at(self.positions()) if self.chosen.any() else np.zeros(0)

    def read(self, actor: Actor, access: Access, rest: Array) -> Array:
        """Return the accessed elements, with the others from `rest`."""
        values = rest.copy()
        if self.chosen.any():
            values[self.chosen] = self.view.read_at(self.positions(), actor, access)
        return values

    def write(self, values: Any, actor: Actor, access: Access) -> None:
        """Write values to the accessed elements."""
        if self.chosen.any():
            chosen = np.broadcast_to(np.asarray(values), self.shape)[self.chosen]
            self.view.write_at(self.positions(), chosen, actor, access)


@dataclass(frozen=True)
class ScatteredElements:
    """Elements addressed by pointers into one or more memories."""

    shape: tuple[int, ...]
    element: Attribute
    space: Space
    parts: Sequence[MaskedElements]
    """The accessed elements by memory."""

    @property
    def name(self) -> str:
        """The names of the memories in diagnostics."""
        return ", ".join(part.view.memory.name for part in self.parts) or "nothing"

    def seen(self) -> Array:
        """Return the accessed elements, unchecked."""
        found = [part.seen() for part in self.parts]
        return np.concatenate(found) if found else np.zeros(0)

    def read(self, actor: Actor, access: Access, rest: Array) -> Array:
        """Return the accessed elements, with the others from `rest`."""
        values = rest.copy()
        for part in self.parts:
            values = part.read(actor, access, values)
        return values

    def write(self, values: Any, actor: Actor, access: Access) -> None:
        """Write values to the accessed elements."""
        for part in self.parts:
            part.write(values, actor, access)


def _accessed_elements(
    agent: TileAgent, op: LoadBase | StoreBase, value: Attribute
) -> ScatteredElements:
    """Return the elements of a plain load or store, by pointers or view coordinates."""
    shape = shape_of(value) or ()
    base = agent.value_of(op.base)
    mask = value_of(agent, op.mask)
    wanted = np.broadcast_to(np.asarray(True if mask is None else mask), shape)
    if pointer_of(op.base.type) is not None:
        return pointed(agent, op, base, _element(op), wanted)
    view = agent.view(op, base, _element(op), Space.GMEM)
    starts = agent.get_values(op.coords)
    index = _box(starts, shape) if shape else list(starts)
    return _alone(_checked(op, MaskedElements(op, shape, wanted, view, index)))


def _alone(accessed: MaskedElements) -> ScatteredElements:
    view = accessed.view
    return ScatteredElements(accessed.shape, view.element, view.memory.space, [accessed])


def _element(op: LoadBase | StoreBase) -> Attribute:
    element = accessed_element(op.base.type)
    assert element is not None
    return element


def pointed(
    agent: TileAgent, op: Operation, base: Any, element: Attribute, wanted: Array
) -> ScatteredElements:
    """Resolve addresses to elements of memories, where `wanted` holds."""
    left, parts = wanted.copy(), list[MaskedElements]()
    addresses = np.broadcast_to(np.asarray(base, np.int64), wanted.shape)
    while left.any():
        first = int(addresses[left][0])
        memory = memory_of(first, agent.block.device.memories)
        if memory is None:
            raise fault(op, f"accesses address {first:#x}, where there is no array")
        others = [other.address for other in agent.block.device.memories]
        end = min([a for a in others if a > memory.address], default=1 << 63)
        in_memory = left & (addresses >= memory.address) & (addresses < end)
        parts.append(_in_memory(op, memory, element, addresses - memory.address, in_memory))
        left = left & ~in_memory
    return ScatteredElements(wanted.shape, element, Space.GMEM, parts)


def _in_memory(
    op: Operation, memory: Memory, element: Attribute, offsets: Array, wanted: Array
) -> MaskedElements:
    """Convert pointers to element indices of a memory."""
    count = memory.size // dtype_of(element).itemsize
    whole = View.whole(memory, element, (count,))
    indices, rest = np.divmod(offsets, whole.dtype.itemsize)
    if np.any(rest[wanted]):
        raise fault(op, f"a pointer to {element} lies between two elements")
    return _checked(op, MaskedElements(op, wanted.shape, wanted, whole, [indices]))


def _box(starts: Sequence[int], shape: tuple[int, ...]) -> list[Array]:
    grids = np.indices(shape)
    return [start + grid for start, grid in zip(starts, grids, strict=True)]


def _checked(op: Operation, accessed: MaskedElements) -> MaskedElements:
    """Raise a fault if an unmasked element of a plain access is out of bounds."""
    outside = accessed.chosen & ~_inside(accessed)
    if outside.any():
        where = [int(np.broadcast_to(i, accessed.shape)[outside].flat[0]) for i in accessed.index]
        raise fault(op, f"accesses element {where} of {accessed.view.memory.name}, out of bounds")
    return accessed


def _inside(accessed: MaskedElements) -> Array:
    found = np.ones(accessed.shape, np.bool_)
    for positions, (low, high) in zip(accessed.index, accessed.view.valid, strict=True):
        found = found & (np.asarray(positions) >= low) & (np.asarray(positions) < high)
    return found


def _joined(
    agent: TileAgent, op: GatherLoadOp | ScatterStoreOp, tile: Attribute
) -> ScatteredElements:
    """Return the elements of a gather or scatter; out-of-bounds ones are masked."""
    shape = shape_of(tile)
    assert shape is not None
    element = accessed_element(op.view.type)
    assert element is not None
    view = agent.view(op, agent.value_of(op.view), element, Space.GMEM)
    index = [_coordinate(agent.value_of(c), c.type) for c in op.coords]
    mask = value_of(agent, op.mask)
    wanted = np.broadcast_to(np.asarray(True if mask is None else mask), shape)
    accessed = MaskedElements(op, shape, wanted, view, index)
    if op.in_bounds is not None:
        _check_flags(op, accessed, op.in_bounds.get_values())
    return _alone(MaskedElements(op, shape, wanted & _inside(accessed), view, index))


def _coordinate(value: Any, type_: Attribute) -> Any:
    if is_array(value) and (width := width_of(type_)) is not None and width < 64:
        return value.astype(np.int64)
    return value


def _check_flags(op: Operation, accessed: MaskedElements, flags: Sequence[int]) -> None:
    for axis, flag in enumerate(flags):
        low, high = accessed.view.valid[axis]
        positions = np.broadcast_to(np.asarray(accessed.index[axis]), accessed.shape)[
            accessed.chosen
        ]
        wrong = positions[(positions < low) | (positions >= high)]
        if flag and wrong.size:
            raise fault(
                op,
                f"is in bounds along dimension {axis}, but index {int(wrong.flat[0])} is not in "
                f"{low} to {high}",
            )


def _rest(op: LoadBase | GatherLoadOp, accessed: ScatteredElements) -> Array:
    return padding_tile(accessed.shape, accessed.element, op.padding_value, op.atom)


def single_result(values: Array, type_: Attribute) -> Any:
    """Return integers of single elements as Python numbers."""
    if shape_of(type_) is not None or width_of(type_) is None:
        return values
    return values.item()


def _cost(agent: TileAgent, accessed: ScatteredElements) -> int:
    size = bytes_of_tile(accessed.shape, accessed.element)
    if accessed.space is Space.GMEM:
        return agent.latencies.load(size)
    return agent.latencies.shared(size)


def load(agent: TileAgent, op: LoadOp, inputs: Sequence[Any]) -> Steps:
    """Read through pointers or at coordinates; may acquire."""
    yield from after(agent, op, op.token)
    accessed, access = _accessed_elements(agent, op, op.loaded_type()), access_of(op.mem_semantic)
    yield from before_polling(op, access, accessed.name, accessed.seen)
    values = accessed.read(agent.actor(op), access, _rest(op, accessed))
    agent.work(op, _cost(agent, accessed))
    return single_result(values, op.loaded_type()), *token_of(agent, op.out_token)


def async_load(agent: TileAgent, op: AsyncLoadOp, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Issue a load; the token delivers the value."""
    accessed, access = _accessed_elements(agent, op, op.loaded_type()), access_of(op.mem_semantic)

    def land(actor: Actor) -> tuple[Any]:
        return (single_result(accessed.read(actor, access, _rest(op, accessed)), op.loaded_type()),)

    token, _ = agent.issue(
        agent.block.engine(COPIES),
        op,
        "a load",
        land,
        latency=_cost(agent, accessed),
        after=tokens_of(agent, op.token),
    )
    return token, *(() if op.out_token is None else (token,))


def store(agent: TileAgent, op: StoreOp, inputs: Sequence[Any]) -> Steps:
    """Write through pointers or at coordinates; may release."""
    yield from after(agent, op, op.token)
    accessed = _accessed_elements(agent, op, op.value.type)
    values = as_tile(agent.value_of(op.value), agent.actor(op))
    accessed.write(values, agent.actor(op), access_of(op.mem_semantic))
    agent.work(op, agent.latencies.scalar)
    return token_of(agent, op.out_token)


def async_store(agent: TileAgent, op: AsyncStoreOp, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Issue a store; the token is done when it is."""
    accessed, access = _accessed_elements(agent, op, op.value.type), access_of(op.mem_semantic)
    values = as_tile(agent.value_of(op.value), agent.actor(op))

    def land(actor: Actor) -> tuple[()]:
        accessed.write(values, actor, access)
        return ()

    token, _ = agent.issue(
        agent.block.engine(COPIES),
        op,
        "a store",
        land,
        latency=_cost(agent, accessed),
        after=tokens_of(agent, op.token),
    )
    return token, *(() if op.out_token is None else (token,))


def gather_load(agent: TileAgent, op: GatherLoadOp, inputs: Sequence[Any]) -> Steps:
    """Read scattered elements."""
    yield from after(agent, op, op.token)
    accessed, access = _joined(agent, op, op.result.type), access_of(op.mem_semantic)
    yield from before_polling(op, access, accessed.name, accessed.seen)
    values = accessed.read(agent.actor(op), access, _rest(op, accessed))
    agent.work(op, _cost(agent, accessed))
    return values, *token_of(agent, op.out_token)


def load_element(agent: TileAgent, op: memref.LoadOp, inputs: Sequence[Any]) -> tuple[Any]:
    """Read one element of an array."""
    type_ = op.results[0].type
    accessed = _element_of(agent, op, type_, inputs)
    values = accessed.read(agent.actor(op), access_of(None), np.zeros((), accessed.view.dtype))
    agent.work(op, agent.latencies.load(bytes_of_tile((), type_)))
    return (single_result(values, type_),)


def store_element(agent: TileAgent, op: memref.StoreOp, inputs: Sequence[Any]) -> tuple[()]:
    """Write one element of an array."""
    value, *rest = inputs
    accessed = _element_of(agent, op, op.value.type, rest)
    accessed.write(value, agent.actor(op), access_of(None))
    agent.work(op, agent.latencies.scalar)
    return ()


def _element_of(
    agent: TileAgent, op: Operation, type_: Attribute, inputs: Sequence[Any]
) -> MaskedElements:
    array, *index = inputs
    view = agent.view(op, array, type_, Space.GMEM)
    return _checked(op, MaskedElements(op, (), np.asarray(True), view, index))


def scatter_store(agent: TileAgent, op: ScatterStoreOp, inputs: Sequence[Any]) -> Steps:
    """Write scattered elements; of duplicates the last one wins."""
    yield from after(agent, op, op.token)
    accessed = _joined(agent, op, op.value.type)
    values = as_tile(agent.value_of(op.value), agent.actor(op))
    accessed.write(values, agent.actor(op), access_of(op.mem_semantic))
    agent.work(op, agent.latencies.scalar)
    return token_of(agent, op.out_token)


GATHER_SCATTER = Language(
    effects={
        AsyncLoadOp: async_load,
        AsyncStoreOp: async_store,
        memref.LoadOp: load_element,
        memref.StoreOp: store_element,
    },
    behaviours={
        GatherLoadOp: gather_load,
        LoadOp: load,
        ScatterStoreOp: scatter_store,
        StoreOp: store,
    },
)
