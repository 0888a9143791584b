"""Bodies of scalars that run once on whole arrays, an array standing for each scalar.

That works for bodies of `arith` and `math` on scalars: each operation does to every element what it
does to one.  Bodies with regions, calls or tiles run element by element instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import ShapedType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of, is_array
from tileas_xdsl.interpreters.tile.numerics.integers import Value
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import MEANINGS, Meaning

ValueOf: TypeAlias = Callable[[SSAValue], Value]
"""The value of something that a body uses and does not define."""

RunBody: TypeAlias = Callable[[Region, Sequence[Value]], Sequence[Value]]
"""Runs a body on scalars, at once; what it yields."""


def is_liftable(block: Block) -> bool:
    """Whether every operation of `block` but the last is one of scalars that lifts to arrays."""
    op = block.first_op
    while op is not None and op is not block.last_op:
        if type(op) not in MEANINGS or any(map(_is_shaped, _lifted_types(op))):
            return False
        op = op.next_op
    return True


def _lifted_types(op: Operation) -> Sequence[Attribute]:
    """The types of what becomes an array: a tile that elements are taken of stays one."""
    operands = op.operand_types
    return *(operands[1:] if isinstance(op, tensor.ExtractOp) else operands), *op.result_types


def _is_shaped(type_: Attribute) -> bool:
    return isinstance(type_, ShapedType)


def scalar_at(values: Array, place: tuple[int, ...]) -> Value:
    """One element as the interpreter holds scalars: an int, a bool, or an array of rank 0."""
    return values[place].item() if values.dtype.kind in "ib" else values[(*place, ...)]


class LiftedBody:
    """A liftable body, to be called with arrays for the arguments of its block.

    What does not depend on the arguments is computed once.  The arrays of one call have shapes that
    broadcast; so do the results.
    """

    def __init__(self, block: Block, value_of: ValueOf) -> None:
        self._arguments = tuple(block.args)
        self._known: dict[SSAValue, Value] = {}
        self._steps: list[tuple[Operation, Meaning]] = []
        last = block.last_op
        assert last is not None
        inside: set[SSAValue] = set(block.args)
        for op in block.ops:
            for operand in op.operands:
                if operand not in inside and operand not in self._known:
                    self._known[operand] = value_of(operand)
            self._add(op, inside, is_last=op is last)
        self._results = tuple(last.operands)

    def _add(self, op: Operation, inside: set[SSAValue], *, is_last: bool) -> None:
        if is_last:
            return
        if op.operands and any(operand in inside for operand in op.operands):
            self._steps.append((op, meaning_of(op)))
            inside.update(op.results)
            return
        results = meaning_of(op)(op, [self._known[operand] for operand in op.operands])
        self._known.update(zip(op.results, results, strict=True))

    def __call__(self, *arguments: Value) -> Array:
        """What the body yields, one value, in the storage type of its element."""
        return self.all_of(*arguments)[0]

    def all_of(self, *arguments: Value) -> list[Array]:
        """The values that the body yields, in the storage types of their elements."""
        values = dict(self._known)
        values.update(zip(self._arguments, map(_plain, arguments), strict=True))
        for op, meaning in self._steps:
            operands = of_one_kind(op, [values[operand] for operand in op.operands])
            values.update(zip(op.results, meaning(op, operands), strict=True))
        return [np.asarray(values[v], dtype_of(v.type)) for v in self._results]


def meaning_of(op: Operation) -> Meaning:
    """The meaning of an operation whose scalars may be arrays."""
    return _select if isinstance(op, arith.SelectOp) else MEANINGS[type(op)]


def _select(op: arith.SelectOp, operands: Sequence[Value]) -> tuple[Value]:
    """`arith.select` with a condition for each element."""
    condition, *both = operands
    if not is_array(condition):
        return (both[0] if condition else both[1],)
    dtype = dtype_of(op.result.type)
    one, other = (np.asarray(value, dtype) for value in both)
    return (np.where(condition, one, other),)


def of_one_kind(op: Operation, operands: list[Value]) -> list[Value]:
    """The operands, all of them arrays as soon as one is: the rules ask only the first."""
    if isinstance(op, tensor.ExtractOp):
        return operands
    rank = max((value.ndim for value in operands if is_array(value)), default=0)
    if rank == 0 or all(is_array(value) and value.ndim for value in operands):
        return operands
    return [
        np.array(value, dtype_of(operand.type), copy=None, ndmin=rank)
        for value, operand in zip(operands, op.operands, strict=True)
    ]


def _plain(value: Value) -> Value:
    """An integer of rank 0 as a Python int, which is what the rules take for a scalar."""
    is_integer = is_array(value) and value.ndim == 0 and value.dtype.kind in "ib"
    return value.item() if is_integer else value
