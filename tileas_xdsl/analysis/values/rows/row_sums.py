"""Sums that loops carry, which each round scales by a number for each row and adds to.

scf.for carrying %t {
  %g = generate { yield (extract %f[%row, 0]) }      // %f for each row
  %n = fma %t, %g, %p                                // or addf (mulf %t, %g), %p
  yield %n
}
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith, math, scf, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.values.float_ranges import combiner_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    GenerateOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of


@dataclass(frozen=True)
class ScaledSum:
    """`carried * factor + term`."""

    op: Operation
    product: Operation
    """What scales the carried value: the same operation, if it is fused."""
    factor: SSAValue
    term: SSAValue

    @staticmethod
    def of(loop: scf.ForOp, index: int) -> ScaledSum | None:
        """Read what a loop makes of a value that it carries."""
        carried, value = loop.body.block.args[index + 1], plain(carried_on(loop)[index])
        match value.owner:
            case math.FmaOp() as op:
                product, term = op, op.c
            case arith.AddfOp() as op:
                products = [one for one in op.operands if isinstance(one.owner, arith.MulfOp)]
                if len(products) != 1:
                    return None
                product, term = products[0].owner, op.lhs if products[0] is op.rhs else op.rhs
            case _:
                return None
        assert isinstance(product, math.FmaOp | arith.MulfOp)
        for one, other in (product.operands[:2], product.operands[1::-1]):
            if plain(one) is carried:
                return ScaledSum(op, product, other, term)
        return None


def carried_on(loop: scf.ForOp) -> Sequence[SSAValue]:
    """Return the operands of the loop's `scf.yield`: the carried values of the next iteration."""
    last = loop.body.block.last_op
    assert isinstance(last, scf.YieldOp)
    return last.operands


def is_sum(op: Operation, axis: int) -> bool:
    """Whether an operation adds up one tile along an axis."""
    if not isinstance(op, ReduceOp) or op.axis.value.data != axis or len(op.sources) != 1:
        return False
    return isinstance(combiner_of(op), arith.AddfOp)


def rows_of(tile: SSAValue) -> tuple[SSAValue, int] | None:
    """Return the numbers of rows that a tile repeats along an axis, and the axis.

    A tile of one dimension is a row, and repeats one number.
    """
    made = without_layout(tile).owner
    if isinstance(made, tensor.SplatOp) and len(shape_of(tile.type) or ()) == 1:
        return plain(made.input), 0
    if not isinstance(made, GenerateOp):
        return None
    block = made.body.block
    read = block.last_op.operands[0].owner if block.last_op is not None else None
    if not isinstance(read, tensor.ExtractOp):
        return None
    own = [index for index in read.indices if index in block.args]
    absent = [axis for axis, argument in enumerate(block.args) if argument not in own]
    missing = [axis for axis in absent if made.result.type.get_shape()[axis] != 1] or absent
    if len(missing) != 1 or own != [argument for argument in block.args if argument in own]:
        return None
    extents = shape_of(read.tensor.type) or ()
    for index, extent in zip(read.indices, extents, strict=True):
        if index not in own and (extent != 1 or constant_integer(index) != 0):
            return None
    return plain(read.tensor), missing[0]


def readers(value: SSAValue) -> set[Operation]:
    """Return what reads a value, or the same elements in another layout or with other extents 1.

    Of a tile of one element, what reads that as a number, and of a number what reads such a tile.
    """
    found: set[Operation] = set()
    for use in value.uses:
        is_same = isinstance(use.operation, ConvertLayoutOp | ExpandDimsOp)
        is_same |= _is_of_one_number(use.operation)
        found |= readers(use.operation.results[0]) if is_same else {use.operation}
    return found


def plain(value: SSAValue) -> SSAValue:
    """Return the value of which one has the elements, in another layout or with other extents 1.

    Of the number that a tile without dimensions has, the tile; of a tile of one number, that.
    """
    while True:
        made = value.owner
        if isinstance(made, Operation) and _is_of_one_number(made):
            value = made.operands[0]
        elif isinstance(made, ConvertLayoutOp | ExpandDimsOp) or (
            isinstance(made, ViewOp) and _is_reshape(made)
        ):
            value = made.source
        else:
            return value


def _is_of_one_number(op: Operation) -> bool:
    """Whether an operation takes the number of a tile of one, or makes such a tile of it."""
    if isinstance(op, tensor.ExtractOp):
        return not op.indices
    return isinstance(op, tensor.SplatOp) and prod(shape_of(op.result.type) or ()) == 1


def without_layout(value: SSAValue) -> SSAValue:
    """Return the value of which one has the elements in another layout."""
    while isinstance(made := value.owner, ConvertLayoutOp):
        value = made.source
    return value


def _is_reshape(op: ViewOp) -> bool:
    """Whether a view is a tile with the same extents, but for those of 1."""
    types = (op.source.type, op.result.type)
    extents = [
        [extent for extent in tile.get_shape() if extent != 1]
        for tile in types
        if isinstance(tile, TensorType)
    ]
    return op.is_whole and len(extents) == len(types) and extents[0] == extents[1]
