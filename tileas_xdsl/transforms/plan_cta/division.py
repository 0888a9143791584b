"""Along which class of dimensions the CTAs of a tile block divide its tiles.

    %a : 256x64, %b : 64x256, %c = dot %a, %b : 256x256, two CTAs

    rows of %c:     each CTA loads 128x64 of A and all of B     49,152 bytes of f16
    columns of %c:  each CTA loads all of A and 64x128 of B     49,152 bytes

The division with the fewest bytes to load is taken, of equal ones the first.  Tiles outside of the
class are computed by every CTA; loads of them can be shared by multicast.  Where the CTAs multiply
together (`cta_pairs.py`), each has half of B:

    rows of %c, by both:  each CTA loads 128x64 of A and half of B   32,768 bytes
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import func
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.chunk_tiles.plan import MIN_COLUMNS, may_be_cut
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import may_be_repeated
from tileas_xdsl.transforms.plan_cta.cta_pairs import (
    loaded_operand,
    pair_problem,
    products_of,
)
from tileas_xdsl.transforms.plan_cta.ordered_accesses import crossing_access
from tileas_xdsl.transforms.tile_parts.dimension_classes import DimensionClasses, tile_shape
from tileas_xdsl.transforms.tile_parts.parts import Tiles

MIN_ROW_BYTES = 64
"""Bytes of a row that a CTA loads at least: two sectors, half a line of the L2 cache."""

MIN_SUMS = 64 * 64
"""Sums of a product of a CTA, from which on it multiplies for as long as it reads operands: 64
columns take 32 cycles, and 128 bytes of shared memory in each; 32 columns 16, and 192.  On an H200
512x512x4096 f16 in 64x64x128 tiles takes 8.4 us, 10.1 where two CTAs divide each."""


def division_of(kernel: func.FuncOp, count: int, target: Target) -> Tiles | str:
    """Return the tiles that `count` CTAs divide among them; or why none can be divided."""
    classes = list(DimensionClasses(kernel).members(kernel).values())
    if not classes:
        return "every dimension of its tiles is one that the program looks across"
    whole = [tiles for tiles in classes if _may_be_divided(tiles, count)]
    if not whole:
        return f"no dimension of its tiles has {count} parts that are large enough"
    problems = [_problem(kernel, tiles) for tiles in whole]
    possible = [tiles for tiles, problem in zip(whole, problems, strict=True) if problem is None]
    if not possible:
        return next(filter(None, problems))
    return min(possible, key=lambda tiles: _bits_loaded(kernel, tiles, count, target))


def possible_counts(kernel: func.FuncOp, counts: Sequence[int]) -> Sequence[int]:
    """Return which of some numbers of CTAs, powers of two, can divide tiles among them."""
    classes = DimensionClasses(kernel).members(kernel).values()
    found = [tiles for tiles in classes if _may_be_divided(tiles, min(counts))]
    usable = [tiles for tiles in found if _problem(kernel, tiles) is None]
    return [
        n
        for n in counts
        if any(_may_be_divided(tiles, n) and _keeps_products(tiles, n) for tiles in usable)
    ]


def _keeps_products(tiles: Tiles, count: int) -> bool:
    """Whether no product comes to have fewer sums than make it worth a multiprocessor."""
    sums = [prod(tile_shape(tile)) for tile in tiles if isinstance(tile.owner, DotOp)]
    return not any(one // count < MIN_SUMS <= one for one in sums)


def _may_be_divided(tiles: Tiles, count: int) -> bool:
    """Whether parts are large enough for products, and for the rows that are loaded."""
    return may_be_cut(tiles, count, MIN_COLUMNS) and all(
        tile_shape(tile)[k] // count * (bits_of(element_of(tile.type)) or 0) >= 8 * MIN_ROW_BYTES
        for tile, k in tiles.items()
        if isinstance(tile.owner, LoadOp | TiledLoadOp) and k == len(tile_shape(tile)) - 1
    )


def _problem(kernel: func.FuncOp, tiles: Tiles) -> str | None:
    """Why CTAs cannot each compute a part of some tiles; None if they can."""
    for op in _inner(kernel):
        if not may_be_repeated(op, tiles):
            return f"'{op.name}' would run once for each CTA"
    crossing = crossing_access(kernel, tiles)
    if crossing is not None:
        return f"'{crossing.name}' comes after accesses that another CTA would do"
    return None


def _inner(kernel: func.FuncOp) -> list[Operation]:
    return [op for op in operations_in(kernel.body) if not isinstance(op, func.ReturnOp)]


def _bits_loaded(kernel: func.FuncOp, tiles: Tiles, count: int, target: Target) -> int:
    """The bits of the tiles that one CTA loads, each counted once."""
    total, halves = 0, _loads_of_halves(kernel, tiles, count, target)
    for op in kernel.walk():
        if isinstance(op, LoadOp | TiledLoadOp):
            bits = prod(tile_shape(op.result)) * (bits_of(element_of(op.result.type)) or 0)
            total += bits // count if op.result in tiles or op in halves else bits
    return total


def _loads_of_halves(
    kernel: func.FuncOp, tiles: Tiles, count: int, target: Target
) -> frozenset[Operation | None]:
    """Return the loads of B of which each CTA needs half, since all CTAs multiply together."""
    if pair_problem(kernel, tiles, count, target) is not None:
        return frozenset()
    return frozenset(loaded_operand(op.b) for op in products_of(kernel))
