"""Reductions, running sums and products of whole buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.tl.compute import CumSumOp, GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.enums import Reduction
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, cast, float_format
from tileas_xdsl.interpreters.tile.numerics.floats import wide_of
from tileas_xdsl.interpreters.tile.tensor_ops.dot import product_of

_FLOATS: Mapping[Reduction, Any] = {
    Reduction.SUM: np.add,
    Reduction.PROD: np.multiply,
    Reduction.MAX: np.fmax,
    Reduction.MIN: np.fmin,
    Reduction.ABSSUM: np.add,
    Reduction.ABSMAX: np.fmax,
}
"""How floats combine: a number wins over NaN."""

_PROPAGATING: Mapping[Reduction, Any] = {
    Reduction.MAX: np.maximum,
    Reduction.MIN: np.minimum,
    Reduction.ABSMAX: np.maximum,
}
"""Where NaN propagates."""

_STARTS: Mapping[Reduction, float] = {
    Reduction.MAX: -np.inf,
    Reduction.MIN: np.inf,
    Reduction.ABSMAX: 0.0,
}
"""What floats of a cleared target are before: the result where all elements are NaN."""

_INTEGERS: Mapping[Reduction, Any] = {
    **_FLOATS,
    **_PROPAGATING,
    Reduction.AND: np.bitwise_and,
    Reduction.OR: np.bitwise_or,
    Reduction.XOR: np.bitwise_xor,
}
"""How integers do, read as signed."""

_MAGNITUDES = (Reduction.ABSSUM, Reduction.ABSMAX)


def reduce(agent: TileAgent, op: ReduceOp, inputs: Sequence[Any]) -> tuple[()]:
    """`tl.reduce`: computed wide and rounded once."""
    source, target = inputs
    actor, kind, axis = agent.actor(op), op.reduction, op.axis.value.data
    values = _wide(source.read(actor), source.element)
    is_float = bool(float_format(source.element))
    rule = (_FLOATS if is_float else _INTEGERS)[kind]
    if op.nan_propagate is not None:
        rule = _PROPAGATING[kind]
    starts = {"initial": _STARTS[kind]} if is_float and op.is_cleared and kind in _STARTS else {}
    elements = np.abs(values) if kind in _MAGNITUDES else values
    with np.errstate(all="ignore"):
        result = rule.reduce(elements, axis=axis, **starts).reshape(target.shape)
        if not op.is_cleared:
            result = rule(_wide(target.read(actor), target.element), result)
    target.write(cast(result, target.element), actor)
    agent.computed(op, values.size)
    return ()


def cumsum(agent: TileAgent, op: CumSumOp, inputs: Sequence[Any]) -> tuple[()]:
    """`tl.cumsum`: computed wide and rounded once."""
    source, target = inputs
    actor, axis = agent.actor(op), op.axis.value.data
    values = _wide(source.read(actor), source.element)
    transposed = np.flip(values, axis) if op.reverse is not None else values
    with np.errstate(all="ignore"):
        scanned = np.cumsum(transposed, axis=axis, dtype=transposed.dtype)
    scanned = np.flip(scanned, axis) if op.reverse is not None else scanned
    target.write(cast(scanned, target.element), actor)
    agent.computed(op, values.size)
    return ()


def _wide(values: Array, element: Attribute) -> Array:
    """The elements in the type they are combined in: f32 or f64, 64-bit integers."""
    return wide_of(values, element) if float_format(element) else values.astype(np.int64)


def gemm(agent: TileAgent, op: GemmOp, inputs: Sequence[View]) -> tuple[()]:
    """`tl.gemm`, as tensor cores compute it; the accumulator is f32, f64 or i32."""
    actor, (a, b, c) = agent.actor(op), inputs
    left, right = a.read(actor), b.read(actor)
    left = left.T if op.transpose_a is not None else left
    right = right.T if op.transpose_b is not None else right
    before = np.zeros(c.shape, c.dtype) if op.clear is not None else c.read(actor)
    c.write(product_of(left, right, before), actor)
    agent.work(op, agent.latencies.product(*op.sizes, element_name(a.element)))
    return ()
