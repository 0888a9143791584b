"""Indices of a loop body as affine expressions over the variables of the loop.

Sums, multiples, divisions and remainders by constants are followed to their leaves.  Leaves outside
of the loop are the same for all threads: symbols.  What a body loads or computes otherwise is
unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tileas_xdsl.dialects.tl.loops import PipelinedOp, SerialOp, number_of
from tileas_xdsl.inference.ranges import range_of


@dataclass
class Symbols:
    """The values that all threads share, numbered as they are met."""

    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def of(self, value: SSAValue) -> AffineExpr:
        """What all threads share: a symbol, or of the variable of a loop its number of rounds."""
        symbol = AffineExpr.symbol(self.numbers.setdefault(value, len(self.numbers)))
        loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
        if not isinstance(loop, SerialOp | PipelinedOp):
            return symbol
        lower, step = number_of(loop.lower), 1 if loop.step is None else number_of(loop.step)
        return symbol if lower is None or step is None else symbol * step + lower


@dataclass
class IndexExpressions:
    """What the values of one loop are, in terms of its variables: `variables` and `extents`."""

    loop: Operation
    variables: Sequence[SSAValue]
    extents: Sequence[int]
    symbols: Symbols
    _known: dict[SSAValue, AffineExpr | None] = field(
        default_factory=dict[SSAValue, AffineExpr | None], init=False
    )

    def define(self, variable: SSAValue, values: range) -> None:
        """Say that the dimension of a variable counts these values of it."""
        number = AffineExpr.dimension(self.variables.index(variable))
        self._known[variable] = number * values.step + values.start

    def of(self, value: SSAValue) -> AffineExpr | None:
        """The value as an expression; None where it depends on data."""
        if value not in self._known:
            found = self._followed(value)
            is_uniform = found is None and not self._is_inside(value)
            self._known[value] = self.symbols.of(value) if is_uniform else found
        return self._known[value]

    def _followed(self, value: SSAValue) -> AffineExpr | None:
        if value in self.variables:
            return AffineExpr.dimension(self.variables.index(value))
        constant = _constant(value)
        if constant is not None:
            return AffineExpr.constant(constant)
        op = value.owner
        if isinstance(op, affine.ApplyOp):
            return self._applied(op)
        if isinstance(op, _CASTS):
            return self.of(op.operands[0])
        combine = _ARITHMETIC.get(type(op)) if isinstance(op, Operation) else None
        return self._combined(combine, value) if combine else None

    def _is_inside(self, value: SSAValue) -> bool:
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent_block()
        while block is not None:
            parent = block.parent_op()
            if parent is self.loop:
                return True
            block = parent.parent_block() if parent else None
        return False

    def _applied(self, op: affine.ApplyOp) -> AffineExpr | None:
        arguments = [self.of(operand) for operand in op.mapOperands]
        known = [argument for argument in arguments if argument is not None]
        if len(known) < len(arguments):
            return None
        mapping = op.map.data
        return mapping.results[0].replace_dims_and_symbols(
            known[: mapping.num_dims], known[mapping.num_dims :]
        )

    def _combined(self, combine: _Combine, value: SSAValue) -> AffineExpr | None:
        assert isinstance(value.owner, Operation)
        left, right = (self.of(operand) for operand in value.owner.operands)
        return None if left is None or right is None else combine(left, right, self.extents)


_Combine = Callable[[AffineExpr, AffineExpr, Sequence[int]], AffineExpr | None]


def _constant(value: SSAValue) -> int | None:
    op = value.owner
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, IntegerAttr):
        return None
    return op.value.value.data


def _product(left: AffineExpr, right: AffineExpr, extents: Sequence[int]) -> AffineExpr | None:
    del extents
    is_scaled = isinstance(left, AffineConstantExpr) or isinstance(right, AffineConstantExpr)
    return left * right if is_scaled else None


def _divided(
    divide: Callable[[AffineExpr, AffineExpr], AffineExpr], *, rounds_down: bool
) -> _Combine:
    """Divisions by positive constants; those that truncate only of what is known not to be < 0."""

    def combine(left: AffineExpr, right: AffineExpr, extents: Sequence[int]) -> AffineExpr | None:
        if not isinstance(right, AffineConstantExpr) or right.value <= 0:
            return None
        if not rounds_down:
            known = range_of(left, extents)
            if known is None or known[0] < 0:
                return None
        return divide(left, right)

    return combine


def _floor(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    return left // right


def _ceiling(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    return left.ceil_div(right)


def _rest(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    return left % right


_CASTS = (arith.IndexCastOp, arith.ExtSIOp)

_ARITHMETIC: Mapping[type[Operation], _Combine] = {
    arith.AddiOp: lambda left, right, _: left + right,
    arith.SubiOp: lambda left, right, _: left - right,
    arith.MuliOp: _product,
    arith.FloorDivSIOp: _divided(_floor, rounds_down=True),
    arith.CeilDivSIOp: _divided(_ceiling, rounds_down=True),
    arith.DivSIOp: _divided(_floor, rounds_down=False),
    arith.DivUIOp: _divided(_floor, rounds_down=False),
    arith.RemSIOp: _divided(_rest, rounds_down=False),
    arith.RemUIOp: _divided(_rest, rounds_down=False),
}
