"""Plain data (`target/plain_data.py`) as attributes of operations.

{"axis": 0, "steps": ["block x"], "equal": [0]}
{axis = 0 : i64, steps = ["block x"], equal = array<i64: 0>}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute


def plain_attribute(data: Any) -> Attribute:
    """Return dictionaries, lists, text, numbers and booleans as an attribute."""
    match data:
        case bool():
            return IntegerAttr(int(data), i1)
        case int():
            return IntegerAttr(data, i64)
        case str():
            return StringAttr(data)
        case Mapping():
            items = cast("Mapping[str, Any]", data).items()
            return DictionaryAttr({name: plain_attribute(each) for name, each in items})
        case _:
            return _list_attribute(data)


def _list_attribute(data: Sequence[Any]) -> Attribute:
    if data and all(type(each) is int for each in data):
        return DenseArrayBase.from_list(i64, list(data))
    return ArrayAttr([plain_attribute(each) for each in data])


def plain_data(attribute: Attribute) -> Any:
    """Return what `plain_attribute` made an attribute of, or who wrote it by hand."""
    match attribute:
        case IntegerAttr():
            number = cast("IntegerAttr[IntegerType]", attribute)
            return bool(number.value.data) if number.type == i1 else number.value.data
        case StringAttr():
            return attribute.data
        case DictionaryAttr():
            return {name: plain_data(each) for name, each in attribute.data.items()}
        case DenseArrayBase():
            return [int(number) for number in cast("Any", attribute).get_values()]
        case ArrayAttr():
            return [plain_data(each) for each in attribute]
        case _:
            raise TypeError(f"{attribute} is no plain data")
