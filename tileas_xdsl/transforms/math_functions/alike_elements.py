"""Elements at the end of a fragment that are one number: those behind the end of a row.

%a = vector.broadcast 0xfc00 : vector<8xf16>
%x = cute.fragment.make %v, %w, %a, %a         the last 16 elements of %x, %y and %z are alike
%y = arith.extf %x
%z = arith.subf %y, (vector.broadcast %m)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from xdsl.dialects import arith, vector
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import as_vector, element_of
from tileas_xdsl.dialects.interned import vector_of
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.xdsl_ops import on_types

_ELEMENTWISE = (arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.ExtFOp, arith.TruncFOp)


@memoized_walk
def alike_elements(value: SSAValue) -> int:
    """Return how many elements at the end of a fragment are known to be the same."""
    match value.owner:
        case vector.BroadcastOp():
            return _length(value)
        case MakeFragmentOp() as made:
            return _alike_at_end(made)
        case Operation() as op if isinstance(op, _ELEMENTWISE):
            return min(map(alike_elements, op.operands))
        case _:
            return 0


def _alike_at_end(made: MakeFragmentOp) -> int:
    """The elements of the last parts, which broadcast the same constant."""
    count, last = 0, _constant(made.parts[-1])
    for part in reversed(made.parts):
        if last is None or _constant(part) != last:
            break
        count += _length(part)
    return count


def _constant(part: SSAValue) -> object:
    """The attribute of the number that a fragment broadcasts; None for others."""
    made = part.owner
    source = made.source.owner if isinstance(made, vector.BroadcastOp) else None
    return source.value if isinstance(source, arith.ConstantOp) else None


def _length(value: SSAValue) -> int:
    found = as_vector(value.type)
    return 1 if found is None else found.get_shape()[0]


def first_elements(value: SSAValue, count: int, insert: Callable[[Operation], object]) -> SSAValue:
    """Return the first elements of a fragment, computed of the first elements of its operands."""
    owner = value.owner
    if isinstance(owner, MakeFragmentOp):
        made = _first_parts(owner, count)
    elif isinstance(owner, vector.BroadcastOp):
        made = vector.BroadcastOp(owner.source, vector_of(element_of(value.type), count))
    elif isinstance(owner, _ELEMENTWISE):
        operands = [first_elements(operand, count, insert) for operand in owner.operands]
        made = on_types(owner, operands, [vector_of(element_of(value.type), count)])
    else:
        made = SliceFragmentOp(value, 0, count)
    insert(made)
    return made.results[0]


def _first_parts(made: MakeFragmentOp, count: int) -> Operation:
    """The first parts, if they are as many elements; else a slice."""
    ends = list(accumulate(map(_length, made.parts)))
    if count in ends:
        return MakeFragmentOp(made.parts[: ends.index(count) + 1])
    return SliceFragmentOp(made.result, 0, count)
