"""Elements of buffers by their indices: what is outside of global memory reads as 0, and stays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.interpreters.tile.faults import RuleBroken
from tileas_xdsl.interpreters.tile.memory.byte_regions import Region
from tileas_xdsl.interpreters.tile.memory.tracked_memory import WEAK, Access, Actor
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.numerics.integers import Value
from tileas_xdsl.interpreters.tile.tensor_ops.vectorized_body import scalar_at

ATOMIC = Access(is_strong=True, updates=True)
"""Others may update the same element."""

ScatteredElements = Sequence[NDArray[np.int64]]
"""An index array for each dimension, all of one shape."""


def places_of(index: Sequence[Value], shape: tuple[int, ...] = ()) -> ScatteredElements:
    """Indices as arrays that have at least `shape`; they may be scalars."""
    if not index:
        return ()
    arrays = [np.asarray(i, np.int64) for i in index]
    wanted = np.broadcast_shapes(shape, *[a.shape for a in arrays])
    return [np.broadcast_to(a, wanted) for a in arrays]


def inside_of(view: View, indices: ScatteredElements) -> NDArray[np.bool_] | None:
    """Which places exist; None where all do.  Outside of global memory they have to."""
    inside = np.ones(indices[0].shape if indices else (), np.bool_)
    for positions, extent in zip(indices, view.shape, strict=True):
        inside &= (positions >= 0) & (positions < extent)
    if inside.all():
        return None
    if view.memory.space is not Space.GMEM:
        bad = np.argwhere(~inside)[0]
        at = [int(positions[tuple(bad)]) for positions in indices]
        raise RuleBroken(f"{view.memory.name} has no element {at}: it is {extents_of(view)}")
    return inside


def extents_of(view: View) -> str:
    """The extents of a buffer as messages give them."""
    return "x".join(map(str, view.shape))


def offsets_of(view: View, indices: ScatteredElements) -> NDArray[np.int64]:
    """Where in their memory elements begin, in bytes."""
    result = np.zeros(indices[0].shape if indices else (), np.int64) + view.offset
    for positions, stride in zip(indices, view.strides, strict=True):
        result = result + positions * stride
    return result


def read(view: View, indices: ScatteredElements, actor: Actor) -> Value:
    """The elements at some places; one of them as the interpreter holds scalars."""
    inside = inside_of(view, indices)
    if not indices:
        return scalar_at(view.read(actor), ())
    if inside is None:
        values = view.read_at(indices, actor)
    else:
        values = np.zeros(indices[0].shape, view.dtype)
        values[inside] = view.read_at([p[inside] for p in indices], actor)
    return values if values.ndim else scalar_at(values, ())


def write(
    view: View, indices: ScatteredElements, values: Array, actor: Actor, access: Access = WEAK
) -> None:
    """Put values, one for each place, where there are elements; of one place the last stays."""
    inside = inside_of(view, indices)
    if inside is not None:
        indices, values = [p[inside] for p in indices], values[inside]
    if not values.size:
        return
    if indices:
        view.write_at(indices, values, actor, access)
    else:
        view.write(values.reshape(-1)[-1], actor, access)


def add(view: View, indices: ScatteredElements, values: Array, actor: Actor) -> None:
    """Add each value to the element at its place, one after another; sums are rounded."""
    inside = inside_of(view, indices)
    if inside is not None:
        indices, values = [p[inside] for p in indices], values[inside]
    if not values.size:
        return
    offsets = np.broadcast_to(offsets_of(view, indices), values.shape)
    region = Region.of_elements(offsets, view.dtype.itemsize)
    view.memory.check_read(region, actor, ATOMIC)
    view.memory.check_write(region, actor, ATOMIC)
    elements = view.memory.bytes.view(view.dtype)
    with np.errstate(all="ignore"):
        np.add.at(elements, offsets // view.dtype.itemsize, values)
