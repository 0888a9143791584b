"""Conversions of elements: numbers, bits and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import UnitAttr

from tileas_xdsl.dialects.cuda_tile.enums import IntegerOverflow, Signedness
from tileas_xdsl.dialects.cuda_tile.tiles import conversions as ops
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of
from tileas_xdsl.interpreters.cuda_tile.numerics import conversions
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import Array, width_of
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import check_range, read, wrap
from tileas_xdsl.interpreters.cuda_tile.semantics.registry import Elementwise, Pure


def _extended(op: ops.ExtIOp, values: Array) -> Array:
    wide = read(values, width_of(op.from_.type), op.signedness.data)
    return wrap(wide, width_of(op.to.type))


_PROMISED = {
    IntegerOverflow.NSW: (Signedness.SIGNED,),
    IntegerOverflow.NUW: (Signedness.UNSIGNED,),
    IntegerOverflow.NW: (Signedness.SIGNED, Signedness.UNSIGNED),
}


def _truncated(op: ops.TruncIOp, values: Array) -> Array:
    source, result = width_of(op.from_.type), width_of(op.to.type)
    overflow = op.overflow.data
    for signedness in _PROMISED.get(overflow, ()):
        check_range(read(values, source, signedness), result, signedness, overflow.value)
    return wrap(read(values, source, Signedness.SIGNED), result)


def _to_float(op: ops.IToFOp, values: Array) -> Array:
    source, result = element_of(op.from_.type), element_of(op.to.type)
    return conversions.integer_to_float(values, source, result, op.signedness.data)


def _to_integer(op: ops.FToIOp, values: Array) -> Array:
    return conversions.float_to_integer(
        values,
        element_of(op.from_.type),
        element_of(op.to.type),
        op.signedness.data,
        saturating=isinstance(op.saturating, UnitAttr),
    )


def _to_other_float(op: ops.FToFOp, values: Array) -> Array:
    source, result = element_of(op.from_.type), element_of(op.to.type)
    return conversions.float_to_float(values, source, result, op.rounding_mode.data)


def _same_bits(op: ops.BitcastOp, values: Array) -> Array:
    return conversions.same_bits(values, element_of(op.result.type))


def _same(_op: Any, values: Array) -> Array:
    return values


_BITS = np.uint64(8)
"""Addresses count bits."""


def _from_address(_op: Any, values: Array) -> Array:
    return (values // _BITS).view(np.int64)


def _to_address(_op: Any, values: Array) -> Array:
    return values.view(np.uint64) * _BITS


CONVERSIONS: Mapping[type[Any], Elementwise] = {
    ops.ExtIOp: _extended,
    ops.TruncIOp: _truncated,
    ops.IToFOp: _to_float,
    ops.FToIOp: _to_integer,
    ops.FToFOp: _to_other_float,
    ops.BitcastOp: _same_bits,
    ops.PtrToPtrOp: _same,
    ops.PtrToIntOp: _from_address,
    ops.IntToPtrOp: _to_address,
}


def _packed(op: ops.PackOp, values: Array) -> Array:
    return conversions.to_bytes(values, element_of(op.source.type))


def _unpacked(op: ops.UnpackOp, values: Array) -> Array:
    return conversions.from_bytes(values, element_of(op.result.type))


REINTERPRETED: Mapping[type[Any], Pure] = {ops.PackOp: _packed, ops.UnpackOp: _unpacked}
