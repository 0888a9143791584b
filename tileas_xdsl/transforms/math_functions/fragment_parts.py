"""Parts of fragments: their first elements, what several are joined to, what one is cut into."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import vector
from xdsl.dialects.builtin import f32
from xdsl.ir import Block, SSAValue

from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import length_of
from tileas_xdsl.transforms.math_functions.expression_builder import Value


def rotated(body: Block, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The first element of a fragment of f32, and the fragment of the others."""
    head = vector.ExtractOp(value, [0], f32)
    tail = SliceFragmentOp(value, 1, length_of(value) - 1)
    body.add_ops([head, tail])
    return head.result, tail.result


def made(block: Block, parts: Sequence[SSAValue]) -> SSAValue:
    """The fragment of elements and fragments, one after the other."""
    fragment = MakeFragmentOp(parts)
    block.add_op(fragment)
    return fragment.result


def joined(block: Block, values: Sequence[Value]) -> SSAValue:
    """One fragment of several, or the only one."""
    parts = [value.ssa for value in values]
    return parts[0] if len(parts) == 1 else made(block, parts)


def cut(block: Block, value: SSAValue, lengths: Sequence[int]) -> Sequence[SSAValue]:
    """Fragments of these lengths, which one is cut into."""
    if len(lengths) == 1:
        return [value]
    found: list[SSAValue] = []
    offset = 0
    for length in lengths:
        part = SliceFragmentOp(value, offset, length)
        block.add_op(part)
        found.append(part.result)
        offset += length
    return found
