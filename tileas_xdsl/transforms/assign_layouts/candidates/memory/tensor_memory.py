"""Layouts of tensor memory: accumulators of tcgen05, as the instruction puts them there.

What reads them is a group in registers, whose layouts are those that tcgen05.ld leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.analysis.memory.accumulators import (
    accumulator_layout,
    column_halves,
    is_of_two_blocks,
)
from tileas_xdsl.analysis.memory.tensor_registers import TmemTransfer, moves_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import MatrixProduct
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import (
    NOTHING,
    Candidate,
    Cost,
    Family,
    SubAxis,
)
from tileas_xdsl.transforms.assign_layouts.request import Assignment


def tensor_candidates(group: TileGroup) -> Sequence[Candidate]:
    """The products that write a tile and the conversions that read it.

    What these cost is decided, and counted, with the registers that they fill.
    """
    if len(group.shape) != 2:
        return []
    try:
        layout = accumulator_layout(group.shape, is_of_pair=_is_of_pair(group))
    except TargetError:
        return []
    written = [
        (
            v.owner,
            "-" if v.owner.atom is None else v.owner.atom.data.keyword,
            SubAxis.D,
            Cost(0, 0, 0),
        )
        for v in group.values
        if isinstance(v.owner, MatrixProduct)
    ]
    read = [
        (use.operation, "tcgen05_ld", SubAxis.NONE, NOTHING)
        for value in group.values
        for use in value.uses
        if isinstance(use.operation, ConvertLayoutOp)
    ]
    return [
        Candidate(op, atom, Space.TMEM, axis, Family.LINEAR, 4, layout, cost)
        for op, atom, axis, cost in (*written, *read)
    ]


def tensor_loads(
    a: Assignment, group: TileGroup, groups: int
) -> Sequence[tuple[TmemTransfer, RegisterLayout]]:
    """How a group in registers can be loaded from tensor memory by so many warpgroups."""
    loads = (v.owner for v in group.values if loads_tensor_memory(a, v.owner))
    load = next(loads, None)
    if not isinstance(load, ConvertLayoutOp) or len(group.shape) != 2:
        return ()
    source = a.groups.of(a.groups.whole_of(load.source))
    assert source is not None
    halves = column_halves(source.shape, is_of_pair=_is_of_pair(source))
    return tuple(moves_of(*group.shape, groups, halves))


def _is_of_pair(group: TileGroup) -> bool:
    """Whether two CTAs multiply into a tile together."""
    return any(
        is_of_two_blocks(v.owner) for v in group.values if isinstance(v.owner, MatrixProduct)
    )


def loads_tensor_memory(a: Assignment, op: object) -> bool:
    """Whether an operation brings a tile from tensor memory into registers."""
    if not isinstance(op, ConvertLayoutOp):
        return False
    source = a.groups.of(a.groups.whole_of(op.source))
    return source is not None and a.kind(source) == frozenset({Space.TMEM})
