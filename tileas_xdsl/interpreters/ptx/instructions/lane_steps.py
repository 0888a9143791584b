"""Steps that compute registers from registers, on all lanes at once.

A function of a step gets what `execution.lane_mask` says of values: an integer where all lanes have
the same one, else an array with one element a lane; `elementwise` gives it typed arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Step
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED, ScalarType


def typed(value: Value, unsigned: np.dtype[Any], dtype: np.dtype[Any]) -> Array:
    """Reinterpret a register as an array of a type: one entry per lane, 0-d if uniform."""
    if value.__class__ is np.ndarray:
        return value.view(dtype)
    return np.array(value, unsigned).view(dtype)


def as_value(array: Array, unsigned: np.dtype[Any]) -> Value:
    """Return an array in the representation of the register file.

    One element is the value of all lanes, whatever its rank: numpy makes vectors of scalars
    (`ascontiguousarray`, `atleast_1d`).
    """
    if array.size == 1:
        array = array.reshape(())
        return bool(array) if unsigned == np.bool_ else int(array.view(unsigned))
    return array if array.dtype == unsigned else np.ascontiguousarray(array).view(unsigned)


Function: TypeAlias = Callable[..., Array]


def elementwise(
    dest: int,
    sources: Sequence[tuple[int, np.dtype[Any]]],
    result: ScalarType,
    function: Function,
) -> Step:
    """Build a step of `function` on typed arrays; the result has the width of `result`."""
    out = UNSIGNED[result.bits]
    plan = [(slot, UNSIGNED[dtype.itemsize * 8], dtype) for slot, dtype in sources]
    if len(plan) == 1:
        return _unary(dest, plan[0], out, function)
    if len(plan) == 2:
        return _binary(dest, plan[0], plan[1], out, function)

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        r[dest] = as_value(function(*[typed(r[s], u, t) for s, u, t in plan]), out)

    return step


Plan: TypeAlias = "tuple[int, np.dtype[Any], np.dtype[Any]]"


def _unary(dest: int, a: Plan, out: np.dtype[Any], function: Function) -> Step:
    slot, unsigned, dtype = a

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        r[dest] = as_value(function(typed(r[slot], unsigned, dtype)), out)

    return step


def _binary(dest: int, a: Plan, b: Plan, out: np.dtype[Any], function: Function) -> Step:
    (slot_a, unsigned_a, dtype_a), (slot_b, unsigned_b, dtype_b) = a, b

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        x = typed(r[slot_a], unsigned_a, dtype_a)
        r[dest] = as_value(function(x, typed(r[slot_b], unsigned_b, dtype_b)), out)

    return step


def unary(dest: int, a: int, function: Callable[[Value], Value]) -> Step:
    """Build a step that applies `function` to a raw register: an integer or an unsigned array."""

    def step(f: ConvergenceGroup) -> None:
        f.r[dest] = function(f.r[a])

    return step


def binary(dest: int, a: int, b: int, function: Callable[[Value, Value], Value]) -> Step:
    """Build a step that applies `function` to two raw registers."""

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        r[dest] = function(r[a], r[b])

    return step


def ternary(
    dest: int, sources: Sequence[int], function: Callable[[Value, Value, Value], Value]
) -> Step:
    """Build a step that applies `function` to three raw registers."""
    a, b, c = sources

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        r[dest] = function(r[a], r[b], r[c])

    return step


def lane_value(f: ConvergenceGroup, slot: int, lane: int) -> int:
    """Return the value of a register for one lane."""
    value = f.r[slot]
    return int(value[lane]) if value.__class__ is np.ndarray else int(value)
