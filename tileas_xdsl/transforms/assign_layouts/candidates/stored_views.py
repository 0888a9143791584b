"""Layouts of tiles that show computed ones to stores alone: those that the computed ones have.

    %rows = ... : tensor<16x128xf16>, 8 columns of a row in a thread
    %box = view %rows : tensor<1x16x128xf16>
    tiled_store %box, %array

A layout of its own would move all elements through shared memory, behind a barrier of all threads,
for stores that are as wide.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.modes import TRIVIAL
from tileas_xdsl.layout.registers.row_values import registers_held
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Family
from tileas_xdsl.transforms.assign_layouts.candidates.group_operations import operations_on
from tileas_xdsl.transforms.assign_layouts.candidates.memory.other_side import memory_of
from tileas_xdsl.transforms.assign_layouts.request import Assignment

MAX_STORES = 4
"""Of a thread, of values of rows as they are, rather than to collect them for wider ones."""


def is_stored_view(a: Assignment, group: TileGroup) -> bool:
    """Whether all tiles of a group show others, with other extents of 1, to stores alone.

    What nothing says how to lay out follows them; it is not shown in this sense.
    """
    sources = [_source(value) for value in group.values if _is_stored(value)]
    shown = [a.groups.of(source) for source in sources if source is not None]
    is_all = len(shown) == len(group.values) and None not in shown
    return is_all and any(_says_how(a, one) for one in shown if one is not None)


def _says_how(a: Assignment, group: TileGroup) -> bool:
    """Whether a group is reduced from another one, maybe as a column, or accesses global memory."""
    memories = {memory_of(a, op, group) for op, _ in operations_on(a, group)}
    return any(map(_is_reduced, group.values)) or Space.GMEM in memories


def _is_reduced(value: SSAValue) -> bool:
    """Whether a tile is what another one is reduced to, with or without the dimension."""
    made = value.owner
    if isinstance(made, ExpandDimsOp):
        made = made.source.owner
    return isinstance(made, ReduceOp)


def layout_of_source(a: Assignment, group: TileGroup) -> tuple[Family, Layout] | None:
    """Return the layout of what a stored view shows, with its extents; None if it is open."""
    source = _source(group.values[0]) if is_stored_view(a, group) else None
    choice = None if source is None else a.choice(source)
    if source is None or choice is None or not isinstance(choice.layout, Layout):
        return None
    extents = shape_of(source.type) or ()
    long = [mode for mode, extent in zip(choice.layout, extents, strict=False) if extent != 1]
    modes = [TRIVIAL if extent == 1 else long.pop(0) for extent in group.shape]
    copies = [choice.layout[k] for k in range(len(extents), choice.layout.rank)]
    return choice.family, make_layout(*modes, *copies)


def stored_values(a: Assignment, group: TileGroup) -> Layout | None:
    """Return the layout in which all threads of a row have its values; None for too many."""
    shown = layout_of_source(a, group)
    if shown is None or shown[0] is Family.BLOCKED:
        return None
    return shown[1] if registers_held(shown[1]) <= MAX_STORES else None


def _source(value: SSAValue) -> SSAValue | None:
    """The tile that a view shows, whose extents of more than 1 it has."""
    made = value.owner
    if not isinstance(made, ViewOp):
        return None
    shape, there = shape_of(value.type) or (), shape_of(made.source.type) or ()
    is_same = [n for n in shape if n != 1] == [n for n in there if n != 1]
    return made.source if is_same and len(there) > 0 else None


def _is_stored(value: SSAValue) -> bool:
    uses = [use.operation for use in value.uses]
    return bool(uses) and all(isinstance(op, TiledStoreOp) for op in uses)
