"""Which modifiers an operation on floats takes: rounding, flushing, approximation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import Float32Type, UnitAttr
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp
from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode, RoundingModeAttr
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of


def rounding_of(op: CudaTileOp) -> RoundingMode:
    """The rounding mode of an operation that has one."""
    attribute: Attribute = cast("Any", op).rounding_mode
    assert isinstance(attribute, RoundingModeAttr)
    return attribute.data


def check_rounding(op: CudaTileOp, modes: Sequence[str], key: str) -> None:
    """The rounding mode is one of `modes`; `key` is the message if it is not."""
    if rounding_of(op) not in modes:
        raise op.refuse(key)


def _is_f32(op: CudaTileOp) -> bool:
    return isinstance(element_of(op.results[0].type), Float32Type)


def _refuse_type(op: CudaTileOp, key: str) -> None:
    raise op.refuse(key, type=quoted(element_of(op.results[0].type)))


def check_flush(op: CudaTileOp) -> None:
    """Only `f32` can be flushed to zero."""
    if isinstance(op.properties.get("flush_to_zero"), UnitAttr) and not _is_f32(op):
        _refuse_type(op, "cuda_tile.flush.to_zero_type")


def check_approximation(op: CudaTileOp) -> None:
    """Only `f32` can be approximated, or computed in full range only nearly exactly."""
    if _is_f32(op):
        return
    if rounding_of(op) is RoundingMode.APPROX:
        _refuse_type(op, "cuda_tile.approx.type")


def check_full(op: CudaTileOp) -> None:
    """Only a division of `f32` has a full-range approximation."""
    if rounding_of(op) is RoundingMode.FULL and not _is_f32(op):
        _refuse_type(op, "cuda_tile.full.type")
