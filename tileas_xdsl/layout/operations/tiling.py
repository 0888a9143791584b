"""Divides and products: layouts split into tiles, and layouts reproduced over layouts.

A *tiler* is a layout, an integer, a tuple of tilers (mode by mode) or None (leave the mode whole).
Source: CUTLASS include/cute/layout.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout, lift_domain, lifted
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import (
    IntTuple,
    ceil_div,
    evenly_divides,
    is_tuple,
    product_each,
    rank,
    show,
)
from tileas_xdsl.layout.layout import (
    Layout,
    as_layout,
    layout_for,
    make_layout,
    make_ordered_layout,
)
from tileas_xdsl.layout.operations.algebra import complement, right_inverse
from tileas_xdsl.layout.operations.compose import composition, tile_layout
from tileas_xdsl.layout.operations.modes import TRIVIAL, pad_rank, zip2_by, zip_modes
from tileas_xdsl.layout.operations.simplify import coalesce

Splitter = Callable[[Layout, Any], Layout]


def _by_mode(layout: Layout, tiler: tuple[Any, ...], split: Splitter, what: str) -> Layout:
    if len(tiler) > layout.rank:
        raise LayoutError(f"{what}: tiler {_tiler_text(tiler)} has more modes than {layout}")
    modes = [split(mode, tile) for mode, tile in zip(layout, tiler, strict=False)]
    return make_layout(*modes, *tuple(layout)[len(tiler) :])


def _tiler_text(tiler: Any) -> str:
    if is_tuple(tiler):
        return f"<{', '.join(_tiler_text(t) for t in tiler)}>"
    return str(tiler) if isinstance(tiler, Layout) else show(tiler)


@lifted
def tile_unzip(layout: Layout, tiler: Any) -> Layout:
    """Gather the pairs that a divide or product left at the modes of `tiler`: `(tiles, rests)`."""
    return Layout(zip2_by(layout.shape, tiler), zip2_by(layout.stride, tiler))


def hier_unzip(splitter: Splitter, layout: AnyLayout, tiler: Any) -> AnyLayout:
    """`splitter` at every terminal of `tiler`, its pairs gathered: what zipped_divide does."""
    return lift_domain(lambda plain: tile_unzip(_paired(plain, tiler, splitter), tiler), layout)


def _unpacked(layout: Layout, *gathered: int) -> Layout:
    modes = [[*mode] if i in gathered else [mode] for i, mode in enumerate(layout)]
    return make_layout(mode for part in modes for mode in part)


# Divides


@lifted
def logical_divide(layout: Layout, tiler: Any) -> Layout:
    """`layout` with each tiled mode split in two: the tile, and which tile."""
    if tiler is None:
        return layout
    if is_tuple(tiler):
        return _by_mode(layout, tiler, logical_divide, "logical_divide")
    tile = tile_layout(tiler)
    return composition(layout, make_layout(tile, complement(tile, coalesce(layout).shape)))


@lifted
def zipped_divide(layout: Layout, tiler: Any) -> Layout:
    """`((tile modes...), (rest modes...))`."""
    return tile_unzip(_paired(layout, tiler, logical_divide), tiler)


@lifted
def tiled_divide(layout: Layout, tiler: Any) -> Layout:
    """`((tile modes...), rest modes...)`."""
    return _unpacked(zipped_divide(layout, tiler), 1)


@lifted
def flat_divide(layout: Layout, tiler: Any) -> Layout:
    """`(tile modes..., rest modes...)`."""
    return _unpacked(zipped_divide(layout, tiler), 0, 1)


def _paired(layout: Layout, tiler: Any, split: Splitter) -> Layout:
    """`split` at every terminal of `tiler`; a mode that None leaves whole is all rest, no tile."""
    if tiler is None:
        return make_layout(TRIVIAL, layout)
    if is_tuple(tiler):
        return _by_mode(layout, tiler, lambda mode, tile: _paired(mode, tile, split), "zip")
    return split(layout, tiler)


# Products


@lifted
def logical_product(block: Layout, tiler: Any) -> Layout:
    """`(block, where each repetition of it starts)`; the repetitions are laid out as `tiler`."""
    if tiler is None:
        return block
    if is_tuple(tiler):
        return _by_mode(block, tiler, logical_product, "logical_product")
    tile = as_layout(tiler)
    return make_layout(block, composition(complement(block, block.size() * tile.cosize()), tile))


@lifted
def zipped_product(block: Layout, tiler: Any) -> Layout:
    """`((block modes...), (repetition modes...))`."""
    return tile_unzip(_paired(block, tiler, logical_product), tiler)


@lifted
def tiled_product(block: Layout, tiler: Any) -> Layout:
    """`((block modes...), repetition modes...)`."""
    return _unpacked(zipped_product(block, tiler), 1)


@lifted
def flat_product(block: Layout, tiler: Any) -> Layout:
    """`(block modes..., repetition modes...)`."""
    return _unpacked(zipped_product(block, tiler), 0, 1)


def _paired_modes(
    block: Layout, tiler: Any, pair: Callable[[Layout, Layout], Layout], operation: str
) -> Layout:
    """The product with mode k of the block paired with mode k of the tiler."""
    tile = layout_for(tiler, operation)
    n = max(block.rank, tile.rank)
    blocks, starts = logical_product(pad_rank(_as_tuple(block), n), pad_rank(_as_tuple(tile), n))
    return pair(blocks, starts)


@lifted
def blocked_product(block: Layout, tiler: Any) -> Layout:
    """`block` reproduced over `tiler`, blocks kept whole: rank is the larger of the two ranks."""
    return _paired_modes(block, tiler, zip_modes, "blocked_product")


@lifted
def raked_product(block: Layout, tiler: Any) -> Layout:
    """`block` reproduced over `tiler`, blocks interleaved; each mode is coalesced, as in CuTe."""
    raked = _paired_modes(block, tiler, lambda a, b: zip_modes(b, a), "raked_product")
    return coalesce(raked, (1,) * raked.rank)


def _as_tuple(layout: Layout) -> Layout:
    return layout if isinstance(layout.shape, tuple) else make_layout(layout)


@lifted
def tile_to_shape(block: Layout, target: IntTuple, order: IntTuple | None = None) -> Layout:
    """`block` repeated over a target shape, modes in `order` (default: left to right).

    Each mode of the result is a pair, of the block's mode and its repetitions.
    """
    n = rank(target)
    if block.rank > n:
        raise LayoutError(f"tile_to_shape: {block} has more modes than shape {show(target)}")
    padded = pad_rank(_as_tuple(block), n)
    block_shape = product_each(padded.shape)
    target_shape = product_each(target)
    if not evenly_divides(target_shape, block_shape):
        raise LayoutError(
            f"tile_to_shape: block shape {show(block_shape)} does not divide {show(target_shape)}"
        )
    repeats = ceil_div(target_shape, block_shape)
    tiler = make_ordered_layout(repeats, tuple(range(n)) if order is None else order)
    return blocked_product(padded, _without_unit_strides(tiler))


def _without_unit_strides(layout: Layout) -> Layout:
    leaves = layout.leaves()
    return Layout(tuple([s for s, _ in leaves]), tuple([0 if s == 1 else d for s, d in leaves]))


def max_alignment(layout: AnyLayout | IntTuple) -> int:
    """The largest N by which every offset of `layout` can be counted in vectors of N elements.

    1 for a composed layout, as in CuTe: what is composed outside may move single elements.
    """
    if isinstance(layout, ComposedLayout):
        return 1
    flat_layout = coalesce(layout)
    permuted = logical_divide(flat_layout, right_inverse(flat_layout))
    strides = [abs(d) for d in int_tuple.flat(permuted[1].stride) if isinstance(d, int)]
    return gcd(permuted[0].size(), *strides)
