"""Interval analysis of floats, for tiles, fragments and scalars.

    %m = reduce max of %x                 [-inf, inf]
    %d = arith.subf %x, broadcast of %m   [-inf, 0]      no element exceeds the largest of its row
    %e = math.exp %d                      [0, 1]
    %s = reduce add of %e                 [0, inf]

A range holds for every element that is a number: any element may be NaN, too.  Values that a loop
carries are not negative if the first one is not and the body keeps that, by induction.
"""

from __future__ import annotations

import math as numbers
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, cast

from xdsl.dialects import arith, scf, tensor, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    TensorType,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.analysis.values.float_intervals import (
    EXACT,
    LARGEST_F32,
    NOT_NEGATIVE,
    RULES,
    UNKNOWN,
    FloatRange,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MakeFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import ShuffleOp
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import SATURATE
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp

LEAST_OF_F16 = 2.0**-24
LARGEST: Mapping[Attribute, float] = {
    f16: 65504.0,
    bf16: (2 - 2.0**-7) * 2.0**127,
    f32: LARGEST_F32,
}
"""The largest finite numbers of types."""
MAX_DEPTH = 64
"""Operations that are followed from a value; past them nothing is known."""


JOINED = (MakeFragmentOp, vector.ExtractOp)
"""What gives elements of any of its operands."""

FIRST = (ShuffleOp, tensor.ExtractOp)
"""What gives elements of its first operand."""

MAXIMA = (arith.MaximumfOp, arith.MaxnumfOp)

EXTREMES = (*MAXIMA, arith.MinimumfOp, arith.MinnumfOp)


@dataclass
class FloatRanges:
    """Answers for values of IR that does not change in between."""

    known: dict[SSAValue, FloatRange] = field(default_factory=dict[SSAValue, FloatRange])
    not_negative: dict[scf.ForOp, frozenset[int]] = field(
        default_factory=dict[scf.ForOp, frozenset[int]]
    )
    """By loop, the indices of the values it carries that are never negative."""

    def of(self, value: SSAValue, depth: int = 0) -> FloatRange:
        """The range of a float, a fragment or a tile of floats."""
        if value in self.known:
            return self.known[value]
        if depth > MAX_DEPTH:
            return _of_type(value)
        found = self._found(value, depth + 1)
        own = _of_type(value)
        self.known[value] = replace(
            found, least=max(found.least, own.least), finite=min(found.finite, own.finite)
        )
        return self.known[value]

    def _found(self, value: SSAValue, depth: int) -> FloatRange:
        if isinstance(value, BlockArgument):
            return self._of_argument(value, depth)
        assert isinstance(value, OpResult)
        op = value.op
        match op:
            case arith.ConstantOp():
                return _of_constant(op)
            case arith.SelectOp():
                return self.of(op.lhs, depth).join(self.of(op.rhs, depth))
            case scf.ForOp():
                return self._of_carried(op, value.index, depth)
            case GenerateOp():
                return self._of_body(op.body.block, depth)
            case ReduceOp():
                return self._of_reduction(op, value.index, depth)
            # `x - max(x)` is at most 0, and `x * x` at least 0, whatever x is: intervals of the
            # operands alone would not show either.
            case arith.SubfOp() if _is_of_row(op.rhs, op.lhs) and SATURATE not in op.attributes:
                return FloatRange(high=0.0)
            case arith.MulfOp() if op.lhs == op.rhs and SATURATE not in op.attributes:
                return NOT_NEGATIVE
            case _:
                return self._by_rule(op, depth)

    def _by_rule(self, op: Operation, depth: int) -> FloatRange:
        if isinstance(op, FIRST):
            return self.of(op.operands[0], depth)
        if isinstance(op, JOINED):
            found = [self.of(value, depth) for value in op.operands]
            whole = found[0]
            for other in found[1:]:
                whole = whole.join(other)
            return whole
        rule = RULES.get(type(op))
        if rule is None:
            return UNKNOWN
        if SATURATE in op.attributes:
            return FloatRange(0.0, 1.0, number=True)
        found = rule(*(self.of(v, depth) for v in op.operands))
        rounds = not isinstance(op, EXACT) and _element(op.results[0]) not in (f32, f64)
        return found.signs if rounds else found

    def _of_body(self, block: Block, depth: int) -> FloatRange:
        last = block.last_op
        return self.of(last.operands[0], depth) if isinstance(last, YieldOp) else UNKNOWN

    def _of_reduction(self, op: ReduceOp, index: int, depth: int) -> FloatRange:
        combiner = combiner_of(op)
        if combiner is None or len(op.sources) > 1:
            return UNKNOWN
        source = self.of(op.sources[index], depth)
        if isinstance(combiner, EXTREMES):
            return source
        is_sum = isinstance(combiner, arith.AddfOp)
        return source.signs if is_sum and source.low >= 0 else UNKNOWN

    def _of_argument(self, value: BlockArgument, depth: int) -> FloatRange:
        op = value.block.parent_op()
        if not isinstance(op, scf.ForOp) or value.index == 0:
            return UNKNOWN
        return self._of_carried(op, value.index - 1, depth)

    def _of_carried(self, op: scf.ForOp, index: int, depth: int) -> FloatRange:
        if op not in self.not_negative:
            self.not_negative[op] = self._not_negative_carried(op, depth)
        return NOT_NEGATIVE if index in self.not_negative[op] else UNKNOWN

    def _not_negative_carried(self, op: scf.ForOp, depth: int) -> frozenset[int]:
        """The carried values that are not negative, by one induction over all of them.

        Assumed are all whose first value is not negative; what the body then yields negative is
        dropped until nothing changes: the greatest fixed point, which also proves values that
        depend on each other.  One per value would visit the body exponentially often.
        """
        last = op.body.block.last_op
        if last is None:
            return frozenset()
        kept = frozenset(
            i for i, value in enumerate(op.iter_args)
            if isinstance(_element(value), AnyFloat) and self.of(value, depth).low >= 0
        )  # fmt: skip
        while kept:
            carried = {op.body.block.args[i + 1]: NOT_NEGATIVE for i in kept}
            carried |= {a: UNKNOWN for a in op.body.block.args[1:] if a not in carried}
            assumed = FloatRanges({**self.known, **carried}, dict(self.not_negative))
            proven = frozenset(i for i in kept if assumed.of(last.operands[i], depth).low >= 0)
            if proven == kept:
                self.known, self.not_negative = assumed.known, assumed.not_negative
                return kept
            kept = proven
        return frozenset()


def _of_type(value: SSAValue) -> FloatRange:
    element = _element(value)
    least = LEAST_OF_F16 if element == f16 else 0.0
    return FloatRange(least=least, finite=LARGEST.get(element, numbers.inf))


def _element(value: SSAValue) -> Attribute:
    """The type of an element of a tile or a fragment, or of a scalar."""
    type_: Any = value.type
    return type_.element_type if _is_shaped(value) else type_


def _is_shaped(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType | VectorType)


def _of_constant(op: arith.ConstantOp) -> FloatRange:
    attribute: Any = op.value
    if isinstance(attribute, FloatAttr):
        numbers_: list[Any] = [attribute.value.data]
    elif isinstance(attribute, DenseIntOrFPElementsAttr):
        dense = cast("DenseIntOrFPElementsAttr[Any]", attribute)
        numbers_ = [next(iter(dense.iter_values()))] if is_splat(dense) else []
    else:
        return UNKNOWN
    if not numbers_ or not isinstance(numbers_[0], float) or numbers.isnan(numbers_[0]):
        return UNKNOWN
    (number,) = numbers_
    least = abs(number) or numbers.inf
    return FloatRange(number, number, least, number=True, finite=abs(number))


def combiner_of(op: ReduceOp) -> Operation | None:
    """The only operation of a reduction, on its accumulator and the next element."""
    block = op.body.block
    first, last = block.first_op, block.last_op
    if first is None or first.next_op is not last or len(block.args) != 2:
        return None
    return first if set(first.operands) == set(block.args) else None


def _is_of_row(largest: SSAValue, tile: SSAValue) -> bool:
    """Whether a tile has at each element the maximum of a row, or more, of another."""
    match largest.owner:
        case ConvertLayoutOp() as op:
            return _is_of_row(op.operands[0], tile)
        case GenerateOp() as op:
            last = op.body.block.last_op
            return last is not None and _extracts_largest(op, last.operands[0], tile)
        case _:
            return False


def _extracts_largest(op: GenerateOp, value: SSAValue, tile: SSAValue) -> bool:
    """Whether the body reads, at its own coordinates, the maximum along one dimension of a tile."""
    read = value.owner
    if not isinstance(read, tensor.ExtractOp):
        return False
    maximum = _reduced_maximum(read.tensor)
    if maximum is None:
        return False
    rest: list[SSAValue] = list(op.body.block.args)
    del rest[maximum.axis.value.data]
    extents = maximum.outputs[0].type.get_shape()
    own = (
        extent == 1 or index == argument
        for extent, index, argument in zip(extents, read.indices, rest, strict=True)
    )
    return _without_layout(maximum.sources[0]) == _without_layout(tile) and all(own)


def _reduced_maximum(value: SSAValue) -> ReduceOp | None:
    """The reduction of which a tile has the maxima, or the larger of one and a constant."""
    owner = _without_layout(value).owner
    if isinstance(owner, MAXIMA):
        found = [side for side in owner.operands if not isinstance(side.owner, arith.ConstantOp)]
        owner = _without_layout(found[0]).owner if len(found) == 1 else owner
    if not isinstance(owner, ReduceOp) or len(owner.sources) != 1:
        return None
    return owner if isinstance(combiner_of(owner), MAXIMA) else None


def _without_layout(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, ConvertLayoutOp):
        value = value.owner.operands[0]
    return value
