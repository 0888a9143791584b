"""Strided views of a memory: the tiles, views and memrefs of a program at run time.

The type of a view of global memory has the extents of its tile, not those of the array. `valid` has
the latter: by dimension, the interval of indices that exist, relative to the view's origin. Loads
fill the rest with padding, stores drop it. Tile 1 of a 100-element array, in tiles of 64:

>>> from tileas_xdsl.dialects.nv_tileas.enums import Space
>>> from xdsl.dialects.builtin import f32
>>> array = View.whole(Memory("a", Space.GMEM, np.zeros(100, np.float32)), f32)
>>> tile = array.part([64], [64])
>>> tile.offset, tile.valid, tile.is_inside
(256, ((-64, 36),), False)
>>> part, position = tile.clipped()
>>> part.shape, position
((36,), (slice(0, 36, None),))

Reads and writes check the memory (initialised, no race) and the ownership of pipeline stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.faults import RuleBroken
from tileas_xdsl.interpreters.tile.memory.byte_regions import Region
from tileas_xdsl.interpreters.tile.memory.tracked_memory import WEAK, Access, Actor, Guard, Memory
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, cast, dtype_of

Range: TypeAlias = tuple[int, int]
"""A half-open interval of indices."""


class ViewError(RuleBroken):
    """A view outside of its memory."""


@dataclass(frozen=True, slots=True)
class View:
    """A strided view: elements at byte `offset + index . strides` of a memory."""

    memory: Memory
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Strides in bytes, none negative."""
    element: Attribute
    valid: tuple[Range, ...]
    """By dimension, the half-open interval of indices that exist."""
    lease: Guard | None = None
    """The ownership guard of the pipeline stage that this views."""
    stored_as: np.dtype[Any] | None = None
    """The numpy type of an element, if already known."""

    @staticmethod
    def whole(memory: Memory, element: Attribute, shape: Sequence[int] | None = None) -> View:
        """Return the row-major view of a whole memory."""
        extents = tuple(memory.data.shape if shape is None else shape)
        return contiguous(memory, 0, extents, element)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of an element."""
        return dtype_of(self.element) if self.stored_as is None else self.stored_as

    @property
    def extents(self) -> tuple[int, ...]:
        """The number of elements from the origin on, by dimension."""
        return tuple([high for _, high in self.valid])

    @property
    def is_contiguous(self) -> bool:
        """Return whether the elements are row-major without gaps."""
        return self.strides == row_major(self.shape, self.dtype.itemsize)

    @property
    def is_inside(self) -> bool:
        """Return whether every element of the shape exists."""
        for n, (low, high) in zip(self.shape, self.valid, strict=True):
            if low > 0 or n > high:
                return False
        return True

    def region(self) -> Region:
        """Return the byte region of the view, all of which must exist."""
        return Region.of_window(self.offset, self.shape, self.strides, self.dtype.itemsize)

    def part(
        self, starts: Sequence[int], shape: Sequence[int], steps: Sequence[int] | None = None
    ) -> View:
        """Return the sub-view that begins at `starts`; it may exceed the valid range."""
        steps = (1,) * len(shape) if steps is None else steps
        offset = self.offset + sum([i * s for i, s in zip(starts, self.strides, strict=True)])
        valid = tuple(
            [
                (-((i - low) // step), -((i - high) // step))
                for i, step, (low, high) in zip(starts, steps, self.valid, strict=True)
            ]
        )
        strides = tuple([s * step for s, step in zip(self.strides, steps, strict=True)])
        return View(
            self.memory, offset, tuple(shape), strides, self.element, valid, self.lease, self.dtype
        )

    def cut(self) -> View:
        """Return the same view with its valid range cut to its shape."""
        ranges = zip(self.shape, self.valid, strict=True)
        return replace(
            self, valid=tuple([(max(low, 0), min(high, n)) for n, (low, high) in ranges])
        )

    def leased(self, lease: Guard) -> View:
        """Return the view with the ownership of a pipeline stage."""
        return View(
            self.memory,
            self.offset,
            self.shape,
            self.strides,
            self.element,
            self.valid,
            lease,
            self.dtype,
        )

    def clipped(self) -> tuple[View, tuple[slice, ...]] | None:
        """Return the valid part of the view and its position in the view; None if it is empty."""
        lows = [max(low, 0) for low, _ in self.valid]
        highs = [min(high, n) for n, (_, high) in zip(self.shape, self.valid, strict=True)]
        if any(high <= low for low, high in zip(lows, highs, strict=True)):
            return None
        shape = [high - low for low, high in zip(lows, highs, strict=True)]
        position = tuple([slice(low, high) for low, high in zip(lows, highs, strict=True)])
        return self.part(lows, shape), position

    def reshaped(self, shape: Sequence[int], element: Attribute | None = None) -> View:
        """Return the same bytes with another shape or element type; may raise `ViewError`.

        Views with gaps keep their gaps only where the inner dimensions stay the same.
        """
        element = self.element if element is None else element
        if tuple(shape) == self.shape and dtype_of(element).itemsize == self.dtype.itemsize:
            return replace(self, element=element, stored_as=None)
        size, old = prod(shape) * dtype_of(element).itemsize, prod(self.shape) * self.dtype.itemsize
        if not (self.is_contiguous and self.is_inside):
            raise ViewError("a window with gaps has no other shape")
        if size > old:
            raise ViewError(f"{size} bytes are asked of a window of {old}")
        return replace(contiguous(self.memory, self.offset, shape, element), lease=self.lease)

    def array(self) -> NDArray[Any]:
        """Return the elements in place, unchecked: the caller must have checked the access."""
        return np.ndarray(self.shape, self.dtype, self.memory.bytes.data, self.offset, self.strides)

    def read(self, actor: Actor, access: Access = WEAK) -> Array:
        """Return a copy of the elements, all of which must exist."""
        self._check_lease(actor, writes=False)
        self.memory.check_read(self.region(), actor, access)
        return self.array().copy()

    def write(self, values: Any, actor: Actor, access: Access = WEAK) -> None:
        """Write values to the elements, all of which must exist."""
        self._check_lease(actor, writes=True)
        self.memory.check_write(self.region(), actor, access)
        self.array()[...] = values

    def copied(self, actor: Actor) -> View:
        """Return a copy in memory of its own; uninitialised elements stay so."""
        self._check_lease(actor, writes=False)
        region = self.region()
        written = self.memory.check_copy(region, actor)
        data = self.array().copy()
        memory = Memory(self.memory.name, self.memory.space, data)
        memory.mark(written)
        return View.whole(memory, self.element)

    def read_at(self, index: Sequence[Any], actor: Actor, access: Access = WEAK) -> Array:
        """Return the elements at index arrays, one per dimension, all of them valid."""
        region = self._region_at(index)
        if region is None:
            return np.zeros(np.shape(index[0]), self.dtype)
        self._check_lease(actor, writes=False)
        self.memory.check_read(region, actor, access)
        return self.seen_at(index)

    def seen_at(self, index: Sequence[Any]) -> Array:
        """Return the elements at index arrays, unchecked."""
        return np.asarray(self._existing()[self._from_lows(index)])

    def write_at(self, index: Sequence[Any], values: Any, actor: Actor, access: Access) -> None:
        """Write values at index arrays, all of them valid."""
        region = self._region_at(index)
        if region is None:
            return
        self._check_lease(actor, writes=True)
        self.memory.check_write(region, actor, access)
        self._existing()[self._from_lows(index)] = values

    def _existing(self) -> NDArray[Any]:
        """Return the array of all valid elements, including those before the origin."""
        lows = [low for low, _ in self.valid]
        return self.part(lows, [high - low for low, high in self.valid]).array()

    def _from_lows(self, index: Sequence[Any]) -> tuple[Any, ...]:
        """Return index arrays relative to the first valid index."""
        return tuple(
            [
                np.asarray(positions) - low
                for positions, (low, _) in zip(index, self.valid, strict=True)
            ]
        )

    def _region_at(self, index: Sequence[Any]) -> Region | None:
        offsets = np.asarray(self.offset, dtype=np.int64)
        for positions, stride in zip(index, self.strides, strict=True):
            offsets = offsets + np.asarray(positions, dtype=np.int64) * stride
        if not offsets.size:
            return None
        return Region.of_elements(offsets.reshape(-1), self.dtype.itemsize)

    def _check_lease(self, actor: Actor, *, writes: bool) -> None:
        if self.lease is not None:
            self.lease.check(actor, writes=writes)
            return
        if not self.memory.guards:
            return
        region = self.region()
        for guard in self.memory.guards:
            if region.low < guard.high and guard.low < region.high:
                guard.check(actor, writes=writes)


def row_major(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return the strides in bytes of a row-major array."""
    strides: list[int] = []
    step = itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def contiguous(memory: Memory, offset: int, shape: Sequence[int], element: Attribute) -> View:
    """Return a row-major view at byte `offset` of a memory, which may exceed its end."""
    itemsize = dtype_of(element).itemsize
    extents = tuple(shape)
    strides = row_major(extents, itemsize)
    valid = tuple([(0, n) for n in extents])
    if offset + prod(extents) * itemsize > memory.size:
        valid = _valid_before(memory.size - offset, extents, itemsize)
    return View(memory, offset, extents, strides, element, valid, None, dtype_of(element))


def _valid_before(size: int, shape: tuple[int, ...], itemsize: int) -> tuple[Range, ...]:
    """Return the valid range of a row-major view within the first `size` bytes, in whole rows."""
    if not shape:
        return ()
    row = prod(shape[1:]) * itemsize
    return ((0, max(size // row, 0)), *[(0, n) for n in shape[1:]])


def as_tile(value: Any, actor: Actor) -> Any:
    """Return a value as an array; views are read."""
    if not isinstance(value, View):
        return value
    if not value.is_inside:
        raise ViewError("a part of the tile is outside its memory")
    return value.read(actor)


def stored(values: Array, element: Attribute) -> Array:
    """Return values in the storage type of an element."""
    return values if values.dtype == dtype_of(element) else cast(values, element)
