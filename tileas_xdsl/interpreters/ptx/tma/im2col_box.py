"""Columns of pixels that tensor copies of mode im2col move.

Sources: PTX ISA 5.5.4; what an H200 does and refuses (`tests/hardware/copy_pixels.py`).

A copy begins at a pixel of the map's bounding box and takes one after another, W first; after the
last one of the box along a dimension it continues at the first one, one step along the next
dimension, and at last in the next image of the batch.  To each pixel the offsets of the instruction
are added before its channels are moved; pixels outside of the tensor are filled, or dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.global_memory import GlobalMemory
from tileas_xdsl.interpreters.ptx.memory.shared_memory import GRANULE
from tileas_xdsl.interpreters.ptx.tma.tma_box import Box, filling
from tileas_xdsl.target.tma.tensor_map import PixelBox, TensorMap
from tileas_xdsl.target.tma.tensor_map_rules import CORNER_BITS


class ColumnBox(Box):
    """The box of an im2col tensor map: pixels, then the bytes of their channels."""

    def __init__(self, tensor_map: TensorMap) -> None:
        super().__init__(tensor_map, gather=False)
        if self.pack != 1:
            raise Fault(
                "unsupported", f"maps of the im2col kind of {tensor_map.element} are not modelled"
            )
        assert tensor_map.pixels is not None
        self.pixels: PixelBox = tensor_map.pixels

    def read(self, memory: GlobalMemory, at: Sequence[int]) -> Array:
        """Return the bytes of the column at coordinates, which im2col offsets may follow."""
        found = filling(self.map, (self.rows, self.counts[-1], self.unit))
        exists, addresses, channels = self._pixel_addresses(at)
        width: int = (channels.stop - channels.start) * self.unit
        if width > 0 and exists.any():
            low, high = int(addresses[exists].min()), int(addresses[exists].max()) + width
            buffer = memory.find(low, high - low)
            locations: Array = np.add.outer(addresses[exists] - buffer.base, np.arange(width))
            found[exists, channels] = buffer.data[locations].reshape(len(locations), -1, self.unit)
        return found.reshape(-1)

    def write(
        self, memory: GlobalMemory, at: Sequence[int], data: Array, combine: object = None
    ) -> int:
        """Store the bytes of a column; elements out of bounds are dropped."""
        self._check_pixels_exist()
        exists, addresses, channels = self._pixel_addresses(at)
        width: int = (channels.stop - channels.start) * self.unit
        memory.writes += 1
        if width <= 0 or not exists.any():
            return 0
        low, high = int(addresses[exists].min()), int(addresses[exists].max()) + width
        buffer = memory.writable(low, high - low)
        locations: Array = np.add.outer(addresses[exists] - buffer.base, np.arange(width))
        column = data.reshape(self.rows, self.counts[-1], self.unit)
        part = np.ascontiguousarray(column[exists, channels]).reshape(len(locations), -1)
        for location, row in zip(locations, part, strict=True):
            new = combine(buffer.data[location], row) if callable(combine) else row
            buffer.data[location] = np.asarray(new)
        return 0

    def footprint(self, at: Sequence[int]) -> list[tuple[Array, int]]:
        """Return the bytes in bounds as rows: the addresses where they start, and their length."""
        exists, addresses, channels = self._pixel_addresses(at)
        return [(addresses[exists], (channels.stop - channels.start) * self.unit)]

    def _pixel_addresses(self, at: Sequence[int]) -> tuple[Array, Array, slice]:
        """Return which pixels are in bounds, the address of their first channel, and the
        channels."""
        m = self.map
        coordinates = self._walk(at[: m.rank])
        offsets = [*at[m.rank :]] or [0] * (m.rank - 2)
        self._check_offsets(offsets)
        for axis, offset in enumerate(offsets):
            coordinates[axis] += offset
        exists = np.ones(self.rows, np.bool_)
        first = max(at[0], 0)
        last = min(at[0] + self.counts[-1], m.dims[0])
        addresses = np.full(self.rows, m.address + first * self.unit, np.int64)
        for axis, coordinate in enumerate(coordinates):
            exists &= (coordinate >= 0) & (coordinate < m.dims[axis + 1])
            addresses += coordinate * m.strides[axis]
        return exists, addresses, slice(first - at[0], max(last, first) - at[0])

    def _walk(self, at: Sequence[int]) -> list[Array]:
        """Return the coordinates of the column's pixels, by dimension from W to the batch."""
        m = self.map
        steps, low = m.element_strides[1:-1], self.pixels.lower
        extents = self.pixels.extents(m.dims)
        self._check_start(at, extents)
        here = [*at[1:]]
        found = np.empty((len(here), self.rows), np.int64)
        for number in range(self.rows):
            found[:, number] = here
            for axis, step in enumerate(steps):
                here[axis] += step
                if here[axis] < low[axis] + extents[axis]:
                    break
                here[axis] = low[axis]
            else:
                here[-1] += 1
        return [*found]

    def _check_start(self, at: Sequence[int], extents: Sequence[int]) -> None:
        """Check that a column begins at a pixel of its box and at an aligned channel."""
        if at[0] * self.unit % GRANULE:
            raise Fault(
                "tma",
                f"coordinate 0 of a column is {at[0]}, {at[0] * self.unit} bytes: no multiple of "
                f"{GRANULE}",
            )
        sides = zip(at[1:-1], self.pixels.lower, extents, strict=True)
        for axis, (coordinate, low, extent) in enumerate(sides):
            if not low <= coordinate < low + extent:
                raise Fault(
                    "tma",
                    f"coordinate {axis + 1} of a column is {coordinate}; its pixels are {low} to "
                    f"{low + extent - 1}",
                )

    def _check_pixels_exist(self) -> None:
        """Check that columns are stored to pixels in bounds only, as hardware requires."""
        for axis, (low, high) in enumerate(zip(self.pixels.lower, self.pixels.upper, strict=True)):
            if low < 0 or high > 0:
                raise Fault(
                    "tma",
                    f"the pixels of dimension {axis + 1} are from {low} to the last plus {high}: "
                    "a column is stored to pixels that exist",
                )

    def _check_offsets(self, offsets: Sequence[int]) -> None:
        limit = 1 << CORNER_BITS[self.map.rank - 2]
        for axis, offset in enumerate(offsets):
            if not 0 <= offset < limit:
                raise Fault(
                    "tma", f"im2col offset {axis} is {offset}; rank {self.map.rank} has 0 to "
                    f"{limit - 1}"
                )  # fmt: skip
