"""Bytes that are put together to words, by permutations of the words that have them.

    extui %b | extui %c << 8 | extui %d << 16 | extui %f << 24  ->  prmt %word, extui %f by 0x4321

where %b, %c and %d are bytes 1 to 3 of a word that was loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerAttr,
    i8,
    i32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import PrmtOp
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.xdsl_ops import constant_op


@dataclass(frozen=True)
class Byte:
    """A byte of a register."""

    word: SSAValue
    number: int


def permute(places: Mapping[SSAValue, Byte]) -> None:
    """Put bytes together to words by permutations of the words that have them."""
    roots = dict[Operation, None]()
    for value in places:
        for use in value.uses:
            if (root := _root(use.operation)) is not None:
                roots[root] = None
    for root in roots:
        found = _bytes_of(root.results[0], places)
        words = None if found is None else dict.fromkeys(byte.word for byte in found)
        if found is None or words is None or len(words) > 2:
            continue
        order = list(words)
        digits = (4 * order.index(byte.word) + byte.number for byte in found)
        selector = sum(digit << 4 * k for k, digit in enumerate(digits))
        point = InsertPoint.before(root)
        mask = constant_op(IntegerAttr(selector, i32))
        made = PrmtOp(order[0], order[-1], mask.result)
        for op in (mask, made):
            op.location = root.location
            Rewriter.insert_op(op, point)
        Rewriter.replace_op(root, [], [made.result])


def _root(op: Operation) -> Operation | None:
    """The word that a byte is put into last."""
    while True:
        if not isinstance(op, arith.ExtUIOp | arith.ShLIOp | arith.OrIOp):
            return None
        users = [use.operation for use in op.results[0].uses]
        if len(users) != 1 or not isinstance(users[0], arith.OrIOp | arith.ShLIOp):
            return op if isinstance(op, arith.OrIOp) and op.result.type == i32 else None
        op = users[0]


def _bytes_of(word: SSAValue, places: Mapping[SSAValue, Byte]) -> Sequence[Byte] | None:
    """The four bytes that a word is put together of; None if it is something else."""
    found, left = dict[int, Byte](), [word]
    while left:
        value, shift = left.pop(), 0
        if isinstance(value.owner, arith.OrIOp):
            left += value.owner.operands
            continue
        if isinstance(value.owner, arith.ShLIOp):
            shift = constant_integer(value.owner.rhs) or 0
            value = value.owner.lhs
        byte = value.owner.input if isinstance(value.owner, arith.ExtUIOp) else None
        if byte is None or byte.type != i8 or shift % 8 or shift // 8 in found:
            return None
        found[shift // 8] = places.get(byte) or Byte(value, 0)
    return [found[k] for k in range(4)] if sorted(found) == [0, 1, 2, 3] else None
