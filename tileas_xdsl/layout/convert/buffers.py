"""Candidate layouts of the shared-memory buffer of a conversion.

A buffer is a table: the bit address of each element. Candidates in the order in which they are
tried: row- and column-major under the byte swizzles of TMA, xor swizzles synthesised from both
register layouts, padded rows, and the order in which one side's threads hold the elements. From
one row to one column per thread:

>>> from tileas_xdsl.layout.axes import E
>>> from tileas_xdsl.layout.layout import Layout
>>> from tileas_xdsl.layout.registers.register_layout import RegisterLayout
>>> rows = RegisterLayout(Layout((32, 32), (E("thread"), E("value"))), (32, 32), 32)
>>> columns = RegisterLayout(Layout((32, 32), (E("value"), E("thread"))), (32, 32), 32)
>>> for buffer in list(candidates(rows, columns, 32))[:4]:
...     print(buffer.name, buffer.bytes)
row-major 4096
row-major with the 32B swizzle 4096
row-major with the 64B swizzle 4096
row-major with the 128B swizzle 4096
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.convert.synthesis import xor_orders
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.access import Ints
from tileas_xdsl.layout.registers.register_layout import RegisterContents
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES, NO_SWIZZLE, Swizzle
from tileas_xdsl.layout.tables import table

PADDING_BYTES = (16, 8, 4)
"""Bytes of padding of a row: one vector of 16 or 8 bytes, or one bank."""

BUFFER_ALIGNMENT = 16


@dataclass(frozen=True, eq=False, slots=True)
class Buffer:
    """A tile in shared memory."""

    name: str
    bits: Ints
    """`(elements,)`: the bit address of each element by its column-major index."""
    elem_bits: int
    """Bits that an element takes in the buffer; at least those of the element."""
    swizzle: Swizzle = NO_SWIZZLE

    @property
    def bytes(self) -> int:
        """The size of the buffer, a multiple of 16."""
        end = int(self.bits.max()) + self.elem_bits
        return ceil_div(end, 8 * BUFFER_ALIGNMENT) * BUFFER_ALIGNMENT

    @property
    def addresses(self) -> Ints:
        """`(elements,)`: the byte address of each element."""
        return self.bits // 8

    @property
    def bit_in_byte(self) -> Ints:
        """`(elements,)`: where in its byte each element begins."""
        return self.bits % 8


def candidates(
    source: RegisterContents, target: RegisterContents, elem_bits: int
) -> Iterator[Buffer]:
    """Yield the buffers to try, those with hardware swizzles first.

    Sub-byte elements, which no access can address alone, are also tried with a whole byte each.
    """
    widths = [w for w in (elem_bits, 8) if w & (w - 1) == 0 and (w == elem_bits or elem_bits < 8)]
    for width in widths:
        yield from _swizzled(source.shape, width)
        for name, offsets in xor_orders(source, target, width):
            yield Buffer(name, offsets * width, width)
        yield from _padded(source.shape, width)
        for name, fragment in (("the source's order", source), ("the target's order", target)):
            if (buffer := _in_thread_order(name, fragment, width)) is not None:
                yield buffer


def _orders(tile: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Yield the names of dimension orders, and the dimensions from fastest to slowest."""
    dimensions = list(range(len(tile)))
    yield "row-major", dimensions[::-1]
    if sum(extent > 1 for extent in tile) > 1:
        yield "column-major", dimensions


def _strides(tile: Sequence[int], order: Sequence[int], pitch: int) -> tuple[int, ...]:
    strides = [0] * len(tile)
    current = 1
    for k, dimension in enumerate(order):
        strides[dimension] = current
        current = pitch if k == 0 else current * tile[dimension]
    return tuple(strides)


def _swizzled(tile: tuple[int, ...], width: int) -> Iterator[Buffer]:
    for order_name, order in _orders(tile):
        bits = table(Layout(tile, _strides(tile, order, tile[order[0]]))) * width
        for name, swizzle in BYTE_SWIZZLES.items():
            where = swizzle(bits // 8) * 8 + bits % 8
            if name != "none" and np.array_equal(where, bits):
                continue
            suffix = "" if name == "none" else f" with the {name} swizzle"
            yield Buffer(order_name + suffix, where, width, swizzle)


def _padded(tile: tuple[int, ...], width: int) -> Iterator[Buffer]:
    for order_name, order in _orders(tile):
        run = tile[order[0]]
        if run == prod(tile):
            continue
        for padding in PADDING_BYTES:
            pitch = run * width + padding * 8
            if padding * 8 % width == 0:
                layout = Layout(tile, _strides(tile, order, pitch // width))
                name = f"{order_name} with {padding} bytes of padding"
                yield Buffer(name, table(layout) * width, width)


def _in_thread_order(name: str, fragment: RegisterContents, width: int) -> Buffer | None:
    """Order 16-byte chunks by thread, so that the accesses of that side have no bank conflicts.

    None where the threads do not hold all of the tile.
    """
    held = fragment.held
    chunk = max(1, 128 // width)
    while held.shape[1] % chunk:
        chunk //= 2
    chunks = held.reshape(held.shape[0], held.shape[1] // chunk, chunk)
    flat = chunks.transpose(1, 0, 2).ravel()
    flat = flat[flat >= 0]
    elements, first = np.unique(flat, return_index=True)
    if len(elements) < fragment.elements:
        return None
    bits = np.empty(len(elements), dtype=np.int64)
    bits[elements[np.argsort(first)]] = np.arange(len(elements)) * width
    return Buffer(f"in {name}", bits, width)
