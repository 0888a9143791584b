"""Matrices that views show of a tile without its leading dimensions of extent 1.

    %x = tiled_load %view : 1x1x1x64x128           arrays of a model have heads and batches
    %v = view %x : 64x128                          what is computed, and goes to shared memory

Such a tile is laid out where it is loaded, so that what becomes of its matrices decides there.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, placed_tile
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.transforms.assign_layouts.request import Assignment


def matrices_shown(a: Assignment, group: TileGroup) -> Iterator[TileGroup]:
    """The groups of what views show of a group without its leading dimensions of extent 1.

    Those with accumulators have a layout of their own.
    """
    for value in group.values:
        for use in value.uses:
            if not isinstance(use.operation, ViewOp):
                continue
            shown = a.groups.of(use.operation.result)
            if shown is None or shown.shape != group.shape[-len(shown.shape) :]:
                continue
            if not any(isinstance(one.owner, DotOp | AsyncDotOp) for one in shown.values):
                yield shown


def is_staged(value: SSAValue) -> bool:
    """Whether a tile is converted to one in shared memory."""
    users = (use.operation for use in value.uses)
    return any(
        isinstance(op, ConvertLayoutOp) and space_of(op.result.type) is Space.SMEM for op in users
    )


def staged_bits(group: TileGroup) -> int:
    """The most bits of an element that a group has in shared memory; 0 if none of it is there."""
    tiles = (placed_tile(value.type) for value in filter(is_staged, group.values))
    return max((bits_of(tile.element_type) for tile in tiles if tile is not None), default=0)
