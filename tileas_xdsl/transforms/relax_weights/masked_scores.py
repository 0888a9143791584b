"""Scores are scaled behind their masks.

    %t = mulf %s, 0.3                            %u = select %c, %s, -inf
    %m = select %c, %t, -inf              ->     %m = mulf %u, 0.3

A positive multiple of an infinite number is that number; of another one that is in the place of
masked scores, what is multiplied is the quotient, for a weight beside it is zero, and of a row that
is masked as a whole all are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.values.rows.row_sums import plain
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.transforms.relax_weights.scaled_scores import Scale, Scaled

LARGEST = 2.0**120
"""Numbers up to it are far from what f32 cannot hold."""


@dataclass(frozen=True)
class Masked:
    """A tile in which numbers are in the place of some elements of another one."""

    read: Use
    """Where that tile is read: all of it, or its elements one by one."""
    hidden: Sequence[Use]
    """Where the numbers are."""

    @property
    def tile(self) -> SSAValue:
        """The tile that is masked."""
        return _used(self.read)

    @staticmethod
    def of(tile: SSAValue) -> Masked | None:
        """Read selections of a tile, or of each of its elements, one after another."""
        made = plain(tile).owner
        if not isinstance(made, GenerateOp):
            return Masked._of_selections(made)
        body = made.body.block
        last = body.last_op
        found = None if last is None else Masked._of_selections(last.operands[0].owner)
        if found is None or not isinstance(read := found.tile.owner, tensor.ExtractOp):
            return None
        is_own = list(read.indices) == list(body.args) and read.result.has_one_use()
        return Masked(Use(read, 0), found.hidden) if is_own else None

    @staticmethod
    def _of_selections(made: object) -> Masked | None:
        read: Use | None = None
        hidden: list[Use] = []
        while isinstance(made, arith.SelectOp):
            numbers = [_number(side) is not None for side in made.operands[1:]]
            if numbers.count(True) != 1 or (read and not made.result.has_one_use()):
                break
            hidden.append(Use(made, 1 + numbers.index(True)))
            read = Use(made, 1 + numbers.index(False))
            made = _used(read).owner
        return None if read is None else Masked(read, hidden)


def scale_behind_masks(tile: SSAValue) -> SSAValue:
    """Return a tile of scores, as the product with a scale where masked scores are scaled."""
    if (masked := Masked.of(tile)) is None or not masked.tile.has_one_use():
        return tile
    scaled = Scaled.of(masked.tile)
    if scaled is None or scaled.factor is None:
        return tile
    numbers = [_number(_used(use)) for use in masked.hidden]
    fills = [None if n is None else unscaled(n, scaled.scale) for n in numbers]
    known = [fill for fill in fills if fill is not None]
    made = tile.owner
    if len(known) < len(fills) or not isinstance(made, Operation):
        return tile
    for use, fill in zip(masked.hidden, known, strict=True):
        builder = Builder(InsertPoint.before(use.operation))
        use.operation.operands[use.index] = constant(builder, fill, _used(use).type)
    masked.read.operation.operands[masked.read.index] = scaled.elements
    product = arith.MulfOp(tile, scaled.factor)
    read = list(tile.uses)
    Builder(InsertPoint.after(made)).insert(product)
    for use in read:
        if use.operation is not product:
            use.operation.operands[use.index] = product.result
    return product.result


def unscaled(number: float, scale: Scale) -> float | None:
    """Return what a positive scale multiplies to a number; None if that is not known."""
    if isinf(number) or number == 0:
        return number
    if scale.scalar is not None or abs(number) > LARGEST * scale.number:
        return None
    return number / scale.number


def _number(value: SSAValue) -> float | None:
    """Return the number that a value, or each element of the tile that it is one of, is."""
    made = value.owner
    number = uniform_constant(made.tensor if isinstance(made, tensor.ExtractOp) else value)
    return number.value.data if isinstance(number, FloatAttr) else None


def _used(use: Use) -> SSAValue:
    return use.operation.operands[use.index]
