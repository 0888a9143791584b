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
number that powers of differences from it are 0 or 1.  In place of -inf another number may be
subtracted, which gives weights of zero: `select (%n == -inf), 0.0, %n`.

Factors %f of earlier rounds are part of the weights of these: a term has all that come later, whose
arguments add up to its distance from the last maximum, as one power has it.  So much is seen of a
factor as of weights where it scales such a sum, or products of rounded weights:

    %a = dot (truncf %p), %v, (%acc * %f for each row)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TypeAlias

from xdsl.dialects import arith, math, scf, tensor
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.values.float_ranges import MAXIMA, FloatRanges, combiner_of
from tileas_xdsl.analysis.values.roundings import is_rounding
from tileas_xdsl.analysis.values.rows.guarded_maxima import unguarded
from tileas_xdsl.analysis.values.rows.row_sums import (
    ScaledSum,
    carried_on,
    is_sum,
    plain,
    readers,
    rows_of,
    without_layout,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import SATURATE, float_mode
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of

Power: TypeAlias = "math.ExpOp | math.Exp2Op"

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
        """Return the argument of a power as a scaled difference; None if it is none."""
        value, factor = power.operand, 1.0
        while isinstance(product := value.owner, arith.MulfOp):
            sides = product.operands
            numbers = [uniform_constant(side) for side in sides]
            constant = numbers[1] if numbers[0] is None else numbers[0]
            if not isinstance(constant, FloatAttr) or not constant.value.data > 0:
                return None
            value = sides[1 if constant is numbers[0] else 0]
            factor *= constant.value.data
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

    def are_read_by(self, sum_: ReduceOp) -> bool:
        """Whether a sum, and what rounds to few bits, are all that reads them or their shares.

        Shares may be read by differences from zeros and ones, as gradients of cross entropy are.
        """
        shares = [op for op in _quotients_of(self.power, sum_) if _is_rounded(op.result, 1)]
        read = readers(self.power.result) - set(shares)
        return all(op is sum_ or is_rounding(op) for op in read)


@dataclass(frozen=True)
class CarriedRows:
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

    @property
    def next_most(self) -> SSAValue:
        """The maximum that a round leaves."""
        return plain(carried_on(self.loop)[self.most])


@dataclass(frozen=True)
class SummedWeights:
    """Weights of which only sums of 1 or more, and floats of 16 bits or less, are made."""

    power: Power
    carried: CarriedRows | None = None
    """The sum of earlier rounds that a loop adds them to; None where one reduction adds all up."""
    factor: Power | None = None
    """What it scales that sum by."""
    scaled: Operation | None = None
    """The operation that does."""

    @property
    def quotients(self) -> Sequence[arith.DivfOp]:
        """Quotients by the sum that a loop leaves, of which only roundings to few bits read."""
        if self.carried is None:
            return []
        total = self.carried.results[0]
        return [
            op
            for read in readers(total)
            if isinstance(tile := read.parent_op(), GenerateOp)
            for op in readers(tile.result)
            if isinstance(op, arith.DivfOp)
            and (rows := rows_of(op.rhs)) is not None
            and rows[0] is total
            and all(is_rounding(one) for one in readers(op.result))
        ]

    @property
    def are_multiplied(self) -> bool:
        """Whether a loop multiplies by the rounded weights."""
        rounded = [op for op in readers(self.power.result) if is_rounding(op)]
        products = [op for one in rounded for op in readers(one.results[0])]
        is_product = all(isinstance(op, DotOp) for op in products)
        return self.carried is not None and bool(products) and is_product

    def late_products(self) -> Iterator[tuple[ScaledSum, DotOp]]:
        """Yield products of the rounded weights that begin at zero, and the sums they go to."""
        if self.carried is None:
            return
        for index in range(len(self.carried.loop.iter_args)):
            total = ScaledSum.of(self.carried.loop, index)
            product = None if total is None else plain(total.term).owner
            if total is None or not isinstance(product, DotOp) or not self._is_scaled(total):
                continue
            begin, is_read = uniform_constant(product.c), readers(product.result) == {total.op}
            is_zero = isinstance(begin, FloatAttr) and begin.value.data == 0
            is_rounded = float_mode(total.op).exact and float_mode(total.product).exact
            is_f32 = element_of(product.c.type) == f32
            if is_zero and is_read and is_rounded and is_f32 and self._are_in(product):
                yield total, product

    def relaxed_factor(self) -> Power | None:
        """Return the factor, if it scales nothing but the sum and products of the weights."""
        if self.factor is None:
            return None
        others = readers(self.factor.result) - {self.scaled}
        return self.factor if all(map(self._are_added_to, others)) else None

    def _is_scaled(self, total: ScaledSum) -> bool:
        rows = rows_of(total.factor)
        return rows is not None and rows[0].owner is self.factor

    def _are_added_to(self, reader: Operation) -> bool:
        """Whether a reader of a factor scales what products of the weights are added to."""
        tile = reader.parent_op() if isinstance(reader, tensor.ExtractOp) else None
        if isinstance(tile, GenerateOp):
            repeats = rows_of(tile.result) is not None
            return repeats and all(map(self._are_added_to, readers(tile.result)))
        return isinstance(reader, arith.MulfOp) and all(
            isinstance(op, DotOp) and plain(op.c) is reader.result and self._are_in(op)
            for op in readers(reader.result)
        )

    def _are_in(self, product: DotOp) -> bool:
        """Whether the rounded weights are an operand of a product."""
        made = [plain(side).owner for side in (product.a, product.b)]
        return any(
            isinstance(op, Operation)
            and is_rounding(op)
            and plain(op.operands[0]) is self.power.result
            for op in made
        )


@dataclass
class RowWeights:
    """The weights in some IR."""

    proven: dict[CarriedRows, Difference] = field(default_factory=dict[CarriedRows, Difference])
    """Sums that are 1 or more unless no weight is in them yet, with how these are computed."""

    def found(self, root: Operation) -> Iterator[SummedWeights]:
        """Yield weights of which only such sums, and floats of 16 bits or less, are made."""
        for loop in instances_in(root, scf.ForOp):
            for index in range(len(loop.iter_args)):
                if (weights := self._of_loop(loop, index)) is not None:
                    yield weights
        for reduction in instances_in(root, ReduceOp):
            if (power := _of_whole_rows(reduction)) is not None:
                yield SummedWeights(power)

    def _of_loop(self, loop: scf.ForOp, index: int) -> SummedWeights | None:
        """Return the weights whose sum of each row a loop adds to what it carries."""
        total = ScaledSum.of(loop, index)
        reduction = None if total is None else plain(total.term).owner
        if total is None or not isinstance(reduction, ReduceOp):
            return None
        fading, weights = plain(total.factor).owner, _weights(reduction.source)
        if weights is None or not isinstance(fading, math.ExpOp | math.Exp2Op):
            return None
        before = Difference.of(fading)
        if before is None or not weights.difference.is_like(before):
            return None
        carried = _carried(loop, index, before, weights)
        if carried is None or not self._begins(carried, before):
            return None
        self.proven[carried] = before
        is_summed = is_sum(reduction, weights.axis) and readers(reduction.result) == {total.op}
        is_seen = not is_summed or not weights.are_read_by(reduction)
        return None if is_seen else SummedWeights(weights.power, carried, fading, total.product)

    def _begins(self, carried: CarriedRows, difference: Difference) -> bool:
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


def shares_of(power: Power, sum_: ReduceOp) -> Sequence[arith.DivfOp]:
    """Return the quotients of weights and their sum of which only roundings to few bits read.

    Or differences of them from zeros and ones.  The product with the rounded inverse of the sum is
    the rounded quotient of a weight of 1, as the maximum has; the share of another one, in a sum
    with that, is a half at most, and the difference of that from one shows no last place of it.
    """
    return [op for op in _quotients_of(power, sum_) if _is_rounded(op.result, 1)]


def _quotients_of(power: Power, sum_: ReduceOp) -> Sequence[arith.DivfOp]:
    """Return the quotients of weights and their sum."""
    return [
        op
        for op in readers(power.result)
        if isinstance(op, arith.DivfOp)
        and without_layout(op.lhs) is power.result
        and (rows := rows_of(op.rhs)) is not None
        and rows == (sum_.result, sum_.axis.value.data)
    ]


def _is_rounded(share: SSAValue, differences: int = 0) -> bool:
    """Whether only roundings to few bits read a value, or so many differences behind each other.

        %d = subf %share, %c : f32     // each of %c is 0, or 1 or more, or -1 or less
        %q = truncf %d : f16

    Where %d is close to 0 and %c is not, the share is close to 1, and so is its weight exp(x), of a
    sum of 1 or more: |x| is smaller than %d, and what the weight is off, |x| 2**-24, less than what
    %d may be for its own rounding.
    """
    return all(
        is_rounding(op)
        or (differences and _is_apart(op, share) and _is_rounded(op.results[0], differences - 1))
        for op in readers(share)
    )


def _is_apart(op: Operation, share: SSAValue) -> bool:
    """Whether an operation adds to a share, or subtracts, zeros and numbers of 1 or more."""
    if not isinstance(op, arith.AddfOp | arith.SubfOp) or SATURATE in op.attributes:
        return False
    others = [side for side in op.operands if without_layout(side) is not share]
    return len(others) == 1 and FloatRanges().of(others[0]).least >= 1


def _of_whole_rows(reduction: ReduceOp) -> Power | None:
    """Return the weights that a reduction adds up, relative to the maximum of the same tile."""
    weights = _weights(reduction.source) if len(reduction.sources) == 1 else None
    if weights is None or not is_sum(reduction, weights.axis):
        return None
    is_relative = _is_maximum(weights.most, weights)
    return weights.power if is_relative and weights.are_read_by(reduction) else None


def _weights(tile: SSAValue) -> _Weights | None:
    """Return the weights that a tile is made of; None where it is no power of such a difference."""
    power = without_layout(tile).owner
    if not isinstance(power, math.ExpOp | math.Exp2Op):
        return None
    difference = Difference.of(power)
    rows = None if difference is None else rows_of(difference.of_rows)
    if difference is None or rows is None:
        return None
    return _Weights(power, difference, unguarded(rows[0]), rows[1])


def _carried(
    loop: scf.ForOp, index: int, before: Difference, weights: _Weights
) -> CarriedRows | None:
    """Return where a loop carries the maximum, which is the larger one of it and of a tile."""
    earlier, most = plain(before.tile), weights.most
    if not isinstance(earlier, BlockArgument) or earlier not in loop.body.block.args[1:]:
        return None
    if (
        unguarded(plain(before.of_rows)) is not most
        or plain(carried_on(loop)[earlier.index - 1]) is not most
    ):
        return None
    if not isinstance(most.owner, MAXIMA):
        return None
    others = {plain(side) for side in most.owner.operands} - {earlier}
    if len(others) != 1 or not _is_maximum(others.pop(), weights):
        return None
    return CarriedRows(loop, index, earlier.index - 1)


def _is_maximum(value: SSAValue, weights: _Weights) -> bool:
    """Whether a value has the maxima of the rows of the tile that weights are of."""
    made = value.owner
    if not isinstance(made, ReduceOp) or len(made.sources) != 1:
        return False
    is_same = without_layout(made.source) is without_layout(weights.difference.tile)
    is_along = made.axis.value.data == weights.axis
    return is_same and is_along and isinstance(combiner_of(made), MAXIMA)
