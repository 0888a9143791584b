"""Layouts of tiles in registers that no operation proposes one for: those of their views' sources.

%v = view %d : 128x64, accumulators -> 1x1x128x64      as accumulators, too
%t = truncf %v
copy %t, %staging                                      (takes registers in any layout)
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.unit_dimensions import with_units
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import NOTHING, Choice
from tileas_xdsl.transforms.assign_layouts.request import Assignment, Decision


def lay_out_views(a: Assignment) -> None:
    """Lay out groups of registers without a choice like what they are views of, once that has one.

    A view of a view follows it, so this goes on until nothing changes.
    """
    while found := dict(_followers(a)):
        a.decisions.update(found)


def _followers(a: Assignment) -> Iterator[tuple[TileGroup, Decision]]:
    for group, decision in a.decisions.items():
        if decision.choice is None and not decision.candidates and _may_be_in_registers(a, group):
            choice = next((found for op in _views(group) if (found := _as_source(a, op))), None)
            if choice is not None:
                yield group, Decision(group, (), choice)


def _may_be_in_registers(a: Assignment, group: TileGroup) -> bool:
    return Space.RMEM in a.kind(group)


def _views(group: TileGroup) -> Iterator[ViewOp]:
    return (op for value in group.values if isinstance(op := value.owner, ViewOp) and op.is_whole)


def _as_source(a: Assignment, op: ViewOp) -> Choice | None:
    """The choice for the source of a view, of the extents that the view has."""
    choice = a.choice(op.source)
    if choice is None or choice.kind is not Space.RMEM or not isinstance(choice.layout, Layout):
        return None
    shapes = (shape_of(op.source.type) or (), shape_of(op.result.type) or ())
    layout = with_units(choice.layout, *shapes)
    return None if layout is None else Choice(layout, choice.family, Space.RMEM, {}, NOTHING)
