"""Summarise one layout: sizes, inverses, vector widths, bank conflicts.

`facts(layout)` is a list of `(name, value)` pairs in reading order, as `tileas layout` prints it:

>>> from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
>>> tile = MemoryLayout(Layout((64, 64), (64, 1)))
>>> dict(facts(tile, 16))["lanes down mode 0, 16 B each"]
'512 wavefronts for the tile, 8 times the ideal 64'

64 rows of 128 bytes: lanes below one another hit the same four banks. The 128-byte swizzle removes
that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tileas_xdsl.layout.axes import ANONYMOUS
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.convert.plan import counted
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import product_each, rank, show
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.banks import ideal_wavefronts, wavefronts
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.operations.algebra import left_inverse, right_inverse
from tileas_xdsl.layout.operations.inverse import invert
from tileas_xdsl.layout.operations.simplify import coalesce
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.layout.tables import Table, collision, image, is_injective
from tileas_xdsl.layout.units import WARP

WIDEST_ACCESS = 16
"""The most bytes that one lane moves at once."""

Facts = list[tuple[str, str]]


def facts(layout: AnyLayout | MemoryLayout, bits: int | None = None) -> Facts:
    """The facts about `layout`; `bits` is the width of an element for layouts in memory."""
    if isinstance(layout, MemoryLayout):
        if bits is None:
            raise LayoutError(f"{layout} needs an element type for its facts")
        return [*_function_facts(layout.layout), *_memory_facts(layout, bits)]
    if isinstance(layout, ComposedLayout):
        return _composed_facts(layout)
    axes = set(layout.axes())
    if axes and axes <= {THREAD, VALUE}:
        return [*_function_facts(layout), *_fragment_facts(layout)]
    return _function_facts(layout)


def _function_facts(layout: Layout) -> Facts:
    result = [
        ("layout", str(layout)),
        ("shape", _shape(layout)),
        ("coalesced", str(coalesce(layout))),
        ("reaches", _reach(layout)),
        ("injective", _injective(layout)),
    ]
    if not is_injective(layout):
        return result
    try:
        result.append(("left inverse", str(left_inverse(layout))))
        result.append(("right inverse", str(right_inverse(layout))))
        result.append(("digits", str(invert(layout)).replace("\n", "; ")))
    except LayoutError as error:
        result.append(("inverse", str(error)))
    return result


def _shape(layout: AnyLayout) -> str:
    return f"{show(layout.shape)}, {counted(layout.size(), 'coordinate')}"


def _reach(layout: Layout) -> str:
    spans = layout.extents() or {"": 1}
    return ", ".join(
        f"{extent} on axis '{axis}'" if axis else counted(extent, "offset")
        for axis, extent in spans.items()
    )


def _injective(layout: AnyLayout) -> str:
    pair = collision(layout)
    if pair is None:
        return "yes"
    return f"no: indices {pair[0]} and {pair[1]} both map to {layout(pair[0])}"


def _composed_facts(layout: ComposedLayout) -> Facts:
    return [
        ("layout", str(layout)),
        ("shape", _shape(layout)),
        ("reaches", ", ".join(_reach_on(layout, axis) for axis in layout.axes() or (ANONYMOUS,))),
        ("injective", _injective(layout)),
    ]


def _reach_on(layout: ComposedLayout, axis: str) -> str:
    offsets = image(layout, axis)
    where = f" on axis '{axis}'" if axis else ""
    return f"offsets {offsets[0]} to {offsets[-1]}{where}"


def _fragment_facts(layout: Layout) -> Facts:
    try:
        fragment = RegisterLayout(
            layout, product_each(layout.shape), layout.extents().get(THREAD, 1)
        )
    except LayoutError as error:
        return [("fragment", f"none: {error}")]
    threads, registers = counted(fragment.threads, "thread"), counted(fragment.values, "register")
    result = [("fragment", f"{threads} of {registers} each")]
    try:
        result.append(("TV layout", str(fragment.tv())))
    except LayoutError as error:
        result.append(("TV layout", f"none: {error}"))
    return result


# Memory


def _memory_facts(memory: MemoryLayout, bits: int) -> Facts:
    mode = next(m for m, swizzle in BYTE_SWIZZLES.items() if swizzle == memory.byte_swizzle)
    result = [
        ("swizzle", f"{mode}: {memory.byte_swizzle} on byte addresses"),
        ("elements", f"{bits} bits, {counted(memory.bytes(bits), 'byte')} in all"),
    ]
    for axis in range(rank(memory.shape)):
        vector = vector_width(memory, axis, bits)
        result.append((f"vectors along mode {axis}", f"{vector} x {bits} bits"))
    for access in warp_accesses(memory, bits):
        result.append((access.name, access.verdict))
    return result


def _grid(memory: MemoryLayout, bits: int) -> Table:
    """`(mode 0, the other modes)`: byte addresses."""
    sizes = product_each(memory.shape)
    rows = sizes[0] if sizes else 1
    return memory.addresses(bits).reshape(-1, rows).T


def vector_width(memory: MemoryLayout, mode: int, bits: int) -> int:
    """The most elements (a power of two, at most 128 bits) along `mode` that are one access.

    They are adjacent in memory and aligned to their size wherever along the mode they start.
    """
    sizes = product_each(memory.shape)
    addresses = memory.bit_addresses(bits).reshape(*reversed(sizes))
    lines = np.moveaxis(addresses, len(sizes) - 1 - mode, -1)
    count = lines.shape[-1]
    best = 1
    while count % (2 * best) == 0 and 2 * best * bits <= 8 * WIDEST_ACCESS:
        groups = lines.reshape(*lines.shape[:-1], -1, 2 * best)
        expected = groups[..., :1] + np.arange(2 * best) * bits
        aligned = groups[..., 0] % (2 * best * bits) == 0
        if not (aligned.all() and np.array_equal(groups, expected)):
            break
        best *= 2
    return best


class WarpAccess(NamedTuple):
    """A warp moving the whole tile, 32 lanes at a time, in one of the obvious ways."""

    lanes_along: str
    bytes: int
    wavefronts: int
    ideal: int

    @property
    def name(self) -> str:
        """The arrangement of the lanes over the tile, as text."""
        return f"lanes {self.lanes_along}, {self.bytes} B each"

    @property
    def verdict(self) -> str:
        """Wavefronts for the tile, and how many times the ideal that is."""
        count = f"{counted(self.wavefronts, 'wavefront')} for the tile"
        if self.wavefronts == self.ideal:
            return f"{count}, no bank conflict"
        return f"{count}, {self.wavefronts / self.ideal:.3g} times the ideal {self.ideal}"


def warp_accesses(memory: MemoryLayout, bits: int) -> Iterator[WarpAccess]:
    """Bank conflicts of warps that move the tile down mode 0 or along the others.

    Each lane moves one element, then the widest vector that is contiguous along some mode.
    """
    grid = _grid(memory, bits)
    directions = {"down mode 0": True, "along mode 1": False}
    if rank(memory.shape) < 2:
        directions = {"along mode 0": True}
    widths = [(1, vector_width(memory, mode, bits), mode) for mode in range(rank(memory.shape))]
    _, widest, contiguous = max(widths, key=lambda w: w[1], default=(1, 1, 0))
    for vector in sorted({1, widest} if contiguous < 2 else {1}):
        if vector * bits % 8:
            continue
        starts = grid[::vector] if contiguous == 0 else grid[:, ::vector]
        for name, down in directions.items():
            lanes = _by_lane(starts.T.ravel() if down else starts.ravel())
            width = vector * bits // 8
            if width & (width - 1):
                continue
            yield WarpAccess(
                name,
                width,
                int(wavefronts(lanes, width).sum()),
                int(ideal_wavefronts(lanes, width).sum()),
            )


def _by_lane(addresses: Table) -> Table:
    """`(accesses, 32)`; idle lanes of the last access are -1."""
    padded = np.full(align_up(addresses.size, WARP), -1, dtype=np.int64)
    padded[: addresses.size] = addresses
    return padded.reshape(-1, WARP)
