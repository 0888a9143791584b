"""Plain data as attributes: what they are read as is what they were made of."""

from typing import Any

import pytest
from xdsl.dialects.builtin import UnitAttr

from tileas_xdsl.dialects.plain_attributes import plain_attribute, plain_data


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (7, "7 : i64"),
        (True, "true"),
        ([], "[]"),
        ([1, -2], "array<i64: 1, -2>"),
        ([[1], ["a"]], '[array<i64: 1>, ["a"]]'),
        ([True, 1], "[true, 1 : i64]"),
        ({"n": 0, "of": [{"is": False}]}, "{n = 0 : i64, of = [{is = false}]}"),
    ],
)
def test_data_and_attributes(data: Any, text: str) -> None:
    attribute = plain_attribute(data)
    assert str(attribute) == text
    found = plain_data(attribute)
    assert found == data
    assert type(found) is type(data)


def test_other_attributes_are_refused() -> None:
    with pytest.raises(TypeError, match="unit is no plain data"):
        plain_data(UnitAttr())
