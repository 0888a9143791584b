"""The operations on a group of tiles: those that make its tiles, and those that read them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, LoadBase, StoreBase
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadBase
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ExpandDimsOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import SubAxis
from tileas_xdsl.transforms.assign_layouts.candidates.dot.wgmma_fragments import (
    has_accumulators,
    reads_fragment,
    slice_of_accumulators,
)
from tileas_xdsl.transforms.assign_layouts.candidates.row_values import is_column_of_rows
from tileas_xdsl.transforms.assign_layouts.request import Assignment
from tileas_xdsl.transforms.assign_layouts.spaces.space_requirements import MEMORY_ACCESSES
from tileas_xdsl.transforms.normalize_dot_operands.permutations import permuted


def operations_on(a: Assignment, group: TileGroup) -> Sequence[tuple[Operation, SubAxis]]:
    """The loads, stores, conversions and products of a group, each once."""
    found: dict[Operation, SubAxis] = {}
    for value in group.values:
        owner = value.owner
        if isinstance(owner, Operation) and _makes_tile(a, owner):
            found.setdefault(owner, _axis(owner))
        for use in value.uses:
            if _READERS[type(use.operation)]:
                found.setdefault(use.operation, _axis(use.operation))
            elif reads_fragment(use.operation, group):
                found.setdefault(use.operation, SubAxis.A)
    return list(found.items())


def _makes_tile(a: Assignment, op: Operation) -> bool:
    """Whether an operation decides about the layout of its result."""
    if _MAKERS[type(op)]:
        return True
    if type(op) is ExpandDimsOp:
        return is_column_of_rows(a, op)
    if type(op) is ExtractSliceOp:
        return slice_of_accumulators(a, op) is not None
    permutation = permuted(op.result) if type(op) is GenerateOp else None
    return permutation is not None and has_accumulators(a, permutation.source)


_MAKERS = Kinds(
    *(TiledLoadBase, LoadBase, GatherLoadOp, TiledAtomicRmwOp),
    *(ConvertLayoutOp, DotOp, AsyncDotOp, ReduceOp),
)
_READERS = Kinds(*MEMORY_ACCESSES, ConvertLayoutOp, ReduceOp)


def _axis(op: Operation) -> SubAxis:
    return SubAxis.D if isinstance(op, DotOp | AsyncDotOp) else SubAxis.NONE


def tile_of_group(op: Operation, group: TileGroup) -> SSAValue:
    """Return the operand or result of an operation that belongs to a group.

    What a store writes counts, not the pointers that it writes through, which share its layout and
    are wider than most elements: `store tensor<4096xbf16>, tensor<4096x!ptr>` moves bytes of bf16.
    """
    if isinstance(op, StoreBase) and op.value in group.values:
        return op.value
    return next(value for value in (*op.results, *op.operands) if value in group.values)
