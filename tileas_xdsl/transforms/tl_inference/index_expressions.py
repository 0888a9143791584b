"""Indices of a loop body as affine expressions over the variables of the loop.

Sums, multiples, divisions and remainders by constants are followed to their leaves.  Leaves outside
of the loop are the same for all threads: symbols.  What a body loads or computes otherwise is
unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from xdsl.dialects import affine, arith
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.affine_expressions import number_of_affine
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.tl.loops import PipelinedOp, SerialOp
from tileas_xdsl.layout.expr.expression import Number, compute, dimension, substituted, symbol
from tileas_xdsl.layout.expr.ranges import box, range_of


@dataclass
class Symbols:
    """The values that all threads share, numbered as they are met."""

    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def of(self, value: SSAValue) -> Number:
        """What all threads share: a symbol, or of the variable of a loop its number of rounds."""
        shared = symbol(self.numbers.setdefault(value, len(self.numbers)))
        loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
        if not isinstance(loop, SerialOp | PipelinedOp):
            return shared
        lower = constant_integer(loop.lower)
        step = 1 if loop.step is None else constant_integer(loop.step)
        return shared if lower is None or step is None else shared * step + lower


@dataclass
class IndexExpressions:
    """What the values of one loop are, in terms of its variables: `variables` and `extents`."""

    loop: Operation
    variables: Sequence[SSAValue]
    extents: Sequence[int]
    symbols: Symbols
    _known: dict[SSAValue, Number | None] = field(
        default_factory=dict[SSAValue, Number | None], init=False
    )

    def define(self, variable: SSAValue, values: range) -> None:
        """Say that the dimension of a variable counts these values of it."""
        number = dimension(self.variables.index(variable))
        self._known[variable] = number * values.step + values.start

    def of(self, value: SSAValue) -> Number | None:
        """The value as an expression; None where it depends on data."""
        if value not in self._known:
            found = self._followed(value)
            is_uniform = found is None and not self._is_inside(value)
            self._known[value] = self.symbols.of(value) if is_uniform else found
        return self._known[value]

    def _followed(self, value: SSAValue) -> Number | None:
        if value in self.variables:
            return dimension(self.variables.index(value))
        constant = constant_integer(value)
        if constant is not None:
            return constant
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

    def _applied(self, op: affine.ApplyOp) -> Number | None:
        arguments = [self.of(operand) for operand in op.mapOperands]
        known = [argument for argument in arguments if argument is not None]
        if len(known) < len(arguments):
            return None
        mapping = op.map.data
        applied = number_of_affine(mapping.results[0])
        return substituted(applied, known[: mapping.num_dims], known[mapping.num_dims :])

    def _combined(self, combine: _Combine, value: SSAValue) -> Number | None:
        assert isinstance(value.owner, Operation)
        left, right = (self.of(operand) for operand in value.owner.operands)
        return None if left is None or right is None else combine(left, right, self.extents)


_Combine = Callable[[Number, Number, Sequence[int]], Number | None]


def _linear(kind: str) -> _Combine:
    return lambda left, right, _: compute(kind, left, right)


def _product(left: Number, right: Number, extents: Sequence[int]) -> Number | None:
    del extents
    return left * right if isinstance(left, int) or isinstance(right, int) else None


def _divided(kind: str, *, rounds_down: bool) -> _Combine:
    """Divisions by positive constants; those that truncate only of what is known not to be < 0."""

    def combine(left: Number, right: Number, extents: Sequence[int]) -> Number | None:
        if not isinstance(right, int) or right <= 0:
            return None
        if not rounds_down:
            known = range_of(left, box(tuple(extents)))
            if known is None or known[0] < 0:
                return None
        return compute(kind, left, right)

    return combine


_CASTS = (arith.IndexCastOp, arith.ExtSIOp)

_ARITHMETIC: Mapping[type[Operation], _Combine] = {
    arith.AddiOp: _linear("add"),
    arith.SubiOp: _linear("sub"),
    arith.MuliOp: _product,
    arith.FloorDivSIOp: _divided("floordiv", rounds_down=True),
    arith.CeilDivSIOp: _divided("ceildiv", rounds_down=True),
    arith.DivSIOp: _divided("floordiv", rounds_down=False),
    arith.DivUIOp: _divided("floordiv", rounds_down=False),
    arith.RemSIOp: _divided("floormod", rounds_down=False),
    arith.RemUIOp: _divided("floormod", rounds_down=False),
}
