"""Exponentials of rows relative to their maximum, in sums that are 1 or more.

    for carrying %l, %m {                       // from 0 and -inf
      %n = max(%m, reduce max of %s)            // the maximum of the row so far
      %p = exp(%s - %n)                         // at most 1
      %f = exp(%m - %n)
      %t = %l * %f + reduce add of %p           // 1 or more
      yield %t, %n
    }

The maximum is in %s, and exp(0) = 1 is a term of the sum; or it is %m, whose sum was 1 or more by
induction, and %f is 1.  What a row begins with as its maximum is -inf, or so far from any other
number that powers of differences from it are 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TypeAlias

from xdsl.dialects import arith, math, scf, tensor
from xdsl.dialects.builtin import AnyFloat, FloatAttr, TensorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.values.float_ranges import MAXIMA, combiner_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer, uniform_constant
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import SATURATE
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    GenerateOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of

Power: TypeAlias = "math.ExpOp | math.Exp2Op"

ROUNDED_BITS = 16
"""A float of so many bits or less shows 12 bits of a weight at most."""

VANISHING = 150.0
"""Powers of `-VANISHING` are zero in f32, of 2 as of e."""

APART = 2.0**-24
"""No neighbour of an f32 is closer to it than this part of it."""


@dataclass(frozen=True)
class Difference:
    """The argument of a power: `factor * value`, where `value = tile - of_rows`."""

    kind: type[Operation]
    value: SSAValue
    tile: SSAValue
    of_rows: SSAValue
    factor: float

    @staticmethod
    def of(power: Power) -> Difference | None:
        """Read what a power is of; factors are positive constants."""
        value, factor = power.operand, 1.0
        while isinstance(product := value.owner, arith.MulfOp):
            constant = uniform_constant(product.rhs)
            if not isinstance(constant, FloatAttr) or not constant.value.data > 0:
                return None
            value, factor = product.lhs, factor * constant.value.data
            if SATURATE in product.attributes:
                return None
        made = value.owner
        if not isinstance(made, arith.SubfOp) or SATURATE in made.attributes:
            return None
        return Difference(type(power), value, made.lhs, made.rhs, factor)

    def is_like(self, other: Difference) -> bool:
        """Whether powers of both have one base."""
        return (self.kind, self.factor) == (other.kind, other.factor)


@dataclass(frozen=True)
class _Weights:
    """Powers of the differences of a tile from one number for each row."""

    power: Power
    difference: Difference
    most: SSAValue
    """The numbers of the rows."""
    axis: int
    """Along which rows lie."""

    def are_read_by(self, sum_: Operation) -> bool:
        """Whether a sum, and what rounds to few bits, are all that reads the weights."""
        return all(op is sum_ or _is_rounding(op) for op in _users(self.power.result))


@dataclass(frozen=True)
class _Sum:
    """`carried * fading + term`, where the fading is a power for each row."""

    op: Operation
    product: Operation
    """What scales the carried value: the same operation, if it is fused."""
    fading: Power
    term: SSAValue


@dataclass(frozen=True)
class _Carried:
    """A sum and a maximum that a loop carries, by their indices."""

    loop: scf.ForOp
    total: int
    most: int

    @property
    def first(self) -> tuple[SSAValue, SSAValue]:
        """What both are in front of the loop."""
        return self.loop.iter_args[self.total], self.loop.iter_args[self.most]

    @property
    def results(self) -> tuple[SSAValue, SSAValue]:
        """What both are behind it."""
        return self.loop.results[self.total], self.loop.results[self.most]


@dataclass
class RowWeights:
    """The weights in some IR."""

    proven: dict[_Carried, Difference] = field(default_factory=dict[_Carried, Difference])
    """Sums that are 1 or more unless no weight is in them yet, with how these are computed."""

    def found(self, root: Operation) -> Iterator[Power]:
        """Yield powers of which only such sums, and floats of 16 bits or less, are made."""
        for loop in instances_in(root, scf.ForOp):
            for index in range(len(loop.iter_args)):
                if (power := self._of_loop(loop, index)) is not None:
                    yield power
        for reduction in instances_in(root, ReduceOp):
            if (power := _of_whole_rows(reduction)) is not None:
                yield power

    def _of_loop(self, loop: scf.ForOp, index: int) -> Power | None:
        """Return the weights that a loop adds up in what it carries: of rows, or a whole tile."""
        total = _scaled_sum(loop, index)
        before = None if total is None else Difference.of(total.fading)
        if total is None or before is None:
            return None
        reduction = _reduction(total.term)
        weights = _weights(total.term if reduction is None else reduction.source)
        if weights is None or not weights.difference.is_like(before):
            return None
        carried = _carried(loop, index, before, weights)
        if carried is None or not self._begins(carried, before):
            return None
        self.proven[carried] = before
        if reduction is None:
            is_summed, adds = _is_summed_later(loop, index, weights.axis), total.op
        else:
            is_alone = _users(reduction.result) == {total.op}
            is_summed, adds = _is_sum(reduction, weights.axis) and is_alone, reduction
        return weights.power if is_summed and weights.are_read_by(adds) else None

    def _begins(self, carried: _Carried, difference: Difference) -> bool:
        """Whether a row begins with a sum of 1, or with a maximum that no weight depends on."""
        if any(
            other.is_like(difference) and known.results == carried.first
            for known, other in self.proven.items()
        ):
            return True
        total, most = (uniform_constant(value) for value in carried.first)
        if isinstance(total, FloatAttr) and total.value.data >= 1:
            return True
        if not isinstance(most, FloatAttr):
            return False
        return difference.factor * abs(most.value.data) * APART >= VANISHING


def _of_whole_rows(reduction: ReduceOp) -> Power | None:
    """Return the weights that a reduction adds up, relative to the maximum of the same tile."""
    weights = _weights(reduction.source) if len(reduction.sources) == 1 else None
    if weights is None or not _is_sum(reduction, weights.axis):
        return None
    is_relative = _is_maximum(weights.most, weights)
    return weights.power if is_relative and weights.are_read_by(reduction) else None


def _weights(tile: SSAValue) -> _Weights | None:
    """Read powers of differences from numbers of rows."""
    power = _without_layout(tile).owner
    if not isinstance(power, math.ExpOp | math.Exp2Op):
        return None
    difference = Difference.of(power)
    rows = None if difference is None else _rows_of(difference.of_rows)
    return None if difference is None or rows is None else _Weights(power, difference, *rows)


def _scaled_sum(loop: scf.ForOp, index: int) -> _Sum | None:
    """Read what a loop carries on as a multiple of what it carries, and a term."""
    carried, value = loop.body.block.args[index + 1], _plain(_end(loop)[index])
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
        rows = _rows_of(other)
        power = (_plain(other) if rows is None else rows[0]).owner
        if _plain(one) is carried and isinstance(power, math.ExpOp | math.Exp2Op):
            return _Sum(op, product, power, term)
    return None


def _carried(loop: scf.ForOp, index: int, before: Difference, weights: _Weights) -> _Carried | None:
    """Return where a loop carries the maximum, which is the larger one of it and of a tile."""
    earlier, most = _plain(before.tile), weights.most
    if not isinstance(earlier, BlockArgument) or earlier not in loop.body.block.args[1:]:
        return None
    if _plain(before.of_rows) is not most or _plain(_end(loop)[earlier.index - 1]) is not most:
        return None
    if not isinstance(most.owner, MAXIMA):
        return None
    others = {_plain(side) for side in most.owner.operands} - {earlier}
    if len(others) != 1 or not _is_maximum(others.pop(), weights):
        return None
    return _Carried(loop, index, earlier.index - 1)


def _is_maximum(value: SSAValue, weights: _Weights) -> bool:
    """Whether a value has the maxima of the rows of the tile that weights are of."""
    made = value.owner
    if not isinstance(made, ReduceOp) or len(made.sources) != 1:
        return False
    is_same = _without_layout(made.source) is _without_layout(weights.difference.tile)
    is_along = made.axis.value.data == weights.axis
    return is_same and is_along and isinstance(combiner_of(made), MAXIMA)


def _is_sum(op: Operation, axis: int) -> bool:
    """Whether an operation adds up a tile along an axis."""
    if not isinstance(op, ReduceOp) or op.axis.value.data != axis:
        return False
    return isinstance(combiner_of(op), arith.AddfOp)


def _reduction(value: SSAValue) -> ReduceOp | None:
    """Return the reduction of one tile that a value is."""
    made = _plain(value).owner
    return made if isinstance(made, ReduceOp) and len(made.sources) == 1 else None


def _is_summed_later(loop: scf.ForOp, index: int, axis: int) -> bool:
    """Whether what a loop scales and adds to is added up along an axis behind it, unread before."""
    total = _scaled_sum(loop, index)
    if total is None or _users(loop.body.block.args[index + 1]) != {total.product}:
        return False
    result = loop.results[index]
    for op in _users(result):
        if isinstance(op, scf.ForOp) and result in op.iter_args:
            if not _is_summed_later(op, list(op.iter_args).index(result), axis):
                return False
        elif not _is_sum(op, axis):
            return False
    return True


def _rows_of(tile: SSAValue) -> tuple[SSAValue, int] | None:
    """Return the numbers of rows that a tile repeats along an axis, and the axis."""
    made = _without_layout(tile).owner
    if not isinstance(made, GenerateOp):
        return None
    block = made.body.block
    read = block.last_op.operands[0].owner if block.last_op is not None else None
    if not isinstance(read, tensor.ExtractOp):
        return None
    own = [index for index in read.indices if index in block.args]
    missing = [axis for axis, argument in enumerate(block.args) if argument not in own]
    if len(missing) != 1 or own != [argument for argument in block.args if argument in own]:
        return None
    extents = shape_of(read.tensor.type) or ()
    for index, extent in zip(read.indices, extents, strict=True):
        if index not in own and (extent != 1 or constant_integer(index) != 0):
            return None
    return _plain(read.tensor), missing[0]


def _users(value: SSAValue) -> set[Operation]:
    """Return what reads a value, or the same elements in another layout or with other extents 1."""
    found: set[Operation] = set()
    for use in value.uses:
        is_same = isinstance(use.operation, ConvertLayoutOp | ExpandDimsOp)
        found |= _users(use.operation.results[0]) if is_same else {use.operation}
    return found


def _is_rounding(op: Operation) -> bool:
    """Whether an operation rounds to floats of 16 bits or less."""
    if not isinstance(op, arith.TruncFOp):
        return False
    element = element_of(op.result.type)
    return isinstance(element, AnyFloat) and element.bitwidth <= ROUNDED_BITS


def _plain(value: SSAValue) -> SSAValue:
    """Return the value of which one has the elements, in another layout or with other extents 1."""
    while isinstance(made := value.owner, ConvertLayoutOp | ExpandDimsOp | ViewOp):
        if isinstance(made, ViewOp) and not _is_reshape(made):
            return value
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


def _without_layout(value: SSAValue) -> SSAValue:
    while isinstance(made := value.owner, ConvertLayoutOp):
        value = made.source
    return value


def _end(loop: scf.ForOp) -> Sequence[SSAValue]:
    """Return what a loop carries on."""
    last = loop.body.block.last_op
    assert isinstance(last, scf.YieldOp)
    return last.operands
