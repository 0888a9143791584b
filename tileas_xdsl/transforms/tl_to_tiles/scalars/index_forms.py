"""Indices of the program as affine forms over scalars, with the intervals that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.dialects import affine, arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.layout.expr.affine_form import AffineForm

IndexForm = AffineForm[SSAValue, int]

ORDERS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""The predicates of `arith.cmpi` by their number."""


@dataclass
class IndexForms:
    """Affine forms of values; `bound` has variables that stand for another form now."""

    bound: dict[SSAValue, IndexForm] = field(default_factory=dict[SSAValue, IndexForm])
    intervals: dict[SSAValue, tuple[int, int]] = field(
        default_factory=dict[SSAValue, tuple[int, int]]
    )
    """The least and the greatest value of variables."""

    def of(self, value: SSAValue) -> IndexForm:
        """Return a value as an affine form, in the worst case of itself."""
        if value in self.bound:
            return self.bound[value]
        if (known := constant_integer(value)) is not None:
            return AffineForm(known)
        found = self._computed(value)
        return AffineForm(0, {value: 1}) if found is None else found

    def constant(self, value: SSAValue) -> int | None:
        """Return the number that a value is known to be."""
        form = self.of(value)
        return form.constant if form.is_constant else None

    def interval(self, value: SSAValue) -> tuple[int, int] | None:
        """Return the least and the greatest number that a value may be."""
        return self.of(value).range(self.intervals.get)

    def _computed(self, value: SSAValue) -> IndexForm | None:
        op = value.owner
        match op:
            case arith.AddiOp():
                return self.of(op.lhs).plus(self.of(op.rhs))
            case arith.SubiOp():
                return self.of(op.lhs).plus(self.of(op.rhs).times(-1))
            case arith.MuliOp():
                return _product(self.of(op.lhs), self.of(op.rhs))
            case arith.IndexCastOp() | arith.ExtSIOp():
                return self.of(op.operands[0])
            case arith.FloorDivSIOp() | arith.DivUIOp() | arith.DivSIOp():
                return self._quotient(op.operands[0], op.operands[1])
            case affine.ApplyOp():
                return self._applied(op)
            case _:
                return None

    def _quotient(self, left: SSAValue, right: SSAValue) -> IndexForm | None:
        divisor = self.constant(right)
        ends = self.interval(left)
        if divisor is None or divisor <= 0 or ends is None or ends[0] < 0:
            return None
        return self.of(left).divided(divisor)

    def _applied(self, op: affine.ApplyOp) -> IndexForm | None:
        mapping = op.map.data
        arguments = [self.of(operand) for operand in op.mapOperands]
        dims, symbols = arguments[: mapping.num_dims], arguments[mapping.num_dims :]
        return self._expression(mapping.results[0], dims, symbols)

    def _expression(
        self, expr: AffineExpr, dims: Sequence[IndexForm], symbols: Sequence[IndexForm]
    ) -> IndexForm | None:
        match expr:
            case AffineConstantExpr():
                return AffineForm(expr.value)
            case AffineDimExpr():
                return dims[expr.position]
            case AffineSymExpr():
                return symbols[expr.position]
            case AffineBinaryOpExpr():
                left = self._expression(expr.lhs, dims, symbols)
                right = self._expression(expr.rhs, dims, symbols)
                return None if left is None or right is None else _binary(expr.kind, left, right)
            case _:
                return None


def _binary(kind: AffineBinaryOpKind, left: IndexForm, right: IndexForm) -> IndexForm | None:
    """Return an operation of an affine map on forms; None where the result is no form."""
    if kind is AffineBinaryOpKind.Add:
        return left.plus(right)
    if kind is AffineBinaryOpKind.Mul:
        return _product(left, right)
    if not right.is_constant or right.constant <= 0:
        return None
    if kind is AffineBinaryOpKind.FloorDiv:
        return left.divided(right.constant)
    if kind is AffineBinaryOpKind.CeilDiv:
        return left.plus(AffineForm(right.constant - 1)).divided(right.constant)
    rest = left.remainder(right.constant)
    return None if rest is None else AffineForm(rest)


def _product(left: IndexForm, right: IndexForm) -> IndexForm | None:
    if right.is_constant:
        return left.times(right.constant)
    return right.times(left.constant) if left.is_constant else None
