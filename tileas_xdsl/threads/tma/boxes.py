"""TMA boxes that load or store a tile in shared memory, also when split over a CTA pair.

A tile of swizzled rows consists of panels as wide as the swizzle spans, one box each:

    64 x 128 f16 tile, 128B swizzle (64 columns a panel), at coordinates (i, j) in tiles
        cp.async.bulk.tensor.2d [tile]        , {128 j     , 64 i}
        cp.async.bulk.tensor.2d [tile + 8192] , {128 j + 64, 64 i}

For products of two CTAs each CTA loads its rows of A, and its half of B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import ClusterRankOp, PairTmaLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledTmaLoadOp
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    i32_constant,
    multiply,
    subtract,
)
from tileas_xdsl.threads.codegen.lowered_values import Descriptor, SharedTile, SliceRows
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.pipeline.stage_consumers import axis_of_halves
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.tma.slice_coordinates import in_slices


def panels(
    e: ThreadBuilder,
    tile: SharedTile,
    coordinates: Sequence[SSAValue],
    offsets: Sequence[SSAValue] = (),
    rows: SliceRows | None = None,
    shifts: Mapping[int, SSAValue] = MappingProxyType({}),
) -> list[tuple[SSAValue, list[SSAValue]]]:
    """For each panel its pointer and its coordinates, innermost first; they count elements.

    Offsets in elements, if any, are added to the coordinates of the program, which count tiles;
    so are `shifts` by dimension, which the program does not know of.
    Those of slices of an array are followed by the coordinates that say where a slice ends.
    """
    layout, shape = tile.layout, tile.shape
    starts = [multiply(e, e.scalar(c), n) for c, n in zip(coordinates, shape, strict=True)]
    if offsets:
        starts = [add(e, n, e.scalar(more)) for n, more in zip(starts, offsets, strict=True)]
    starts, beyond = [cast_index(e, start, i32) for start in starts], ()
    starts = [add(e, n, shifts[k]) if k in shifts else n for k, n in enumerate(starts)]
    if rows is not None:
        starts, beyond = in_slices(e, starts, rows)
    outer = [*reversed(starts[:-1]), *beyond]
    begin = tile.first_row * layout.row_bytes
    return [
        (
            advance(e, tile.pointer, begin + k * layout.panel_bytes),
            [add(e, starts[-1], k * layout.panel), *outer],
        )
        for k in range(layout.panels)
    ]


def load_for_pair(
    e: ThreadBuilder,
    op: AsyncTiledTmaLoadOp,
    descriptor: Descriptor,
    tile: SharedTile,
    barrier: SSAValue,
    elected: SSAValue | None,
) -> None:
    """What this block needs for products of two: its tile, or its half of one that both have.

    Halves are loaded by multicast in the program, each by one block; here each keeps its own, which
    is all that its stage has of the tile.
    """
    cut = op.destination.owner
    is_half, axis = isinstance(cut, ExtractSliceOp), axis_of_halves(op.destination)
    if is_half != (number_of(op.num_multicast) == PAIR) or is_half != (axis is not None):
        raise op_error(op, "for products of two blocks loads A, or half of B by multicast to both")
    shifts: dict[int, SSAValue] = {}
    if isinstance(cut, ExtractSliceOp) and axis is not None:
        _check_half(op, cut, axis)
        axis %= len(op.coords)
        shifts[axis] = _shift(e, cut, axis)
        tile = shared_tile(e, cut.source)
    for pointer, coordinates in panels(e, tile, op.coords, op.offsets, descriptor.rows, shifts):
        e.insert(PairTmaLoadOp(descriptor.argument, pointer, barrier, coordinates, elected))


def _check_half(op: AsyncTiledTmaLoadOp, cut: ExtractSliceOp, axis: int) -> None:
    """Check that a slice is half of B along its columns, and all of it along K."""
    whole, sizes = list(cut.source.type.get_shape()), list(cut.static_sizes.get_values())
    half = [*whole]
    half[axis] //= PAIR
    if sizes != half:
        part, wanted, all_of_b = ("x".join(map(str, extents)) for extents in (sizes, half, whole))
        raise op_error(
            op, f"loads {part} of B for products of two blocks; each loads {wanted} of {all_of_b}"
        )


def _shift(e: ThreadBuilder, cut: ExtractSliceOp, axis: int) -> SSAValue:
    """Return the elements from the half that this block loads to that which it keeps."""
    own = multiply(e, e.insert(ClusterRankOp()).result, cut.static_sizes.get_values()[axis])
    offsets = cut.static_offsets.get_values()
    if offsets[axis] != DYNAMIC_INDEX:
        return subtract(e, own, i32_constant(e, offsets[axis]))
    dynamic = [k for k, offset in enumerate(offsets) if offset == DYNAMIC_INDEX]
    first = cut.offsets[dynamic.index(axis)]
    return subtract(e, own, cast_index(e, e.scalar(first), i32))
