"""Integers that are not negative, and their upper bounds: numbers, tiles, elements of a `generate`.

%w = arith.extui %byte : i8 to i32         255
%h = arith.shrsi %w, 4                     15
%l = arith.andi %w, 15                     15, whatever %w is
%i = arith.select %c, %h, %l               15
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects import arith, gpu, scf, tensor
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tileas_xdsl.dialects.ir_queries import uniform_integer
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, BoundedAttr
from tileas_xdsl.dialects.nv_tileaa.grid import GetNumProgramsOp, GetProgramIdOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    GenerateOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of

MAX_DEPTH = 32
"""Operations that are followed from a value; past them nothing is known."""

INDEX_BITS = 64


@memoized_walk
def upper_bound(value: SSAValue, depth: int = 0) -> int | None:
    """Return what no element exceeds, where none is negative; None if that is not known."""
    number = uniform_integer(value)
    if number is not None:
        return number if number >= 0 else None
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, BlockArgument):
        return _of_coordinate(value)
    owner = value.owner
    assert isinstance(owner, Operation)
    rule = _RULES.get(type(owner))
    found = None if rule is None else rule(owner, lambda one: upper_bound(one, depth + 1))
    return found if found is not None and found < 1 << (_bits(value) - 1) else None


@memoized_walk
def is_never_negative(value: SSAValue, depth: int = 0) -> bool:
    """Return whether no element is negative, also where nothing bounds it above."""
    owner = value.owner
    if depth > MAX_DEPTH:
        return False
    if not isinstance(owner, Operation):
        begin = _begin_of_loop(value)
        return (
            upper_bound(value) is not None if begin is None else is_never_negative(begin, depth + 1)
        )
    kind = type(owner)
    if kind in _COUNTS or (isinstance(owner, AssumeOp) and _is_bounded_below(owner)):
        return True
    if isinstance(owner, arith.MaxSIOp):
        return any(is_never_negative(v, depth + 1) for v in owner.operands)
    places = _NEVER_NEGATIVE_LIKE.get(kind)
    if places is None and isinstance(value.type, IndexType):
        places = _NEVER_NEGATIVE_INDEX.get(kind)
    if places is not None:
        return all(is_never_negative(v, depth + 1) for v in owner.operands[places])
    return upper_bound(value) is not None


def _begin_of_loop(value: SSAValue) -> SSAValue | None:
    """Return what a loop counts from, where the value is its counter; steps are positive."""
    loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
    if not isinstance(loop, scf.ForOp) or value is not loop.body.block.args[0]:
        return None
    return loop.lb


def _is_bounded_below(op: AssumeOp) -> bool:
    low = op.fact.bounds[0] if isinstance(op.fact, BoundedAttr) else None
    return low is not None and low >= 0


_COUNTS = (gpu.BlockIdOp, gpu.GridDimOp, GetNumProgramsOp, GetProgramIdOp)

_NEVER_NEGATIVE_LIKE: Mapping[type[Operation], slice] = {
    AssumeOp: slice(1),
    arith.CeilDivSIOp: slice(2),
    arith.DivSIOp: slice(2),
    arith.FloorDivSIOp: slice(2),
    arith.IndexCastOp: slice(1),
    arith.MinSIOp: slice(2),
    arith.RemSIOp: slice(1),
}
"""Operations whose results are never negative where these operands are not."""

_NEVER_NEGATIVE_INDEX: Mapping[type[Operation], slice] = {
    arith.AddiOp: slice(2),
    arith.MuliOp: slice(2),
}
"""The same in 64 bits, which no coordinate of an array leaves."""

Bound = Callable[[SSAValue], int | None]


def _bits(value: SSAValue) -> int:
    element: Attribute = element_of(value.type) or value.type
    return INDEX_BITS if isinstance(element, IndexType) else bits_of(element) or INDEX_BITS


def _of_coordinate(value: BlockArgument) -> int | None:
    generate = value.block.parent_op()
    if not isinstance(generate, GenerateOp):
        return None
    return (shape_of(generate.result.type) or ())[value.index] - 1


def _extended(op: arith.ExtUIOp, bound: Bound) -> int:
    known = bound(op.input)
    return (1 << _bits(op.input)) - 1 if known is None else known


def _same(op: Operation, bound: Bound) -> int | None:
    return bound(op.operands[0])


def _all(combine: Callable[[int, int], int]) -> Callable[[Operation, Bound], int | None]:
    def rule(op: Operation, bound: Bound) -> int | None:
        a, b = (bound(value) for value in op.operands[-2:])
        return None if a is None or b is None else combine(a, b)

    return rule


def _masked(op: arith.AndIOp, bound: Bound) -> int | None:
    """What is not negative clears the sign of the other."""
    known = [one for one in map(bound, op.operands) if one is not None]
    return min(known, default=None)


def _shifted(op: arith.ShRUIOp | arith.ShRSIOp, bound: Bound) -> int | None:
    by, known = uniform_integer(op.rhs), bound(op.lhs)
    if known is None and isinstance(op, arith.ShRUIOp):
        known = (1 << _bits(op.lhs)) - 1
    return None if by is None or by < 0 or known is None else known >> by


def _remainder(op: Operation, bound: Bound) -> int | None:
    """A signed remainder has the sign of the dividend."""
    by, known = uniform_integer(op.operands[1]), bound(op.operands[0])
    if by is None or by <= 0 or (known is None and isinstance(op, arith.RemSIOp)):
        return None
    return by - 1 if known is None else min(known, by - 1)


def _generated(op: GenerateOp, bound: Bound) -> int | None:
    end = op.body.block.last_op
    return None if end is None else bound(end.operands[0])


def _assumed(op: AssumeOp, bound: Bound) -> int | None:
    low, high = op.fact.bounds if isinstance(op.fact, BoundedAttr) else (None, None)
    known = bound(op.source)
    if low is None or low < 0 or high is None:
        return known
    return high if known is None else min(high, known)


_TABLE: Any = {
    AssumeOp: _assumed,
    ConvertLayoutOp: _same,
    ExpandDimsOp: _same,
    GenerateOp: _generated,
    ViewOp: _same,
    arith.AddiOp: _all(lambda a, b: a + b),
    arith.AndIOp: _masked,
    arith.ExtSIOp: _same,
    arith.ExtUIOp: _extended,
    arith.IndexCastOp: _same,
    arith.MaxSIOp: _all(max),
    arith.MinSIOp: _all(min),
    arith.MuliOp: _all(lambda a, b: a * b),
    arith.RemSIOp: _remainder,
    arith.RemUIOp: _remainder,
    arith.SelectOp: _all(max),
    arith.ShRSIOp: _shifted,
    arith.ShRUIOp: _shifted,
    arith.TruncIOp: _same,
    tensor.ExtractOp: _same,
    tensor.SplatOp: _same,
}

_RULES: Mapping[type[Operation], Callable[[Any, Bound], int | None]] = _TABLE


def is_inside(value: SSAValue, block: Block) -> bool:
    """Whether a value is an argument of a block, or made in it."""
    owner = value.owner
    return owner is block if isinstance(owner, Block) else owner.parent is block
