"""Vectorised bodies: regions on scalars that run once on whole arrays.

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
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import ELEMENTWISE, Semantics

ValueOf: TypeAlias = Callable[[SSAValue], Value]
"""The value of an SSA value that a body captures."""

RunBody: TypeAlias = Callable[[Region, Sequence[Value]], Sequence[Value]]
"""Runs a body on scalars; returns what it yields."""


def is_vectorizable(block: Block) -> bool:
    """Return whether all operations of `block` but the terminator vectorise to arrays."""
    op = block.first_op
    while op is not None and op is not block.last_op:
        if type(op) not in ELEMENTWISE or any(map(_is_shaped, _vectorized_types(op))):
            return False
        op = op.next_op
    return True


def _vectorized_types(op: Operation) -> Sequence[Attribute]:
    """Return the types that become arrays: the source of `tensor.extract` stays a tile."""
    operands = op.operand_types
    return *(operands[1:] if isinstance(op, tensor.ExtractOp) else operands), *op.result_types


def _is_shaped(type_: Attribute) -> bool:
    return isinstance(type_, ShapedType)


def scalar_at(values: Array, position: tuple[int, ...]) -> Value:
    """Return an element as a scalar of the interpreter: an int, a bool, or an array of rank 0."""
    return values[position].item() if values.dtype.kind in "ib" else values[(*position, ...)]


class VectorizedBody:
    """A vectorised body, called with arrays for the arguments of its block.

    What does not depend on the arguments is computed once.  The arrays of one call have shapes that
    broadcast; so do the results.
    """

    def __init__(self, block: Block, value_of: ValueOf) -> None:
        self._arguments = tuple(block.args)
        self._known: dict[SSAValue, Value] = {}
        self._steps: list[tuple[Operation, Semantics]] = []
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
            self._steps.append((op, semantics_of(op)))
            inside.update(op.results)
            return
        results = semantics_of(op)(op, [self._known[operand] for operand in op.operands])
        self._known.update(zip(op.results, results, strict=True))

    def __call__(self, *arguments: Value) -> Array:
        """Return the one value that the body yields, in its storage type."""
        return self.all_of(*arguments)[0]

    def all_of(self, *arguments: Value) -> list[Array]:
        """Return the values that the body yields, in their storage types."""
        values = dict(self._known)
        values.update(zip(self._arguments, map(_plain, arguments), strict=True))
        for op, meaning in self._steps:
            operands = broadcast_scalars(op, [values[operand] for operand in op.operands])
            values.update(zip(op.results, meaning(op, operands), strict=True))
        return [np.asarray(values[v], dtype_of(v.type)) for v in self._results]


def semantics_of(op: Operation) -> Semantics:
    """Return the semantics of an operation whose scalars may be arrays."""
    return _select if isinstance(op, arith.SelectOp) else ELEMENTWISE[type(op)]


def _select(op: arith.SelectOp, operands: Sequence[Value]) -> tuple[Value]:
    """`arith.select` with a condition for each element."""
    condition, *both = operands
    if not is_array(condition):
        return (both[0] if condition else both[1],)
    dtype = dtype_of(op.result.type)
    one, other = (np.asarray(value, dtype) for value in both)
    return (np.where(condition, one, other),)


def broadcast_scalars(op: Operation, operands: list[Value]) -> list[Value]:
    """Return the operands, all of them arrays if one is."""
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
    """Return an integer array of rank 0 as a Python int, the scalar of integer rules."""
    is_integer = is_array(value) and value.ndim == 0 and value.dtype.kind in "ib"
    return value.item() if is_integer else value
