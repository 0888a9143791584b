"""Bytes that are put together to words, by permutations of the words that have them.

    extui %b | extui %c << 8 | extui %d << 16 | extui %f << 24  ->  prmt %word, extui %f by 0x4321

where %b, %c and %d are bytes 1 to 3 of a word that was loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    IntegerAttr,
    i8,
    i32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MakeFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import PrmtOp
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.xdsl_ops import constant_op
from tileas_xdsl.threads.registers.vector_values import element_type


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
        elements = _elements_of(root.results[0])
        if elements is None:
            continue
        _forward(root.results[0], [element.input for element in elements])
        found = [places.get(element.input) or Byte(element.result, 0) for element in elements]
        order = list(dict.fromkeys(byte.word for byte in found))
        if len(order) > 2:
            continue
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


def _elements_of(word: SSAValue) -> Sequence[arith.ExtUIOp] | None:
    """The four bytes that a word is put together of, extended; None if it is something else."""
    found, left = dict[int, arith.ExtUIOp](), [word]
    while left:
        value, shift = left.pop(), 0
        if isinstance(value.owner, arith.OrIOp):
            left += value.owner.operands
            continue
        if isinstance(value.owner, arith.ShLIOp):
            shift = constant_integer(value.owner.rhs) or 0
            value = value.owner.lhs
        made = value.owner
        if not isinstance(made, arith.ExtUIOp) or made.input.type != i8:
            return None
        if shift % 8 or shift // 8 in found:
            return None
        found[shift // 8] = made
    return [found[k] for k in range(4)] if sorted(found) == [0, 1, 2, 3] else None


def _forward(word: SSAValue, elements: Sequence[SSAValue]) -> None:
    """Give what takes the word apart again the bytes: those of a row are taken out once for all."""
    for use in word.uses:
        if not isinstance(use.operation, MakeFragmentOp) or not _are_words(use.operation):
            continue
        for extract in list(_extracts(use.operation.result)):
            (position,) = extract.static_position.get_values()
            if position // 4 == use.index and not extract.dynamic_position:
                Rewriter.replace_op(extract, [], [elements[position % 4]])


def _are_words(op: MakeFragmentOp) -> bool:
    return all(value.type == i32 for value in op.operands)


def _extracts(words: SSAValue) -> Iterator[vector.ExtractOp]:
    """What takes bytes of words."""
    for use in words.uses:
        whole = use.operation
        if isinstance(whole, vector.BitcastOp) and element_type(whole.result) == i8:
            users = (one.operation for one in whole.result.uses)
            yield from (user for user in users if isinstance(user, vector.ExtractOp))
