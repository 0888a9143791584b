"""Cut a kernel's tiles into chunks along one dimension, so that live tiles fit registers.

A tile program may ask for tiles that no register file holds. `DimensionClasses` groups
dimensions that must be cut together: those that elementwise operations, views and dots identify.
A class can be cut if no operation looks across it (a reduction along it would). The plan is the
smallest number of chunks, a power of two, for which the peak of live registers fits; the block
of operations that touch the class then runs once a chunk, in a loop:

    %t = tiled_load %from[%z, %z] : 512x256      scf.for %c = 0 to 32 {
    %e = math.exp %t                               %t = tiled_load %from[32 * %z + %c, %z] : 16x256
    %s = reduce %e {axis = 1}                      %e = math.exp %t
    tiled_store %s, %to[%z]                        %s = reduce %e {axis = 1}
                                                   tiled_store %s, %to[32 * %z + %c]
                                                 }

Two reasons to cut come in this order: the matrix unit takes a product only in parts (tcgen05 has
at most 128 rows), then register pressure (`register_demand`). What may run once a chunk
`repeated_operations` says.

Where no class fits, `reduction_phases` cuts one that reductions look across.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.layout.units import WARPGROUP_WARPS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.chunk_tiles.register_demand import (
    MOST_SHARING_WARPS,
    capacity,
    has_too_many_registers,
    peak_of_chunks,
)
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import operations_of
from tileas_xdsl.transforms.chunk_tiles.unit_products import parts, takes_parts
from tileas_xdsl.transforms.tile_parts.dimension_classes import DimensionClasses, tile_shape
from tileas_xdsl.transforms.tile_parts.parts import Tiles

MAX_CHUNKS = 64

MIN_EXTENT, MIN_COLUMNS = 64, 32
"""Rows or columns of a product that are worth a loop over its operands; columns where tiles do not
fit registers otherwise."""

MAX_WARPS = 32

ROWS_OF_WARP = 16
"""Rows of a product that each warp has at least (PTX ISA, wgmma and mma)."""


@dataclass(frozen=True)
class ChunkPlan:
    """The operations of a block that run once for each of `count` chunks."""

    tiles: Tiles
    count: int
    warps: int
    """Of the kernel; fewer where chunks have not rows enough for as many."""
    operations: Sequence[Operation]


def plan_chunks(kernel: func.FuncOp, target: Target) -> ChunkPlan | None:
    """Return the plan with the fewest chunks; None where tiles fit, or cannot be cut."""
    too_large = products_in_parts(kernel, target)
    if not too_large and not has_too_many_registers(kernel, target):
        return None
    warps = spec_of(kernel).num_warps
    found = DimensionClasses(kernel).members(kernel)
    candidates = [(tiles, moved) for tiles in found.values() if (moved := operations_of(tiles))]
    for tiles, moved in candidates:
        count = parts_of_products(tiles, too_large)
        chunk_warps = min(warps, most_warps(tiles, count))
        if count > 1 and chunk_warps >= WARPGROUP_WARPS and may_be_cut(tiles, count):
            return ChunkPlan(tiles, count, chunk_warps, moved)
    return _plan_for_registers(kernel, target, candidates)


def products_in_parts(kernel: func.FuncOp, target: Target) -> Mapping[SSAValue, tuple[int, int]]:
    """Products that the matrix unit only takes in parts: in how many of rows, and of columns."""
    takes = takes_parts(kernel, target)
    found = {op.results[0]: parts(op, takes) for op in instances_in(kernel, DotOp)}
    return {product: counts for product, counts in found.items() if counts != (1, 1)}


def parts_of_products(tiles: Tiles, products: Mapping[SSAValue, tuple[int, int]]) -> int:
    """Return in how many parts a class is cut so that the matrix unit takes its products."""
    counts = [
        counts[k - len(tile_shape(tile))]
        for tile, k in tiles.items()
        if (counts := products.get(tile)) is not None
    ]
    return max(counts, default=1)


def _plan_for_registers(
    kernel: func.FuncOp, target: Target, candidates: Sequence[tuple[Tiles, Sequence[Operation]]]
) -> ChunkPlan | None:
    if not has_too_many_registers(kernel, target):
        return None
    for columns in (MIN_EXTENT, MIN_COLUMNS):
        for plan in _plans(kernel, target, candidates, columns):
            if peak_of_chunks(kernel, plan.tiles, plan.count) <= capacity(
                kernel, target, plan.warps
            ):
                return plan
    return None


def _plans(
    kernel: func.FuncOp,
    target: Target,
    candidates: Sequence[tuple[Tiles, Sequence[Operation]]],
    columns: int,
) -> Iterator[ChunkPlan]:
    """Yield the plans whose products have at least so many columns, those of few chunks first.

    More than two warpgroups have fewer registers for tiles: each thread needs some beside them.
    """
    warps, count = spec_of(kernel).num_warps, 2
    while count <= MAX_CHUNKS:
        for tiles, moved in candidates:
            chunk_warps = min(warps, most_warps(tiles, count))
            if chunk_warps < WARPGROUP_WARPS or not may_be_cut(tiles, count, columns):
                continue
            fewer = min(chunk_warps, MOST_SHARING_WARPS)
            if capacity(kernel, target, fewer) > capacity(kernel, target, chunk_warps):
                chunk_warps = fewer
            yield ChunkPlan(tiles, count, chunk_warps, moved)
        # Powers of two, as all extents of Tile IR are.
        count *= 2


def most_warps(tiles: Tiles, count: int) -> int:
    """Return how many warps the rows of the smallest product in a chunk keep busy."""
    return min(
        (
            tile_shape(tile)[k] // count // ROWS_OF_WARP
            for tile, k in tiles.items()
            if isinstance(tile.owner, DotOp) and k == len(tile_shape(tile)) - 2
        ),
        default=MAX_WARPS,
    )


def may_be_cut(tiles: Tiles, count: int, columns: int = MIN_EXTENT) -> bool:
    """Whether chunks are of equal size, with `MIN_EXTENT` rows and so many columns of products."""
    return all(
        tile_shape(tile)[k] % count == 0
        and (not isinstance(tile.owner, DotOp) or tile_shape(tile)[k] // count >= least)
        for tile, k in tiles.items()
        for least in (columns if k == len(tile_shape(tile)) - 1 else MIN_EXTENT,)
    )
