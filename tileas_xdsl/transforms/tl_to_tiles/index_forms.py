"""Indices of the program as affine forms over scalars, with the intervals that are known."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import affine, arith
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.layout.expr.affine_form import AffineForm

IndexForm = AffineForm[SSAValue, int]


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
        arguments = [self.constant(operand) for operand in op.mapOperands]
        known = [n for n in arguments if n is not None]
        if len(known) < len(arguments):
            return None
        dims = op.map.data.num_dims
        found = op.map.data.eval(known[:dims], known[dims:])
        return AffineForm(found[0])


def _product(left: IndexForm, right: IndexForm) -> IndexForm | None:
    if right.is_constant:
        return left.times(right.constant)
    return right.times(left.constant) if left.is_constant else None
