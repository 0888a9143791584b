"""Conversions of `arith` on scalars and tiles.

Floats are truncated to integers with saturation; NaN gives zero, or 2**63 in 64 bits, as PTX
`cvt.rzi` has it (MLIR leaves both open).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Attribute, Operation

from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.numerics.directed_rounding import rounded_to
from tileas_xdsl.interpreters.tile.numerics.element_types import (
    Array,
    cast,
    dtype_of,
    float_format,
)
from tileas_xdsl.interpreters.tile.numerics.floats import wide_of
from tileas_xdsl.interpreters.tile.numerics.integers import (
    Value,
    element_of_type,
    signed_of,
    unsigned_of,
    width_of,
    wrap,
)

Convert: TypeAlias = Callable[[Value, Attribute, Attribute], Value]
"""Convert a value, given its type and the result type."""


def _width(type_: Attribute) -> int:
    width = width_of(type_)
    assert width is not None
    return width


def _round(value: Value, _: Attribute, target: Attribute) -> Array:
    return np.asarray(cast(np.asarray(value), element_of_type(target)))


def _from_signed(value: Value, source: Attribute, target: Attribute) -> Array:
    return _float_of(signed_of(value, _width(source)), np.dtype(np.int64), target)


def _from_unsigned(value: Value, source: Attribute, target: Attribute) -> Array:
    return _float_of(unsigned_of(value, _width(source)), np.dtype(np.uint64), target)


def _float_of(wide: Value, dtype: np.dtype[np.int64 | np.uint64], target: Attribute) -> Array:
    return np.asarray(cast(np.asarray(wide, dtype), element_of_type(target)))


def _to_signed(value: Value, source: Attribute, target: Attribute) -> Value:
    width = _width(target)
    limits = (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    return _to_integer(wide_of(value, source), limits, width)


def _to_unsigned(value: Value, source: Attribute, target: Attribute) -> Value:
    width = _width(target)
    return _to_integer(wide_of(value, source), (0, (1 << width) - 1), width)


def _to_integer(values: Array, limits: tuple[int, int], width: int) -> Value:
    """Truncate floats to integers, saturating exactly at limits that floats would round."""
    low, high = limits
    whole = np.trunc(
        np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    )
    below, above = whole <= low, whole >= high
    dtype = np.uint64 if low == 0 else np.int64
    inside = np.where(below | above, 0.0, whole).astype(dtype)
    result = np.where(below, dtype(low), np.where(above, dtype(high), inside))
    if width == 64:
        result = np.where(np.isnan(values), NAN_OF_64_BITS.astype(dtype), result)
    return wrap(result if result.ndim else int(result), width)


NAN_OF_64_BITS = np.array(1 << 63, np.uint64)
"""The result of NaN in 64 bits (PTX ISA, cvt); in fewer bits it is zero."""


def _sign_extend(value: Value, source: Attribute, target: Attribute) -> Value:
    return wrap(signed_of(value, _width(source)), _width(target))


def _zero_extend(value: Value, source: Attribute, target: Attribute) -> Value:
    return wrap(unsigned_of(value, _width(source)), _width(target))


def _bits(value: Value, source: Attribute, target: Attribute) -> Value:
    """Bitcast a value; both types have a numpy type of their width."""
    found = np.asarray(value, dtype_of(element_of_type(source)))
    result = found.view(dtype_of(element_of_type(target)))
    return int(result) if result.ndim == 0 and width_of(target) is not None else result


CONVERSIONS: Mapping[type[Operation], Convert] = {
    arith.BitcastOp: _bits,
    arith.ExtFOp: _round,
    arith.ExtSIOp: _sign_extend,
    arith.ExtUIOp: _zero_extend,
    arith.FPToSIOp: _to_signed,
    arith.FPToUIOp: _to_unsigned,
    arith.IndexCastOp: _sign_extend,
    arith.SIToFPOp: _from_signed,
    arith.TruncFOp: _round,
    arith.TruncIOp: _sign_extend,
    arith.UIToFPOp: _from_unsigned,
}


def convert(op: Operation, value: Value) -> Value:
    """Return the result of an operation of `CONVERSIONS`."""
    source, target = op.operands[0].type, op.results[0].type
    if isinstance(op, arith.ExtFOp | arith.TruncFOp) and (mode := float_mode(op).rounding):
        known = float_format(element_of_type(target))
        assert known is not None
        return rounded_to(np.asarray(value), known, mode)
    if isinstance(op, arith.BitcastOp) and _stored_bits(source) != _stored_bits(target):
        raise fault(op, f"elements of {source} and {target} do not have the same bits")
    return CONVERSIONS[type(op)](value, source, target)


def _stored_bits(type_: Attribute) -> int:
    return 8 * dtype_of(element_of_type(type_)).itemsize
