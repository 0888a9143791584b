"""Expand the print of a view to a loop over coordinates and elements."""

from __future__ import annotations

from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import scf
from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.cute.base.operation import built
from tileas_xdsl.dialects.cute.layout_algebra.queries import GetShapeOp, Idx2CrdOp, SizeOp
from tileas_xdsl.dialects.cute.layout_algebra.tuples import MakeIntTupleOp
from tileas_xdsl.dialects.cute.layout_algebra.unpacking import GetScalarsOp
from tileas_xdsl.dialects.cute.memory.views import MemRefLoadOp
from tileas_xdsl.dialects.cute.printing import PrintOp
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType
from tileas_xdsl.layout.expr.expression import Variable
from tileas_xdsl.threads.index.expression_codegen import ARITH, NumberEmitter


def print_view(
    view: SSAValue, builder: Builder, *, fmt: StringAttr | None, places: bool = True
) -> None:
    """`for index in range(size(view)): print(coordinate, element)`, or elements alone."""
    shape = builder.insert(built(GetShapeOp, [view])).result
    size = builder.insert(built(SizeOp, [shape])).result
    total = builder.insert(built(GetScalarsOp, [size])).scalars[0]
    numbers = NumberEmitter(ARITH, builder.insert, _no_leaf)
    body = Block(arg_types=[i32])
    zero, one = numbers.emit(0, 32), numbers.emit(1, 32)
    size_i32 = numbers.resized(total, 32)
    inside = Builder(InsertPoint.at_end(body))
    index = inside.insert(MakeIntTupleOp([body.args[0]], IntTupleType(Variable()))).result
    coord = inside.insert(built(Idx2CrdOp, [index, shape])).result
    element = inside.insert(built(MemRefLoadOp, [view, coord])).result
    coordinates: list[SSAValue] = []
    if places:
        coordinates += inside.insert(built(GetScalarsOp, [coord])).scalars
    properties: dict[str, Any] = {} if fmt is None else {"fmt": fmt}
    inside.insert(PrintOp.create(operands=[*coordinates, element], properties=properties))
    inside.insert(scf.YieldOp())
    builder.insert(scf.ForOp(zero, size_i32, one, [], Region(body)))


def _no_leaf(number: Variable) -> SSAValue:
    raise AssertionError(f"{number} stands for no value")
