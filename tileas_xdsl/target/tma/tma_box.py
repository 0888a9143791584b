"""The TMA box that fills a tile of shared memory.

The order in which shared memory counts the tile says which dimensions a tensor map walks and how
far: the right inverse of the layout, read as coordinates.  Source: CUTLASS
include/cute/atom/copy_traits_sm90_tma.hpp (construct_tma_gbasis, coalesce_256).
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import AxisSum
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout, make_identity_layout
from tileas_xdsl.layout.operations.algebra import right_inverse
from tileas_xdsl.layout.operations.compose import composition
from tileas_xdsl.layout.operations.simplify import coalesce
from tileas_xdsl.layout.tables import collision
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tma.tensor_map import SWIZZLES
from tileas_xdsl.target.tma.tensor_map_rules import BOX_LIMIT

BOX_ROW_BYTES = 16
"""What the innermost extent of a box is a multiple of.  Source: cuTensorMapEncodeTiled."""


@dataclass(frozen=True, slots=True)
class TmaBox:
    """`box[i]` elements along mode `modes[i]` of a tile, innermost first; `boxes` fill the tile."""

    modes: tuple[int, ...]
    box: tuple[int, ...]
    boxes: int


@lru_cache(maxsize=256)
def tma_box(tile: Layout, elem_bits: int, swizzle: str = "none") -> TmaBox:
    """Return the largest box that one TMA instruction lays out as `tile` (without its swizzle).

    `tile` maps the coordinates of the tile to element offsets, one top-level mode for each
    dimension of global memory; `modes[0]` is the one that must be contiguous there.  Raises
    `TargetError` for an unknown swizzle, where two elements of the tile have one address, and where
    rows of the box cannot be whole rows of the swizzle, or without one multiples of 16 bytes.
    """
    if swizzle not in SWIZZLES:
        raise TargetError(f"unknown swizzle '{swizzle}'; known: {', '.join(SWIZZLES)}")
    if (pair := collision(tile)) is not None:
        raise TargetError(
            f"{tile} puts elements {pair[0]} and {pair[1]} in one place: TMA cannot fill it"
        )
    walk = _walk(tile)
    if not walk:
        raise TargetError(f"{tile} has no two elements side by side: TMA cannot fill it")
    span = SWIZZLES[swizzle].span
    row = _any_row if span is None else _swizzled_row
    box = _box(walk, row(walk, span or BOX_ROW_BYTES, elem_bits, swizzle))
    for mode in range(tile.rank):
        box.setdefault(mode, 1)
    return TmaBox(tuple(box), tuple(box.values()), tile.size() // prod(box.values()))


def _walk(tile: Layout) -> list[tuple[int, int]]:
    """Return the `(mode, extent)` runs in address order, up to the first mode that repeats."""
    basis: Layout = composition(make_identity_layout(product_each(tile.shape)), right_inverse(tile))
    walk: dict[int, int] = {}
    for extent, stride in coalesce(basis).leaves():
        mode = _unit_mode(stride)
        if mode is None or mode in walk:
            break
        walk[mode] = extent
    return [*walk.items()]


def _unit_mode(stride: int | AxisSum) -> int | None:
    """The mode along which a stride is one step."""
    if not isinstance(stride, AxisSum) or len(stride.terms) != 1:
        return None
    axis, step = stride.terms[0]
    return int(axis) if step == 1 else None


def _any_row(walk: list[tuple[int, int]], unit: int, elem_bits: int, swizzle: str) -> int:
    """The most elements in a row of whole `unit`s of bytes, without a swizzle."""
    del swizzle
    rows = _divisors(walk[0][1], BOX_LIMIT)
    whole = [row for row in rows if row * elem_bits % (unit * 8) == 0]
    if not whole:
        raise TargetError(
            f"no row of {walk[0][1]} elements of {elem_bits} bits, nor an even part of it of at "
            f"most {BOX_LIMIT}, is a multiple of {unit} bytes"
        )
    return whole[-1]


def _swizzled_row(walk: list[tuple[int, int]], span: int, elem_bits: int, swizzle: str) -> int:
    """The elements in a row of the swizzle."""
    bits = walk[0][1] * elem_bits
    if bits % (span * 8):
        raise TargetError(
            f"rows of {bits // 8} bytes are no multiple of the {span} that swizzle {swizzle} spans"
        )
    return span * 8 // elem_bits


def _divisors(extent: int, limit: int) -> list[int]:
    return [d for d in range(1, min(limit, extent) + 1) if extent % d == 0]


def _box(walk: list[tuple[int, int]], limit: int) -> dict[int, int]:
    """The walk as far as one box goes: to the first extent that is larger than a box may be."""
    box: dict[int, int] = {}
    for mode, extent in walk:
        box[mode] = _divisors(extent, limit)[-1]
        if box[mode] != extent:
            break
        limit = BOX_LIMIT
    return box
