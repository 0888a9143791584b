"""Where tiles end that are wider than their arrays: behind it, products add zeros.

    %v = make_memref %p sizes[%m, %d]                  // rows of %d numbers
    %q = tiled_load %v[%i, 0] {padding 0} : 128x128    zero from column %d on
    %s = dot %q, (view %k : transposed), %c            of %d columns of both, whatever follows

Tiles are powers of two, arrays are not: behind the end of an array along a dimension in which a
tile begins with it, a load fills the tile with zeros, a store leaves it out.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.values.rows.row_extents import array_of, uncast
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import ELEMENTWISE_DIALECTS, constant_integer, uniform_constant
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, BoundedAttr
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_dense_transpose
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of

Extent: TypeAlias = "SSAValue | int"
"""An extent of an array."""

KEEPING_ZERO = (arith.ExtFOp, arith.TruncFOp, arith.NegfOp, ConvertLayoutOp)
"""Operations on elements that give zero of zero."""

DEPTH_OF_A, DEPTH_OF_B, COLUMNS = 1, 0, 1


@dataclass(frozen=True)
class ProductEnds:
    """The extents of arrays behind which the operands of a product are zero; None if unknown."""

    depth: tuple[Extent, Extent] | None
    """Of A and of B."""
    columns: Extent | None
    """Of B, and of the arrays that all of the product goes to."""

    @staticmethod
    def of(op: DotOp) -> ProductEnds:
        """Return where a product ends; matrices of batches have no ends."""
        if len(shape_of(op.a.type) or ()) != 2:
            return ProductEnds(None, None)
        a, b = end_of(op.a, DEPTH_OF_A), end_of(op.b, DEPTH_OF_B)
        columns = end_of(op.b, COLUMNS)
        return ProductEnds(None if a is None or b is None else (a, b), columns)


def end_of(tile: SSAValue, axis: int) -> Extent | None:
    """Return an extent of an array from which on a tile is zero along an axis."""
    made = tile.owner
    match made:
        case TiledLoadOp():
            return _end_of_load(made, axis)
        case ViewOp():
            source = _axis_of_source(made, axis)
            return None if source is None else end_of(made.source, source)
        case GenerateOp():
            return _end_of_permuted(made, axis)
        case arith.MulfOp():
            # Zero times what is no number is none: one that a program writes is one.
            return end_of(made.lhs, axis) if _is_finite(made.rhs) else None
        case Operation() if isinstance(made, KEEPING_ZERO):
            return end_of(made.operands[0], axis)
        case _:
            return None


def is_unseen(tile: SSAValue, axis: int, most: int) -> bool:
    """Whether nothing comes of the elements of a tile from an index on, along an axis.

    They are computed on by themselves, and not stored.
    """
    pending, seen = [(tile, axis)], set[tuple[SSAValue, int]]()
    while pending:
        value, along = found = pending.pop()
        if found in seen:
            continue
        seen.add(found)
        for use in value.uses:
            following = _following(use.operation, value, use.index, along, most)
            if following is None:
                return False
            pending += following
    return True


def _following(
    op: Operation, value: SSAValue, index: int, axis: int, most: int
) -> list[tuple[SSAValue, int]] | None:
    """Return which tiles the elements of a tile become part of; None for what is not known."""
    match op:
        case TiledStoreOp() if value is op.value:
            end = end_along(op, axis)
            bound = None if end is None else most_of(end)
            return [] if bound is not None and bound <= most else None
        case scf.YieldOp() if isinstance(loop := op.parent_op(), scf.ForOp):
            return [(loop.results[index], axis), (loop.body.block.args[index + 1], axis)]
        case scf.ForOp() if value in op.iter_args:
            number = list(op.iter_args).index(value)
            return [(op.results[number], axis), (op.body.block.args[number + 1], axis)]
        case DotOp() if index == 2:
            return [(op.result, axis)]
        case ViewOp():
            target = _axis_of_result(op, axis)
            return None if target is None else [(op.result, target)]
        case ConvertLayoutOp():
            return [(op.result, axis)]
        case Operation() if op.name.startswith(ELEMENTWISE_DIALECTS) and len(op.results) == 1:
            is_tile = isinstance(op.results[0].type, TensorType)
            return [(op.results[0], axis)] if is_tile and not op.regions else None
        case _:
            return None


def most_of(extent: Extent) -> int | None:
    """Return the largest number that an extent may be, as far as it is stated."""
    if isinstance(extent, int):
        return extent
    if (number := constant_integer(extent)) is not None:
        return number
    if isinstance(made := extent.owner, AssumeOp):
        stated = made.fact.bounds[1] if isinstance(made.fact, BoundedAttr) else None
        further = most_of(made.source)
        known = [one for one in (stated, further) if one is not None]
        return min(known, default=None)
    return None


def _end_of_load(op: TiledLoadOp, axis: int) -> Extent | None:
    padding = op.padding_value
    is_zero = isinstance(padding, FloatAttr | IntegerAttr) and padding.value.data == 0
    return end_along(op, axis) if is_zero else None


def end_along(op: TiledLoadOp | TiledStoreOp, axis: int) -> Extent | None:
    """Return the extent of the array along an axis in which a tile begins with it."""
    array = array_of(op)
    if array is None or op.offsets or constant_integer(uncast(op.coords[axis])) != 0:
        return None
    return array.extent(axis)


def _axis_of_source(op: ViewOp, axis: int) -> int | None:
    """Return which axis of its source an axis of a view is."""
    return _axis_between(op, shape_of(op.result.type) or (), shape_of(op.source.type) or (), axis)


def _axis_of_result(op: ViewOp, axis: int) -> int | None:
    return _axis_between(op, shape_of(op.source.type) or (), shape_of(op.result.type) or (), axis)


def _axis_between(
    op: ViewOp, shape: tuple[int, ...], other: tuple[int, ...], axis: int
) -> int | None:
    """Return the axis of a shape that an axis of another one is: units are left out or added."""
    if not op.is_whole:
        return None
    if is_dense_transpose(op.result.type) and shape == other[::-1]:
        return 1 - axis
    own, others = ([n for n, extent in enumerate(one) if extent != 1] for one in (shape, other))
    if [shape[n] for n in own] != [other[n] for n in others] or axis not in own:
        return None
    return others[own.index(axis)]


def _end_of_permuted(op: GenerateOp, axis: int) -> Extent | None:
    """Return the end of a tile whose elements are those of another one, in another order."""
    block = op.body.block
    last = block.last_op
    read = last.operands[0].owner if isinstance(last, YieldOp) else None
    if not isinstance(read, tensor.ExtractOp):
        return None
    argument: BlockArgument = block.args[axis]
    axes = [number for number, index in enumerate(read.indices) if index is argument]
    return end_of(read.tensor, axes[0]) if len(axes) == 1 else None


def _is_finite(factor: SSAValue) -> bool:
    """Whether all elements are one number that is written in the program."""
    constant = uniform_constant(factor)
    return isinstance(constant, FloatAttr) and abs(constant.value.data) < float("inf")
