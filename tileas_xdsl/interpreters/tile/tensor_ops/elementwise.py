"""The semantics of every operation of `arith` and `math`, on scalars and tiles alike.

From `tensor` there are those that take an element out of a tile and make a tile of one, from
`affine` the one that computes an index, from `nv_tileaa` the one that moves pointers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects import affine, arith, math, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.pointers import POINTERS
from tileas_xdsl.interpreters.tile.numerics.conversions import CONVERSIONS, convert
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of, literal
from tileas_xdsl.interpreters.tile.numerics.floats import (
    FLOAT_RULES,
    compare_floats,
    float_op,
    float_power,
)
from tileas_xdsl.interpreters.tile.numerics.integers import (
    BIT_COUNTERS,
    INDEX_BITS,
    INTEGER_RULES,
    Value,
    compare_integers,
    count_bits,
    element_of_type,
    extended_product,
    extended_sum,
    integer_op,
    integer_power,
    width_of,
    wrap,
)

Semantics: TypeAlias = Callable[[Any, Sequence[Value]], tuple[Value, ...]]
"""The results of an operation for its operands."""


def _one(compute: Callable[[Any, Sequence[Value]], Value]) -> Semantics:
    return lambda op, operands: (compute(op, operands),)


def constant_value(op: arith.ConstantOp) -> Value:
    """The value of a constant; a dense one is a tile."""
    return attribute_value(op, op.value, op.result.type)


def attribute_value(op: Operation, value: Attribute, type_: Attribute) -> Value:
    """The value of a typed attribute; a fault where it has none."""
    width = width_of(type_)
    if isinstance(value, IntegerAttr):
        assert width is not None
        return wrap(value.value.data, width)
    if isinstance(value, FloatAttr):
        return literal(np.asarray(value.value.data), element_of_type(type_))
    if not isinstance(value, DenseIntOrFPElementsAttr) or not isa(type_, TensorType[Attribute]):
        raise fault(op, f"{value} is no number or tile of numbers")
    element, shape = type_.element_type, type_.get_shape()
    items = np.asarray(cast("Sequence[Any]", value.get_values()))
    stored = wrap(items.astype(np.int64), width) if width else literal(items, element)
    return np.broadcast_to(stored, shape) if stored.size == 1 else stored.reshape(shape)


def select(op: arith.SelectOp, operands: Sequence[Value]) -> Value:
    """One value or the other; a tile of conditions chooses by element."""
    condition, one, other = operands
    if not isinstance(op.cond.type, TensorType):
        return one if bool(condition) else other
    result = cast("Array", np.where(condition, one, other))
    return result.astype(dtype_of(element_of_type(op.result.type)))


def extract_element(op: tensor.ExtractOp, operands: Sequence[Value]) -> Value:
    """`tensor.extract`: an element of a tile, or one for each of an array of places."""
    tile, *indices = operands
    for axis, index in enumerate(indices):
        wrong = (np.asarray(index) < 0) | (np.asarray(index) >= tile.shape[axis])
        if np.any(wrong):
            bad = int(np.asarray(index)[wrong].flat[0])
            raise fault(op, f"a tile of {tile.shape} has no element {bad} along dimension {axis}")
    found: Any = tile[tuple(indices)]
    if np.ndim(found):
        return found
    return found.item() if width_of(op.result.type) is not None else np.asarray(found)


def splat(op: tensor.SplatOp, operands: Sequence[Value]) -> Array:
    """`tensor.splat`: one value as every element."""
    type_ = op.result.type
    assert isa(type_, TensorType[Attribute])
    return np.full(type_.get_shape(), operands[0], dtype_of(type_.element_type))


def apply_map(op: affine.ApplyOp, operands: Sequence[Value]) -> Value:
    """`affine.apply`: an index by a map of indices."""
    map_ = op.map.data
    try:
        (number,) = map_.eval(operands[: map_.num_dims], operands[map_.num_dims :])
    except ZeroDivisionError:
        raise fault(op, "division by zero") from None
    return wrap(number, INDEX_BITS)


ELEMENTWISE: Mapping[type[Operation], Semantics] = {
    **dict.fromkeys(INTEGER_RULES, _one(integer_op)),
    **dict.fromkeys(FLOAT_RULES, _one(float_op)),
    **dict.fromkeys(BIT_COUNTERS, _one(count_bits)),
    **POINTERS,
    **dict.fromkeys(CONVERSIONS, _one(lambda op, operands: convert(op, operands[0]))),
    affine.ApplyOp: _one(apply_map),
    arith.AddUIExtendedOp: extended_sum,
    arith.CmpfOp: _one(compare_floats),
    arith.CmpiOp: _one(compare_integers),
    arith.ConstantOp: _one(lambda op, _: constant_value(op)),
    arith.MulSIExtendedOp: extended_product,
    arith.MulUIExtendedOp: extended_product,
    arith.SelectOp: _one(select),
    math.FPowIOp: _one(float_power),
    math.IPowIOp: _one(integer_power),
    tensor.ExtractOp: _one(extract_element),
    tensor.SplatOp: _one(splat),
}
