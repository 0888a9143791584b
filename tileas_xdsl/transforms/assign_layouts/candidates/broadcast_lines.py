"""Layouts of lines that are broadcast over a tile: each thread has what it computes with.

    %logs = ... : tensor<1x64xf32>
    %tile = generate { ^(%i, %j): extract %logs[0, %j] } : tensor<128x64xf32, accumulators>

A thread of the accumulators has 16 of their 64 columns, so it gets these 16 elements of the line.
In pieces of the line it would have to fetch them from other threads, through shared memory.  So it
is with columns, that `expand_dims` may make of a value for each row.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import tensor
from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.analysis.memory.copied_chunks import copied_bytes
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.modes import TRIVIAL
from tileas_xdsl.layout.registers.row_values import line_values, neighbours_held, registers_held
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Family
from tileas_xdsl.transforms.assign_layouts.request import Assignment

MATRIX = 2

MAX_ACCESSES = 4
"""Of a thread, to load what other threads load of a line too, rather than to fetch it from them."""


def is_broadcast_line(group: TileGroup) -> bool:
    """Whether a group is lines that are broadcast along a dimension of matrices, and no more."""
    return _line_axis(group.shape) is not None and any(_broadcasts(group))


def broadcast_line(a: Assignment, group: TileGroup) -> Layout | None:
    """The layout of a line of which every thread has what it needs of the matrix; None if open."""
    axis = _line_axis(group.shape)
    if axis is None:
        return None
    for tile, along in _broadcasts(group):
        choice = a.choice(tile)
        if choice is None or not isinstance(choice.layout, Layout):
            continue
        found = line_values(choice.layout, MATRIX, 1 - along)
        is_piece = choice.family is Family.BLOCKED
        if found is not None and not (is_piece and _accesses(group, found) > MAX_ACCESSES):
            modes = [TRIVIAL] * len(group.shape)
            modes[axis] = found[0]
            return make_layout(*modes, *(found[k] for k in range(1, found.rank)))
    return None


def _accesses(group: TileGroup, values: Layout) -> int:
    """Accesses of a thread to its values of a line: of neighbours at once, as far as is known."""
    runs = [_run(v.owner) for v in group.values if isinstance(v.owner, LoadOp)]
    return registers_held(values) // min([neighbours_held(values), *runs])


def _run(load: LoadOp) -> int:
    """Elements that a load through pointers is known to access at once."""
    return max(1, 8 * copied_bytes(load) // bits_of(element_of(load.result.type)))


def _line_axis(shape: tuple[int, ...]) -> int | None:
    """The only dimension of more than one element."""
    long = [axis for axis, extent in enumerate(shape) if extent != 1]
    return long[0] if len(long) == 1 else None


def _broadcasts(group: TileGroup) -> Iterator[tuple[SSAValue, int]]:
    """The matrices that a line is broadcast over, and the dimension of theirs that it is along."""
    seen = set[SSAValue]()
    for value in group.values:
        yield from _broadcasts_of(value, seen)


def _broadcasts_of(value: SSAValue, seen: set[SSAValue]) -> Iterator[tuple[SSAValue, int]]:
    uses = () if value in seen else value.uses
    seen.add(value)
    for use in uses:
        op = use.operation
        if isinstance(op, ViewOp | ExpandDimsOp) or layout_role(op) is LayoutRole.ELEMENTWISE:
            lines = [one for one in op.results if _line_axis(shape_of(one.type) or ()) is not None]
            for line in lines:
                yield from _broadcasts_of(line, seen)
        elif isinstance(op, tensor.ExtractOp) and (found := _broadcast(op)) is not None:
            yield found


def _broadcast(op: tensor.ExtractOp) -> tuple[SSAValue, int] | None:
    made, axis = op.parent_op(), _line_axis(shape_of(op.tensor.type) or ())
    if not isinstance(made, GenerateOp) or axis is None:
        return None
    index, arguments = op.indices[axis], made.body.block.args
    if not isinstance(index, BlockArgument) or index not in arguments or len(arguments) != MATRIX:
        return None
    return made.result, arguments.index(index)
