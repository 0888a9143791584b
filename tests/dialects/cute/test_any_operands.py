"""Operations on operands of any type: they have a result or a located error, never another one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import OperandDef, OptOperandDef

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.dialects.cute import Cute
from tileas_xdsl.dialects.cute.base.operation import INFERRED, AlgebraOp
from tileas_xdsl.dialects.cute.types.integers import DIVISIBLE, FastDivisorType
from tileas_xdsl.dialects.cute.types.layouts import ComposedLayoutType, LayoutType
from tileas_xdsl.dialects.cute.types.pointers import PtrType, SwizzleType
from tileas_xdsl.dialects.cute.types.tuples import (
    CoordType,
    IntTupleType,
    ShapeType,
    StrideType,
    TileType,
)
from tileas_xdsl.dialects.cute.types.views import CoordTensorType, DescIterType, MemRefType
from tileas_xdsl.layout import Layout, Swizzle
from tileas_xdsl.layout.expr.expression import Variable
from tileas_xdsl.layout.output.text import parse_layout_type, parse_tuple_type

LAYOUTS = [
    parse_layout_type(text)
    for text in (
        "(8,4):(1,8)", "8:2", "(?,4):(1,?)", "((2,4),?):((1,2),8)", "(4,2):(1@0,1@1)",
        "S<2,1,3> o 0 o (8,4):(4,1)", "8:2 o ? o (4,2):(1,4)", "():()", "(4,1):(0,0)",
    )
]  # fmt: skip
TREES = ["(8,4)", "(?,4)", "()", "3", "(1,(2,?))", "(0,1)", "?{i64 div=8}"]
TYPES: list[Attribute] = [
    *(LayoutType(x) if isinstance(x, Layout) else ComposedLayoutType(x) for x in LAYOUTS),
    *(
        kind(parse_tuple_type(text))
        for text in TREES
        for kind in (ShapeType, StrideType, CoordType, IntTupleType)
    ),
    StrideType(parse_tuple_type("(1@0,?@1)")),
    CoordType((None, 1)),
    CoordType((Variable(), None)),
    TileType((Layout(2), None)),
    TileType((Layout(4), Layout((2, 2), (1, 2)))),
    SwizzleType(Swizzle(3, 4, 3)),
    PtrType(f32, "gmem"),
    MemRefType(f32, "smem", LAYOUTS[0]),
    MemRefType(f32, "rmem", LAYOUTS[2]),
    MemRefType(f32, "gmem", LAYOUTS[5]),
    CoordTensorType((0, 0), LAYOUTS[4]),
    DescIterType(f32, "smem", LAYOUTS[0]),
    DIVISIBLE[32](8),
    FastDivisorType(32),
    i32,
    i64,
    f32,
]  # fmt: skip
PROPERTIES: dict[str, Attribute] = {
    "begin": IntegerAttr(0, 32),
    "end": IntegerAttr(1, 32),
    "rank": IntegerAttr(3, 32),
    "new_type_bits": IntegerAttr(8, 32),
    "old_type_bits": IntegerAttr(16, 32),
    "operand_id": StringAttr("A"),
}
OPERATIONS = [op for op in Cute.operations if issubclass(op, AlgebraOp)]


def properties_of(op: Any, modes: Any, count: int) -> dict[str, Attribute]:
    names = set(op.get_irdl_definition().properties)
    found = {name: value for name, value in PROPERTIES.items() if name in names}
    if "mode" in names:
        found["mode"] = ArrayAttr([IntegerAttr(mode, i64) for mode in modes])
    if "operandSegmentSizes" in names:
        sizes = [1] * count + [0] * (6 - count)
        found["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
    return found


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
@settings(max_examples=15)
@given(data=st.data())
def test_an_operation_is_inferred_or_refused(op: Any, data: st.DataObject) -> None:
    definition = op.get_irdl_definition().operands
    required = [kind for _, kind in definition if type(kind) is OperandDef]
    most = len(definition) if len(required) == len(definition) else len(definition) + 1
    count = data.draw(st.integers(len(required), min(most, 4)))
    if any(isinstance(kind, OptOperandDef) for _, kind in definition):
        count = min(count, len(definition))
    types = data.draw(st.lists(st.sampled_from(TYPES), min_size=count, max_size=count))
    modes = data.draw(st.lists(st.integers(-1, 3), max_size=2))
    values = test.TestOp(result_types=types).results
    made = op.create(
        operands=values,
        result_types=[INFERRED],
        properties=properties_of(op, modes, count),
    )
    try:
        (result,) = made.infer()
    except DiagnosticError as error:
        assert error.diagnostics
        return
    assert isinstance(result, Attribute)
    result.verify()


def test_there_are_operations() -> None:
    assert len(OPERATIONS) > 60
