"""TMA boxes that load or store a tile in shared memory, also when split over a CTA pair.

A tile of swizzled rows consists of panels as wide as the swizzle spans, one box each:

    64 x 128 f16 tile, 128B swizzle (64 columns a panel), at coordinates (i, j) in tiles
        cp.async.bulk.tensor.2d [tile]        , {128 j     , 64 i}
        cp.async.bulk.tensor.2d [tile + 8192] , {128 j + 64, 64 i}

For products of two CTAs each CTA loads its rows of A, and its half of B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.analysis.memory.accumulators import PAIR, is_tensor_product
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import ClusterRankOp, PairTmaLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, pipelines_of
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledTmaLoadOp
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
from tileas_xdsl.threads.pipeline.stage_consumers import users_of
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.tma.slice_coordinates import in_slices


def panels(
    e: ThreadBuilder,
    tile: SharedTile,
    coordinates: Sequence[SSAValue],
    offsets: Sequence[SSAValue] = (),
    rows: SliceRows | None = None,
) -> list[tuple[SSAValue, list[SSAValue]]]:
    """For each panel its pointer and its coordinates, innermost first; they count elements.

    Offsets in elements, if any, are added to the coordinates of the program, which count tiles.
    Those of slices of an array are followed by the coordinates that say where a slice ends.
    """
    layout, shape = tile.layout, tile.shape
    starts = [multiply(e, e.scalar(c), n) for c, n in zip(coordinates, shape, strict=True)]
    if offsets:
        starts = [add(e, n, e.scalar(more)) for n, more in zip(starts, offsets, strict=True)]
    starts, beyond = [cast_index(e, start, i32) for start in starts], ()
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

    Halves are loaded by multicast in the program, each by one block; here each keeps its own.
    """
    cut, shift = op.destination.owner, None
    is_half = isinstance(cut, ExtractSliceOp)
    if is_half != (number_of(op.num_multicast) == PAIR) or is_half != _is_b(op.destination):
        raise op_error(op, "for products of two blocks loads A, or half of B by multicast to both")
    if isinstance(cut, ExtractSliceOp):
        whole = shared_tile(e, cut.source)
        if PAIR * tile.height != whole.height:
            raise op_error(op, f"loads {tile.height} rows of B, of which there are {whole.height}")
        tile = replace(whole, rows=tile.height)
        first_row = multiply(e, e.insert(ClusterRankOp()).result, tile.height)
        offsets = cut.static_offsets.get_values()
        first = (
            cast_index(e, e.scalar(cut.offsets[0]), i32)
            if offsets[0] == DYNAMIC_INDEX
            else i32_constant(e, offsets[0])
        )
        shift = subtract(e, first_row, first)
    for pointer, coordinates in panels(e, tile, op.coords, op.offsets, descriptor.rows):
        moved = coordinates
        if shift is not None:
            moved = [*coordinates[:-1], add(e, coordinates[-1], shift)]
        e.insert(PairTmaLoadOp(descriptor.argument, pointer, barrier, moved, elected))


def _is_b(destination: SSAValue) -> bool:
    """Whether a tile of a stage, or a slice of one, is B of the products that read the stage."""
    owner = destination.owner
    tile = owner.source if isinstance(owner, ExtractSliceOp) else destination
    if not isinstance(tile, BlockArgument):
        return False
    stage = tile.owner.parent_op()
    pipelines = pipelines_of(stage.operands[0]) if isinstance(stage, StageOp) else ()
    if isinstance(pipelines, TokenFault):
        return False
    return any(
        _multiplies_as_b(user.regions[0].block.args[tile.index])
        for pipeline in pipelines
        for user in users_of(pipeline)
        if "consumer_idx" in user.properties and user.regions
    )


def _multiplies_as_b(tile: SSAValue) -> bool:
    return any(
        use.index == 1
        if is_tensor_product(use.operation)
        else isinstance(use.operation, ExtractSliceOp | ViewOp)
        and any(map(_multiplies_as_b, use.operation.results))
        for use in tile.uses
    )
