"""Layouts of row values: the result of a reduction along the last axis, or that as one column."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.blocked import WIDTHS, blocked, blocked_layout, row_values_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.row_values import row_values
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.threads.reduce.spread_lines import near_lines
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Choice, Family
from tileas_xdsl.transforms.assign_layouts.request import Assignment

MATRIX = 2


def values_of_rows(a: Assignment, group: TileGroup, agent: Agent) -> Layout | None:
    """The layout of a group of values of rows, which those of their tile decide."""
    found = (_of_value(a, value, agent) for value in group.values)
    return next((layout for layout in found if layout is not None), None)


def is_column_of_rows(a: Assignment, op: ExpandDimsOp) -> bool:
    """Whether a tile is one column of values of rows, whose registers are known."""
    return _column(a, op) is not None


def _of_value(a: Assignment, value: SSAValue, agent: Agent) -> Layout | None:
    op = value.owner
    if isinstance(op, ExpandDimsOp):
        return _column(a, op)
    if not isinstance(op, ReduceOp):
        return None
    choice = a.choice(op.source)
    if _is_of_rows(op) and _is_fixed(choice) and (rows := _of_fixed(choice)) is not None:
        return rows
    if (lines := _of_lines(op, choice, agent)) is not None:
        return lines
    return _of_pieces(op, choice, agent) if _is_of_rows(op) and not _is_fixed(choice) else None


def _column(a: Assignment, op: ExpandDimsOp) -> Layout | None:
    """The column that a dimension behind values of rows makes of them."""
    if op.axis.value.data != 1:
        return None
    reduction = op.source.owner
    if not isinstance(reduction, ReduceOp) or not _is_of_rows(reduction):
        return None
    choice = a.choice(reduction.source)
    return _of_fixed(choice, keeps_dimension=True) if _is_fixed(choice) else None


def _is_of_rows(op: ReduceOp) -> bool:
    rank = len(op.source.type.get_shape())
    return rank >= MATRIX and op.axis.value.data == rank - 1


def _is_fixed(choice: Choice | None) -> bool:
    """Whether rows lie as a product or an instruction leaves them, not in pieces."""
    return choice is not None and choice.family is not Family.BLOCKED


def _of_fixed(choice: Choice | None, *, keeps_dimension: bool = False) -> Layout | None:
    if choice is None or not isinstance(choice.layout, Layout):
        return None
    return row_values(choice.layout, keeps_dimension=keeps_dimension)


def _of_lines(op: ReduceOp, choice: Choice | None, agent: Agent) -> Layout | None:
    """Return the layout of values of lines that are reduced where they are, by no form."""
    if choice is None or not isinstance(choice.layout, Layout):
        return None
    shape = tuple(op.source.type.get_shape())
    source = RegisterLayout(choice.layout, shape, WARP * agent.warps)
    spread = near_lines(source, op.axis.value.data, agent.warps)
    return None if spread is None else spread.values.layout


def _of_pieces(op: ReduceOp, choice: Choice | None, agent: Agent) -> Layout | None:
    """Return the layout of row values, of which every lane of the warps of a row has a copy."""
    shape = tuple(op.source.type.get_shape())
    for rows in dict.fromkeys(blocked_layout(shape, agent.warps, size) for size in WIDTHS):
        form = blocked(rows)
        is_chosen = choice is None or rows.layout == choice.layout
        if is_chosen and form is not None and form.is_by_rows:
            return row_values_layout(rows).layout
    return None
