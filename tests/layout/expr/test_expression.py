"""Numbers that run time knows: what is simplified, what is refused, and what they come to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileas_xdsl.layout import Layout, LayoutError, coalesce, composition, logical_divide
from tileas_xdsl.layout.expr.expression import (
    EVALUATE,
    BinaryExpression,
    Variable,
    compute,
    evaluate,
    quotient,
    remainder,
)
from tileas_xdsl.layout.output.text import parse_layout_type, parse_tile_type, parse_tuple_type

M = Variable(key="M", is_natural=True)
N = Variable(divisor=8, key="N", is_natural=True)
WIDE = Variable(64, key="wide")
numbers = st.one_of(st.integers(-9, 9), st.sampled_from([M, N, WIDE]))
VALUES = {"M": 13, "N": 24, "wide": -7}


def value_of(unknown: Variable) -> int:
    return VALUES[unknown.key]


@given(st.sampled_from(sorted(EVALUATE)), numbers, numbers, numbers)
def test_simplified_expressions_have_the_value_of_the_operation(
    operation: str, a: Any, b: Any, c: Any
) -> None:
    x = compute("add", compute("mul", a, c), b)
    values = [evaluate(x, value_of), evaluate(b, value_of)]
    divides = operation in ("floordiv", "floormod", "ceildiv", "quotient", "remainder")
    if (operation in ("shl", "shr") and values[1] < 0) or (divides and values[1] == 0):
        return
    result = compute(operation, x, b)
    found = evaluate(result, value_of)
    assert found == EVALUATE[operation](*values)
    if isinstance(result, BinaryExpression):
        assert found % result.divisor == 0
        assert found >= 0 or not result.is_natural


def test_an_unknown_number_decides_nothing() -> None:
    for question in (lambda: bool(M), lambda: M < 4, lambda: M <= 4, lambda: max(M, 2)):
        with pytest.raises(LayoutError, match="at run time only"):
            question()


def test_division_by_zero_is_refused() -> None:
    for divide in (quotient, remainder):
        with pytest.raises(LayoutError, match="divided by zero"):
            divide(M, 0)
        with pytest.raises(LayoutError, match="divided by zero"):
            divide(4, 0)


def test_expressions_print_as_dynamic_leaves() -> None:
    assert [str(x) for x in (M, N, WIDE, WIDE * 8, M + N)] == [
        "?", "?{div=8}", "?{i64}", "?{i64 div=8}", "?",
    ]  # fmt: skip


def test_layouts_with_unknown_numbers() -> None:
    layout = Layout((M, 8), (1, M))
    assert str(coalesce(layout)) == "?{div=8}:1"
    assert str(logical_divide(layout, (4, 2))) == "((4,?),(2,4)):((1,4),(?,?{div=2}))"
    with pytest.raises(LayoutError, match="at run time only"):
        composition(Layout((M, 8), (1, N)), Layout(2, 4))
    assert evaluate(layout(3, 2), value_of) == 3 + 2 * 13
    assert evaluate(Layout((3, M), (1, 3))(N), value_of) == 24
    assert evaluate(Layout((M, 8), (2, 100))(30), value_of) == Layout((13, 8), (2, 100))(30)


@given(st.integers(-40, 40))
def test_negative_indices_mirror(index: int) -> None:
    layout = Layout((3, 5), (2, 7))
    unknown = layout(Variable(key="i"))
    assert evaluate(unknown, lambda _: index) == layout(index)


@pytest.mark.parametrize(
    "text",
    ["(?,4):(?{i64 div=8},1)", "S<3,4,3> o ? o (8,?):(64,1)", "(4,2):(1/2@0,?@1@0)", "?:0"],
)
def test_types_of_layouts_round_trip(text: str) -> None:
    assert str(parse_layout_type(text)) == text


def test_types_of_tuples_and_tiles() -> None:
    assert parse_tuple_type("(1,(_,?))", underscores=True) == (1, (None, Variable()))
    assert parse_tile_type("[4:1;_;(2,?):(1,2)]") == (
        Layout(4, 1), None, Layout((2, Variable()), (1, 2)),
    )  # fmt: skip
    for text in ("(1,_)", "(1", "1/2"):
        with pytest.raises(LayoutError):
            parse_tuple_type(text)
