"""Tiles made of other tiles by moving elements, constants, and products of matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode, Signedness
from tileas_xdsl.dialects.cuda_tile.tiles import constants, matmul, shapes
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined
from tileas_xdsl.interpreters.cuda_tile.numerics.conversions import literal, reals
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import (
    Array,
    dtype_of,
    shape_of,
    width_of,
)
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import read, wrap
from tileas_xdsl.interpreters.cuda_tile.numerics.rounding import Reals, rounded
from tileas_xdsl.interpreters.cuda_tile.semantics.floats import calculated
from tileas_xdsl.interpreters.cuda_tile.semantics.registry import Elementwise, Pure


def constant(op: constants.ConstantOp) -> Array:
    """The elements of a constant."""
    values, shape = literal(op.value, element_of(op.result.type)), shape_of(op.result.type)
    return np.full(shape, values[0]) if values.size == 1 else values.reshape(shape).copy()


def _selected(_op: Any, condition: Array, yes: Array, no: Array) -> Array:
    return np.where(condition, yes, no)


SELECTION: Mapping[type[Any], Elementwise] = {shapes.SelectOp: _selected}


def _counted(op: shapes.IotaOp) -> Array:
    (count,) = shape_of(op.result.type)
    return wrap(np.arange(count), width_of(op.result.type))


def _broadcast(op: shapes.BroadcastOp, values: Array) -> Array:
    return np.array(np.broadcast_to(values, shape_of(op.result.type)))


def _reshaped(op: shapes.ReshapeOp, values: Array) -> Array:
    return values.reshape(shape_of(op.result.type))


def _permuted(op: shapes.PermuteOp, values: Array) -> Array:
    order: Sequence[int] = op.permutation.get_values()
    return np.ascontiguousarray(values.transpose(tuple(order)))


def _joined(op: shapes.CatOp, lhs: Array, rhs: Array) -> Array:
    return np.concatenate([lhs, rhs], axis=op.dim.value.data)


def _slices(whole: Array, part: Sequence[int], indices: Sequence[Array]) -> tuple[slice, ...]:
    """The slice with these numbers; raises where there is none."""
    found: list[slice] = []
    for axis, (extent, index) in enumerate(zip(part, indices, strict=True)):
        number = int(read(index, 32, Signedness.UNSIGNED))
        if number >= whole.shape[axis] // extent:
            raise Undefined(f"takes slice {number} of {whole.shape[axis] // extent} along {axis}")
        found.append(slice(number * extent, (number + 1) * extent))
    return tuple(found)


def _extracted(op: shapes.ExtractOp, values: Array, *indices: Array) -> Array:
    return values[_slices(values, shape_of(op.result.type), indices)].copy()


def _inserted(_op: shapes.InsertOp, part: Array, whole: Array, *indices: Array) -> Array:
    found = whole.copy()
    found[_slices(whole, part.shape, indices)] = part
    return found


def _product(op: matmul.MmaFOp, lhs: Array, rhs: Array, acc: Array) -> Array:
    element = element_of(op.lhs.type)
    return summed_products(op, reals(lhs, element), reals(rhs, element), acc)


def summed_products(op: Any, lhs: Reals, rhs: Reals, acc: Array) -> Array:
    """The sum of products and the accumulator in float64, rounded once."""
    found = np.matmul(lhs, rhs) + acc.astype(np.float64)
    return rounded(found, element_of(op.result.type))


def _scaled_product(
    op: matmul.MmaFScaledOp, lhs: Array, rhs: Array, acc: Array, a_scale: Array, b_scale: Array
) -> Array:
    """Adjacent elements along K share a scale."""
    elements, scales = element_of(op.lhs.type), element_of(op.lhs_scale.type)
    block = lhs.shape[-1] // a_scale.shape[-1]
    a = reals(lhs, elements) * np.repeat(reals(a_scale, scales), block, axis=-1)
    b = reals(rhs, elements) * np.repeat(reals(b_scale, scales), block, axis=-2)
    return summed_products(op, a, b, acc)


def _integer_product(op: matmul.MmaIOp, lhs: Array, rhs: Array, acc: Array) -> Array:
    a = read(lhs, 8, op.signedness_lhs.data)
    b = read(rhs, 8, op.signedness_rhs.data)
    return wrap(np.matmul(a, b) + acc.astype(np.int64), 32)


SHAPES: Mapping[type[Any], Pure] = {
    shapes.IotaOp: _counted,
    shapes.BroadcastOp: _broadcast,
    shapes.ReshapeOp: _reshaped,
    shapes.PermuteOp: _permuted,
    shapes.CatOp: _joined,
    shapes.ExtractOp: _extracted,
    shapes.InsertOp: _inserted,
    matmul.MmaFOp: _product,
    matmul.MmaFScaledOp: _scaled_product,
    matmul.MmaIOp: _integer_product,
}


def added(lhs: Array, rhs: Array, element: Any) -> Array:
    """A sum of floats to nearest even, as atomic updates make it."""
    return calculated("add", (lhs, rhs), element, RoundingMode.NEAREST_EVEN)


def empty(type_: Any) -> Array:
    """Zeros: what stands where nothing is specified."""
    return np.zeros(shape_of(type_), dtype_of(element_of(type_)))
