"""Powers of two that divide the first element of every row of a tile of integers or pointers.

They say how far the rows of an access through pointers are aligned, as `row_step` says whether
neighbours are adjacent:

    %n = assume #div_by<8>, %stride
    %o = addi (splat (muli %row, %n)), (generate { yield %column })     divided by 8
    %s = addi %o, (splat (subi %tap, 3))                                by 1: shifted by each tap
    %p = addptr (splat (assume #div_by<16>, %base)), %o : ptr<f16>      rows begin at 16 bytes

Rules of divisors: of a sum, a remainder and a choice the smaller one, of a product the product; a
coordinate along the row is 0 at its beginning; what is not known has the divisor 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects import arith, scf, tensor
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import stated_divisor
from tileas_xdsl.analysis.values.rows.strides import row_step
from tileas_xdsl.dialects.ir_queries import uniform_integer
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp, BasePointerOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of

MAX_DIVISOR = 1 << 62
"""The divisor of 0, and the largest one."""

Divisor = Callable[[SSAValue], int]


def row_divisor(value: SSAValue) -> int:
    """Return a power of two that divides the first element of every row of a tile, or a number.

    Of pointers it counts bytes.
    """
    return _RowDivisors().of(value)


class _RowDivisors:
    """Divisors by value: the same operand of two operations is followed once."""

    def __init__(self) -> None:
        self.known: dict[SSAValue, int] = {}

    def of(self, value: SSAValue) -> int:
        """Return what divides the first element of every row."""
        if value not in self.known:
            self.known[value] = self._of_first(value)
        return self.known[value]

    def _of_first(self, value: SSAValue) -> int:
        owner = value.owner
        if isinstance(owner, Block):
            return self._of_argument(value)
        if isinstance(owner, GenerateOp):
            return self._of_first_column(owner)
        if isinstance(owner, ExpandDimsOp):
            is_last = owner.axis.value.data == len(shape_of(owner.result.type) or ()) - 1
            return self._of_any_element(owner.source) if is_last else self.of(owner.source)
        return _of_operation(owner, self.of)

    def _of_argument(self, value: SSAValue) -> int:
        """Return the divisor of the lower bound and the step of a loop, for its counter."""
        assert isinstance(value, BlockArgument)
        loop = value.block.parent_op()
        if not isinstance(loop, scf.ForOp) or value.index != 0:
            return 1
        return min(self.of(loop.lb), self.of(loop.step))

    def _of_any_element(self, tile: SSAValue) -> int:
        """Return what divides all elements of all rows."""
        step = row_step(tile)
        return 1 if step is None else min(self.of(tile), stated_divisor(step))

    def _of_first_column(self, op: GenerateOp) -> int:
        """Return what divides the body's result where the last coordinate is 0."""
        block = op.body.block
        last, end = block.args[-1], block.last_op

        @memoized_walk
        def divisor(value: SSAValue) -> int:
            if value.owner is block:
                return MAX_DIVISOR if value is last else 1
            owner = value.owner
            if isinstance(owner, Block) or owner.parent is not block:
                return self.of(value)
            if isinstance(owner, tensor.ExtractOp):
                is_first = bool(owner.indices) and owner.indices[-1] is last
                return self.of(owner.tensor) if is_first else self._of_any_element(owner.tensor)
            return _of_operation(owner, divisor)

        return 1 if end is None else divisor(end.operands[0])


def _of_operation(op: Operation, divisor: Divisor) -> int:
    rule = _RULES.get(type(op))
    return 1 if rule is None else min(rule(op, divisor), MAX_DIVISOR)


def _constant(op: arith.ConstantOp, _: Divisor) -> int:
    number = uniform_integer(op.result)
    return 1 if number is None else stated_divisor(number)


def _same(op: Operation, divisor: Divisor) -> int:
    return divisor(op.operands[0])


def _sum(op: Operation, divisor: Divisor) -> int:
    return min(map(divisor, op.operands))


def _product(op: Operation, divisor: Divisor) -> int:
    first, second = map(divisor, op.operands)
    return first * second


def _choice(op: arith.SelectOp, divisor: Divisor) -> int:
    return min(divisor(op.lhs), divisor(op.rhs))


def _bits(op: arith.AndIOp, divisor: Divisor) -> int:
    """Return the divisor of what has the low zeros of both."""
    return max(divisor(op.lhs), divisor(op.rhs))


def _quotient(op: Operation, divisor: Divisor) -> int:
    """Return the divisor of an exact quotient by a power of two, however quotients are rounded."""
    by = uniform_integer(op.operands[1])
    if by is None or by <= 0 or by & (by - 1):
        return 1
    return max(divisor(op.operands[0]) // by, 1)


def _assumed(op: AssumeOp, divisor: Divisor) -> int:
    stated = stated_divisor(op.result)
    return max(stated & -stated, divisor(op.source))


def _address(op: AddPtrOp, divisor: Divisor) -> int:
    """Return the divisor in bytes; elements of less than a byte are taken as not aligned."""
    base, offset = op.operands[:2]
    made = op.results[0].type  # a tile of pointers, or one pointer
    pointer = made if isinstance(made, PtrType) else element_of(made)
    assert isinstance(pointer, PtrType)
    return min(divisor(base), divisor(offset) * max(bits_of(pointer.pointee) // 8, 1))


_TABLE: Any = {
    AddPtrOp: _address,
    AssumeOp: _assumed,
    BasePointerOp: _same,
    arith.AddiOp: _sum,
    arith.AndIOp: _bits,
    arith.ConstantOp: _constant,
    arith.DivSIOp: _quotient,
    arith.DivUIOp: _quotient,
    arith.ExtSIOp: _same,
    arith.ExtUIOp: _same,
    arith.FloorDivSIOp: _quotient,
    arith.IndexCastOp: _same,
    arith.MaxSIOp: _sum,
    arith.MaxUIOp: _sum,
    arith.MinSIOp: _sum,
    arith.MuliOp: _product,
    arith.RemSIOp: _sum,
    arith.RemUIOp: _sum,
    arith.SelectOp: _choice,
    arith.SubiOp: _sum,
    arith.TruncIOp: _same,
    tensor.SplatOp: _same,
}

_RULES: Mapping[type[Operation], Callable[[Any, Divisor], int]] = _TABLE
