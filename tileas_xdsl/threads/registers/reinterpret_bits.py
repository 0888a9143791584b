"""The bits of a tile in registers, in row-major order, as elements of another width and shape.

Both tiles are tiles of one kind of unit, an integer of the narrower width.  Splitting an element
into units renames registers of its thread; units become a wider element where its thread holds
all of them side by side, and are converted to a layout of that kind first where it does not:

    128 x f32, one in each thread   ->  512 x i8, four in each thread      a bitcast of registers
    512 x i8, four in each thread   ->  128 x f32                          a bitcast of registers
    128 x i8, one in each thread    ->  128 x i8, four in each of 32 threads   shuffles, then
                                    ->  32 x f32                           a bitcast of registers
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import IntegerType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.axes import E, Offset, axis_sum, terms_of
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.registers.register_layout import (
    VALUE,
    RegisterLayout,
    register_layout_from_table,
)
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.convert.register_conversion import converted
from tileas_xdsl.threads.registers.layout_from_encoding import known_layout
from tileas_xdsl.threads.registers.register_array import RegisterFile
from tileas_xdsl.threads.registers.register_tile import layout_of
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element_type, length


def reinterpreted(
    e: ThreadBuilder, op: Operation, tile: RegisterTile, shape: tuple[int, ...], element: Attribute
) -> RegisterTile:
    """Return the bits of a tile as a tile of another shape and of elements of any width."""
    bits, wanted = bits_of(tile.element), bits_of(element)
    if bits == wanted and shape == tile.layout.shape:
        parts = tuple(_bitcast(e, part, element) for part in tile.parts)
        return RegisterTile(tile.layout, element, parts)
    width = min(bits, wanted)
    units = _split(e, tile, IntegerType(width), bits // width)
    usual, per = layout_of(e, op, shape), wanted // width
    layout = joined_layout(units.layout, shape, per)
    if layout is None:
        layout = usual
        units = converted(e, op, units, unit_layout(usual, per))
    else:
        layout = known_layout(layout.layout, shape, e.agent, usual)
    return _joined(e, units, layout, element)


def _split(e: ThreadBuilder, tile: RegisterTile, unit: Attribute, per: int) -> RegisterTile:
    """Return the units of a tile, `per` of them in an element, in the registers of its elements."""
    layout, file = unit_layout(tile.layout, per), RegisterFile(e, unit)
    step = vectors_of(tile.layout).length * per
    for block, part in enumerate(tile.parts):
        file.add(block * step, _bitcast(e, part, unit))
    return file.fragment(
        layout, [file.vector_element(register) for register in range(layout.values)]
    )


def _joined(
    e: ThreadBuilder, units: RegisterTile, layout: RegisterLayout, element: Attribute
) -> RegisterTile:
    """Return the tile whose elements are units that are side by side in a thread."""
    file, vectors = RegisterFile.of(e, units), vectors_of(layout)
    step = vectors.length * (bits_of(element) // bits_of(units.element))
    parts = [
        _bitcast(e, file.joined([file.vector_element(first + k) for k in range(step)]), element)
        for first in range(0, vectors.count * step, step)
    ]
    return RegisterTile(layout, element, tuple(parts))


def _bitcast(e: ThreadBuilder, part: SSAValue, element: Attribute) -> SSAValue:
    """Return the bits of a vector as elements of another type, the first one lowest."""
    count = length(part) * bits_of(element_type(part)) // bits_of(element)
    type_ = VectorType(element, [count])
    return part if type_ == part.type else e.insert(vector.BitcastOp(part, type_)).result


@lru_cache(maxsize=512)
def unit_layout(layout: RegisterLayout, per: int) -> RegisterLayout:
    """Return the layout of the units of a tile in row-major order, `per` of them in a register.

    The coordinate of a unit is that in its element, then those of the tile, the last one fastest.
    """
    rank = len(layout.shape)
    modes = [_scaled(layout.layout[axis], per) for axis in range(layout.layout.rank)]
    digits = [(per, E(VALUE)), *(leaf for mode in reversed(modes[:rank]) for leaf in mode)]
    copies = [_mode(mode) for mode in modes[rank:]]
    units = make_layout(_mode(digits), *copies)
    return RegisterLayout(units, (layout.elements * per,), layout.threads)


def _mode(digits: Sequence[tuple[int, Offset]]) -> Layout:
    return Layout(tuple(n for n, _ in digits), tuple(stride for _, stride in digits))


def _scaled(mode: Layout, per: int) -> list[tuple[int, Offset]]:
    """Return the extents and strides of a mode whose registers hold `per` units each."""
    return [
        (
            extent,
            axis_sum((axis, k * per if axis == VALUE else k) for axis, k in terms_of(stride)),
        )
        for extent, stride in mode.leaves()
    ]


@lru_cache(maxsize=512)
def joined_layout(units: RegisterLayout, shape: tuple[int, ...], per: int) -> RegisterLayout | None:
    """Return the layout of elements of `per` units each, which threads hold side by side.

    None where some thread holds an element in parts, or its units in another order.
    """
    held = units.held
    if held.shape[1] % per:
        return None
    groups = held.reshape(units.threads, -1, per)
    first = groups[:, :, 0]
    whole = (first[..., None] + np.arange(per, dtype=np.int64) == groups).all(axis=2)
    if not (whole & (first % per == 0) | (groups < 0).all(axis=2)).all():
        return None
    row_major = np.arange(units.elements // per, dtype=np.int64).reshape(shape)
    numbers = np.empty(row_major.size, np.int64)
    numbers[row_major.ravel(order="F")] = np.arange(row_major.size, dtype=np.int64)
    return register_layout_from_table(np.where(first < 0, -1, numbers[first // per]), shape)
