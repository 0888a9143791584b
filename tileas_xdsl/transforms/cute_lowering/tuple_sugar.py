"""Desugar tuple constructors to `cute.make_int_tuple`, with the kind in the result type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cute.layout_algebra.tuples import (
    MakeCoordOp,
    MakeIntTupleOp,
    MakeShapeOp,
    MakeStrideOp,
    MakeTileOp,
    MakeTupleBase,
    StaticOp,
)
from tileas_xdsl.dialects.cute.types.tuples import TUPLE_TYPES, TileType

Rewrite = Callable[[Any, Builder], list[SSAValue] | None]
"""Code for an operation, and what stands for its results; None if it stays as it is."""


def _hub(op: MakeTupleBase, builder: Builder) -> list[SSAValue]:
    return [builder.insert(MakeIntTupleOp(list(op.elements), op.result.type)).result]


def _static_hub(op: StaticOp, builder: Builder) -> list[SSAValue] | None:
    """A tuple without operands has one form only, so that equal ones are one value."""
    if not isinstance(op.result.type, (*TUPLE_TYPES, TileType)):
        return None
    return [builder.insert(MakeIntTupleOp([], op.result.type)).result]


SHAPE_SUGAR: Mapping[type[Operation], Rewrite] = {
    MakeShapeOp: _hub,
    MakeCoordOp: _hub,
    MakeTileOp: _hub,
    StaticOp: _static_hub,
}
"""The first phase: whatever the others read shapes from."""

STRIDE_SUGAR: Mapping[type[Operation], Rewrite] = {MakeStrideOp: _hub}
"""The second phase."""
