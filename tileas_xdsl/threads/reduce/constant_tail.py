"""Elements at the end of a fragment that are one constant: a row has so many behind its end.

%z = vector.broadcast 0.0 : vector<8xf16>
%x = cute.fragment.make %v, %w, %z, %z          the last 16 elements of %x and %y are zeros
%y = arith.extf %x
%s = arith.mulf %y, %y                          and those of %s
"""

from __future__ import annotations

from dataclasses import replace
from math import copysign, isnan
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MakeFragmentOp
from tileas_xdsl.threads.registers.vector_values import element_type, length


@dataclass(frozen=True)
class ConstantTail:
    """How many elements at the end of a fragment are a number."""

    count: int
    number: FloatAttr | IntegerAttr

    def is_of(self, other: ConstantTail | None) -> bool:
        """Whether another tail is of the same number: zeros have a sign."""
        return other is not None and _key(self.number) == _key(other.number)


def _key(number: FloatAttr | IntegerAttr) -> tuple[float, float]:
    value = number.value.data
    return value, copysign(1, value)


def constant_tail(value: SSAValue) -> ConstantTail | None:
    """Return the constant elements that a fragment is known to end with, None for none."""
    match value.owner:
        case vector.BroadcastOp() as op if isinstance(made := op.source.owner, arith.ConstantOp):
            number = made.value
            if not isinstance(number, FloatAttr | IntegerAttr) or isnan(number.value.data):
                return None
            return ConstantTail(length(value), number)
        case MakeFragmentOp() as op:
            return _tail_of_parts(op)
        case arith.ExtFOp() as op:
            return _as_type_of(value, constant_tail(op.input))
        case arith.MulfOp() as op:
            return _tail_of_product(constant_tail(op.lhs), constant_tail(op.rhs))
        case _:
            return None


def _tail_of_parts(op: MakeFragmentOp) -> ConstantTail | None:
    found: ConstantTail | None = None
    for part in reversed(op.parts):
        tail = constant_tail(part)
        if tail is None or not tail.is_of(found or tail):
            break
        found = ConstantTail(tail.count + (found.count if found else 0), tail.number)
        if tail.count < length(part):
            break
    return found


def _as_type_of(value: SSAValue, tail: ConstantTail | None) -> ConstantTail | None:
    kind: Any = element_type(value)
    return None if tail is None else replace(tail, number=FloatAttr(tail.number.value.data, kind))


def _tail_of_product(a: ConstantTail | None, b: ConstantTail | None) -> ConstantTail | None:
    """The tail of a product of zeros, the only ones that rows of sums have."""
    if a is None or b is None or a.number.value.data or b.number.value.data:
        return None
    kind: Any = a.number.type
    product = FloatAttr(a.number.value.data * b.number.value.data, kind)
    return ConstantTail(min(a.count, b.count), product)
