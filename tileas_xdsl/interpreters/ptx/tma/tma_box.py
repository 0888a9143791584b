"""Boxes of tensor maps: the global memory that a tensor copy moves, its swizzled offsets in smem.

Sources: PTX ISA 5.5, tensors; CUDA driver API, cuTensorMapEncodeTiled; tileas_xdsl.target's tables.
Maps of the im2col kind are in `pixel_boxes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.shared_memory.shadow_tiles import Tile
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.global_memory import GlobalMemory
from tileas_xdsl.interpreters.ptx.memory.shared_memory import GRANULE
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tma.tensor_map import ELEMENTS, TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import decode

GATHERED_ROWS = 4
"""Row indices of a gather4 or scatter4."""

VECTORS = {"16B": 16, "32B": 32}
"""The bytes that the innermost dimension of an interleaved tensor counts."""

FILLING_NAN = 0x7FF7
"""The 16-bit pattern of the NaN fill out of bounds, for every type (measured on an H200)."""

MAX_FOOTPRINTS = 4096
"""Places of a box whose rows are remembered: the blocks of a grid load the same ones."""

ADDRESS_SPACE = 1 << 64
"""Sums of coordinates and strides are addresses of 64 bits: maps of slices rely on it."""

_UNSUPPORTED = ("b4x16_p64", "b6x16_p32")

Extent: TypeAlias = tuple[int, list[int], list[int], list[slice]]
"""A part in bounds: its address, shape, strides in bytes, and slices of the box."""


class Box:
    """The box of a tensor map, innermost dimension last, counted in bytes along it.

    `rows` of `row_bytes` follow one another in shared memory.
    """

    def __init__(self, tensor_map: TensorMap, gather: bool) -> None:
        m = self.map = tensor_map
        refuse_unsupported(m)
        bits = ELEMENTS[m.element].bits
        self.unit = VECTORS.get(m.interleave, max(bits // 8, 1))
        pack = 2 if bits == 4 else 1
        counts = _counts(m)
        inner = counts[0] // pack
        outer = [*counts[:0:-1]]
        if gather:
            if m.rank != 2 or m.box[1] != 1:
                raise Fault("tma", "gather4 and scatter4 need a map of rank 2 with boxes of 1 row")
            outer = [GATHERED_ROWS]
        self.gather = gather
        self.pack = pack
        self.counts = (*outer, inner)
        self.row_bytes = inner * self.unit
        self.rows = prod(outer)
        self.size = self.rows * self.row_bytes
        self.mode = m.swizzle
        self._check_rows()
        self._locations: dict[int, tuple[Array, Tile]] = {}
        self._footprints: dict[tuple[int, ...], list[tuple[Array, int]]] = {}
        self._extents: dict[tuple[int, ...], Extent | None] = {}

    def _check_rows(self) -> None:
        swizzle = BYTE_SWIZZLES[self.mode]
        if self.map.interleave != "none":
            return  # Rows of vectors are as long as they are; granules move by their addresses.
        span = {"none": 0, "32B": 32, "64B": 64}.get(self.mode, 128)
        if swizzle.bits and self.row_bytes != span and self.rows > 1:
            raise Fault(
                "unsupported",
                f"rows of {self.row_bytes} bytes are shorter than the {span} that swizzle "
                f"{self.mode} spans: such boxes are not modelled",
            )
        if self.row_bytes % GRANULE:
            raise Fault("tma", f"rows of {self.row_bytes} bytes are no multiple of 16")

    # Shared memory

    def locations(self, offset: int) -> tuple[Array, Tile]:
        """Return the granules of the box at an offset: in order (rows, chunks), and as a set."""
        found = self._locations.get(offset)
        if found is None:
            start = offset + np.arange(self.rows)[:, None] * self.row_bytes
            address = BYTE_SWIZZLES[self.mode](start + np.arange(0, self.row_bytes, GRANULE))
            granules = address // GRANULE
            low, count = int(granules.min()), granules.size
            contiguous = int(granules.max()) - low + 1 == count
            as_set = slice(low, low + count) if contiguous else granules.ravel()
            found = self._locations[offset] = granules, Tile(as_set)
        return found

    # Global memory

    def read(self, memory: GlobalMemory, at: Sequence[int]) -> Array:
        """Return the bytes of the box at coordinates (innermost first), filled out of bounds."""
        if self.gather:
            parts = [self._read(memory, (at[0], row), (1, self.counts[-1])) for row in at[1:]]
            return np.concatenate(parts).reshape(-1)
        return self._read(memory, at, self.counts).reshape(-1)

    def _read(self, memory: GlobalMemory, at: Sequence[int], counts: tuple[int, ...]) -> Array:
        window = self._window(memory, at, counts)
        if window is not None and window[1] is None:
            return _as_element(self.map, window[0]).reshape(-1, self.row_bytes)
        found = filling(self.map, (*counts, self.unit))
        if window is not None:
            inside, ranges = window
            assert ranges is not None
            found[ranges] = _as_element(self.map, inside)
        return found.reshape(-1, self.row_bytes)

    def write(
        self, memory: GlobalMemory, at: Sequence[int], data: Array, combine: object = None
    ) -> int:
        """Store the bytes of the box; elements out of bounds are dropped.

        Rows are written in whole granules: returns how many bytes behind the end of each row.
        Rows that are scattered to negative numbers are dropped, as all that are out of bounds.
        """
        if min(at[:1] if self.gather else at) < 0:
            raise Fault(
                "tma",
                f"a store begins at {list(at)}: negative coordinates are an illegal instruction "
                "to an H200",
            )
        if self.gather:
            behind = 0
            for i, row in enumerate(at[1:]):
                part = data[i * self.row_bytes : (i + 1) * self.row_bytes]
                found = self._write(memory, (at[0], row), (1, self.counts[-1]), part, combine)
                behind = max(behind, found)
            return behind
        return self._write(memory, at, self.counts, data, combine)

    def _write(
        self,
        memory: GlobalMemory,
        at: Sequence[int],
        counts: tuple[int, ...],
        data: Array,
        combine: object,
    ) -> int:
        window = self._window(memory, at, counts, write=True)
        memory.writes += 1
        if window is None:
            return 0
        view, ranges = window
        box = data.reshape(*counts, self.unit)
        part = np.ascontiguousarray(box if ranges is None else box[ranges])
        if callable(combine):
            old = np.ascontiguousarray(view)
            new = np.asarray(combine(old.reshape(-1), part.reshape(-1)))
            part = new.reshape(view.shape)
        view[...] = part
        last = at[0] // self.pack + (self.counts[-1] if ranges is None else ranges[-1].stop)
        return max(0, last - self.map.dims[0] // self.pack) * self.unit

    def footprint(self, at: Sequence[int]) -> list[tuple[Array, int]]:
        """Return the bytes in bounds as rows: the addresses where they start, and their length."""
        key = tuple(at)
        found = self._footprints.get(key)
        if found is None:
            if len(self._footprints) > MAX_FOOTPRINTS:
                self._footprints.clear()
            found = self._footprints[key] = self._footprint(key)
        return found

    def _footprint(self, at: Sequence[int]) -> list[tuple[Array, int]]:
        if self.gather:
            lines = [((at[0], row), (1, self.counts[-1])) for row in at[1:]]
        else:
            lines = [(at, self.counts)]
        parts = [self._extent(where, counts) for where, counts in lines]
        return [_rows(*part) for part in parts if part is not None]

    def _window(
        self,
        memory: GlobalMemory,
        at: Sequence[int],
        counts: tuple[int, ...],
        *,
        write: bool = False,
    ) -> tuple[Array, tuple[slice, ...] | None] | None:
        """Return the part in bounds as a view of global memory, and its slices of the box.

        What is written ends with a granule, as on an H200: buffers have room for that.
        """
        key = (*at, *counts, write)
        if key not in self._extents:
            if len(self._extents) > MAX_FOOTPRINTS:
                self._extents.clear()
            self._extents[key] = self._extent(at, counts, write=write)
        part = self._extents[key]
        if part is None:
            return None
        low, shape, strides, ranges = part
        whole = all(r.stop - r.start == c for r, c in zip(ranges, counts, strict=True))
        extent = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + self.unit
        row = self.map.dims[0] // self.pack
        extent -= max(0, at[0] // self.pack + ranges[-1].stop - row) * self.unit
        buffer = memory.writable(low, extent) if write else memory.find(low, extent)
        extents, steps = (*shape, self.unit), (*strides, 1)
        view = np.ndarray(extents, np.uint8, buffer.data.data, low - buffer.base, steps)
        return view, None if whole else tuple(ranges)

    def _extent(
        self, at: Sequence[int], counts: tuple[int, ...], *, write: bool = False
    ) -> Extent | None:
        """Return the part in bounds: its address, shape, strides in bytes, and slices of the
        box."""
        m = self.map
        shape: list[int] = []
        strides: list[int] = []
        ranges: list[slice] = []
        low = m.address
        steps = (1, *m.element_strides[1:]) if self.pack == 2 else m.element_strides
        row = m.dims[0] // self.pack
        dims = (self._whole_granules(row) if write else row, *m.dims[1:])
        for i in range(m.rank - 1, -1, -1):
            stride = self.unit if i == 0 else m.strides[i - 1]
            start = at[i] // self.pack if i == 0 else at[i]
            count = counts[m.rank - 1 - i]
            first = max(0, -(start // steps[i])) if start < 0 else 0
            last = min(count, ceil_div(dims[i] - start, steps[i]))
            if first >= last:
                return None
            low += (start + first * steps[i]) * stride
            shape.append(last - first)
            strides.append(stride * steps[i])
            ranges.append(slice(first, last))
        return low % ADDRESS_SPACE, shape, strides, ranges

    def _whole_granules(self, elements: int) -> int:
        """Return a number of elements rounded up to whole granules."""
        return align_up(elements * self.unit, GRANULE) // self.unit


def _rows(
    low: int, shape: Sequence[int], strides: Sequence[int], ranges: object
) -> tuple[Array, int]:
    """Return the starts of the rows of a strided part of memory, and the bytes of a row."""
    del ranges
    starts = np.array([low], np.int64)
    size = strides[-1]
    contiguous = len(shape)
    for axis in range(len(shape) - 1, -1, -1):
        if strides[axis] != size:
            break
        size, contiguous = size * shape[axis], axis
    for count, stride in zip(shape[:contiguous], strides[:contiguous], strict=True):
        starts = (starts[:, None] + np.arange(count) * stride).ravel()
    return starts, size


def _counts(m: TensorMap) -> tuple[int, ...]:
    """Return the elements, or vectors of an interleaved tensor, along each dimension of a box.

    Interleaved tensors (NC/8DHWC8, NC/16DHWC16) have the slices of channels next to the batch, and
    a box has an extent of channels there.  An H200 moves one slice, whatever that extent is.
    """
    if m.interleave == "none":
        return m.counts
    *inner, _, batch = m.counts
    return (*inner, 1, batch)


def refuse_unsupported(m: TensorMap) -> None:
    """Fault on tensor maps with features that are not modelled."""
    if m.interleave != "none" and m.pixels is not None:
        raise Fault("unsupported", "columns of pixels of interleaved tensors are not modelled")
    if m.element in _UNSUPPORTED:
        raise Fault("unsupported", f"tensor maps of {m.element} are not modelled")
    if m.swizzle not in BYTE_SWIZZLES:
        raise Fault("unsupported", f"swizzle {m.swizzle} of tensor maps is not modelled")


def filling(m: TensorMap, shape: tuple[int, ...]) -> Array:
    """Return the out-of-bounds fill of a map: bytes, the last axis those of an element."""
    found = np.zeros(shape, np.uint8)
    if m.nan_fill:
        found.reshape(-1).view(np.uint16)[:] = FILLING_NAN
    return found


def map_of(data: bytes) -> TensorMap:
    """Decode the 128 bytes of a tensor map."""
    try:
        return decode(data)
    except TargetError as error:
        raise Fault("tma", f"these 128 bytes are no tensor map: {error}") from None


def _as_element(m: TensorMap, data: Array) -> Array:
    """Convert loaded bytes to the map's element: tf32 is rounded to nearest (measured on an
    H200)."""
    data = np.ascontiguousarray(data)
    if m.element.removesuffix(".ftz") != "tf32":
        return data
    words = data.view(np.uint32)
    is_nan = (words & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    rounded = np.where(is_nan, words, words + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return rounded.view(np.uint8)
