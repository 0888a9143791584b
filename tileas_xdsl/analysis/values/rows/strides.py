"""Strides of integer and pointer tiles along the last dimension, where constant.

A load through a tile of pointers can be vectorised if neighbours are adjacent. That is decided
symbolically, by the derivative of the index expression in the last coordinate:

    %j = generate { yield %column }          stride 1
    %r = expand_dims %rows axis 1            stride 0     (a column: the same along the row)
    %i = muli %r, splat(%n)                  stride 0
    %o = addi %i, %j                         stride 1
    %p = addptr splat(%base), %o             stride 1: neighbours are adjacent elements

The result holds unless integers wrap around: vectorised accesses must check the first and the last
of the neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.ir_queries import ELEMENTWISE_DIALECTS, uniform_integer
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of

Step = Callable[[SSAValue], "int | None"]

_CASTS = (arith.ExtSIOp, arith.ExtUIOp, arith.IndexCastOp, arith.TruncIOp)


@memoized_walk
def row_step(tile: SSAValue) -> int | None:
    """Return the difference of neighbours along the last dimension; None if it is not constant."""
    if not shape_of(tile.type):
        return 0
    owner = tile.owner
    if isinstance(owner, Block):
        return None
    rule = _RULES.get(type(owner))
    return _combined(owner, row_step) if rule is None else rule(owner)


def _combined(op: Operation, step: Step) -> int | None:
    """Return the stride of sums, products with a constant, conversions, and uniform functions."""
    if isinstance(op, _CASTS):
        return step(op.operands[0])
    steps = [step(operand) for operand in op.operands]
    if not any(map(_is_unknown_or_changing, steps)):
        return 0 if op.name.startswith(ELEMENTWISE_DIALECTS) else None
    if isinstance(op, arith.MuliOp):
        return _product(op, steps)
    if any(found is None for found in steps):
        return None
    first, *rest = (found or 0 for found in steps)
    if isinstance(op, arith.AddiOp | AddPtrOp):
        return first + rest[0]
    return first - rest[0] if isinstance(op, arith.SubiOp) else None


def _is_unknown_or_changing(step: int | None) -> bool:
    return step != 0


def _product(op: arith.MuliOp, steps: list[int | None]) -> int | None:
    for factor, step in ((op.lhs, steps[1]), (op.rhs, steps[0])):
        multiplier = uniform_integer(factor)
        if multiplier is not None and step is not None:
            return multiplier * step
    return None


def _constant(op: arith.ConstantOp) -> int | None:
    is_same = not isinstance(op.value, DenseIntOrFPElementsAttr) or is_splat(op.value)
    return 0 if is_same else None


def _splat(op: tensor.SplatOp) -> int:
    return 0


def _expanded(op: ExpandDimsOp) -> int | None:
    """A new last dimension has no neighbours."""
    is_last = op.axis.value.data == len(shape_of(op.result.type) or ()) - 1
    return 0 if is_last else row_step(op.source)


def _viewed(op: ViewOp) -> int | None:
    """A view that keeps the length of rows keeps neighbours."""
    here, there = shape_of(op.result.type), shape_of(op.source.type)
    if not isinstance(op.source.type, TensorType) or not here or not there:
        return None
    if here[-1] == 1:
        return 0
    return row_step(op.source) if here[-1] == there[-1] else None


def _generated(op: GenerateOp) -> int | None:
    """Return the derivative of the body's result in the last coordinate."""
    block = op.body.block
    last, end = block.args[-1], block.last_op

    @memoized_walk
    def step(value: SSAValue) -> int | None:
        if value.owner is block:
            return int(value is last)
        owner = value.owner
        if isinstance(owner, Block) or owner.parent is not block:
            return 0
        if isinstance(owner, tensor.ExtractOp):
            return _taken(owner, step)
        return _combined(owner, step)

    return None if end is None else step(end.operands[0])


def _taken(op: tensor.ExtractOp, step: Step) -> int | None:
    """Return the stride of an extracted element whose index varies in the last dimension only."""
    steps = [step(index) for index in op.indices]
    if not any(map(_is_unknown_or_changing, steps)):
        return 0
    if any(map(_is_unknown_or_changing, steps[:-1])) or steps[-1] is None:
        return None
    inner = row_step(op.tensor)
    return None if inner is None else inner * steps[-1]


_TABLE: Any = {
    ExpandDimsOp: _expanded,
    GenerateOp: _generated,
    ViewOp: _viewed,
    arith.ConstantOp: _constant,
    tensor.SplatOp: _splat,
}

_RULES: Mapping[type[Operation], Callable[[Any], int | None]] = _TABLE
