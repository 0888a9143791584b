"""Layouts of tiles that are only copied: loaded, viewed without unit dimensions, put into smem.

No warp has to hold whole rows of them, so that every access is as wide as possible.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue, Use

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.analysis.memory.copied_chunks import copied_load
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of, space_of
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.blocked import line_layout
from tileas_xdsl.layout.registers.unit_dimensions import with_units
from tileas_xdsl.threads.pipeline.warp_allocation import Agent


def is_copied(group: TileGroup) -> bool:
    """Whether a group is one tile that is loaded to be moved."""
    value, *others = group.values
    return not others and isinstance(value.owner, TiledLoadOp) and _is_only_moved(value)


def layout_of_copied(group: TileGroup, agent: Agent, min_bytes: int) -> Layout:
    """The widest pieces of a copied tile of such elements, over all threads in their order."""
    return line_layout(group.shape, agent.warps, min_bytes).layout


def views_of_copied(value: SSAValue, layout: Layout) -> Iterator[tuple[SSAValue, Layout]]:
    """What a tile is without dimensions of one, where that is only moved, with its layouts."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, ViewOp) and _drops_ones(op) and _is_only_moved(op.result):
            seen = with_units(layout, _extents(value), _extents(op.result))
            assert seen is not None
            yield op.result, seen


def _is_only_moved(value: SSAValue) -> bool:
    return any(value.uses) and all(map(_moves, value.uses))


def _moves(use: Use) -> bool:
    op = use.operation
    if isinstance(op, ViewOp):
        return _drops_ones(op) and _is_only_moved(op.result)
    if isinstance(op, CopyOp):
        return copied_load(op) is not None
    return isinstance(op, ConvertLayoutOp) and space_of(op.result.type) is Space.SMEM


def _drops_ones(op: ViewOp) -> bool:
    wide = tuple(extent for extent in _extents(op.source) if extent != 1)
    return op.is_whole and len(wide) < len(_extents(op.source)) and wide == _extents(op.result)


def _extents(value: SSAValue) -> tuple[int, ...]:
    return shape_of(value.type) or ()
