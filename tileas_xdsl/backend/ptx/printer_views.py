"""What a value is made of: registers of its own, a literal, or parts of other values."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import BlockArgument, Operation, SSAValue

from tileas_xdsl.dialects.ptx.base import count_of
from tileas_xdsl.dialects.ptx.elementwise.values import (
    ConstOp,
    ExtractOp,
    PackOp,
    UndefOp,
    UnpackOp,
)
from tileas_xdsl.dialects.ptx.types import RegType

VIEWS = frozenset[type]((PackOp, ExtractOp, UnpackOp))
"""Classes of operations whose results are registers of their operands."""

FREE = VIEWS | {ConstOp, UndefOp}
"""Classes of operations that print nothing."""

# Classes are compared, not tested with `isinstance`, which is slow for xDSL's abstract ones.


def whole(value: SSAValue) -> SSAValue | None:
    """The value that has all registers of `value` and no more, itself if it is no view.

    None for a part, for a tuple put together, and for what has no registers to be shared.
    """
    while True:
        if value.__class__ is BlockArgument:
            return value if isinstance(value.type, RegType) else None
        op = value.owner
        assert isinstance(op, Operation)
        if op.__class__ not in FREE:
            return value
        if op.__class__ not in VIEWS:
            return None
        if len(op.operands) != 1 or count_of(op.operands[0]) != count_of(value):
            return None
        value = op.operands[0]


def readers(value: SSAValue) -> Iterator[tuple[Operation, int, bool]]:
    """Yield the readers of `value`: operation, operand index, and whether all of it is read."""
    pending = [value]
    while pending:
        current = pending.pop()
        for use in current.uses:
            op = use.operation
            if op.__class__ in VIEWS:
                pending += op.results
            else:
                yield op, use.index, whole(current) is value
