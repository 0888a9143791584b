"""Constants of tiles are compared as bytes."""

from typing import Any

import pytest
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, f16, f32, i1, i8, i32

from tileas_xdsl.dialects.dense_elements import is_splat


@pytest.mark.parametrize(
    ("element", "values", "wanted"),
    [
        (f32, [1.5, 1.5, 1.5], True),
        (f32, [1.5, 1.5, 2.5], False),
        (f32, [0.0, -0.0], False),  # equal numbers, other bits
        (f16, [float("nan"), float("nan")], True),
        (i8, [7], True),
        (i1, [1, 1, 1, 0], False),
        (i32, [0x01010101, 0x01010101], True),
        (i32, [0x01020102, 0x02010201], False),
    ],
)
def test_a_splat_has_the_same_bits_everywhere(element: Any, values: Any, wanted: bool) -> None:
    type_ = TensorType(element, [len(values)])
    assert is_splat(DenseIntOrFPElementsAttr.from_list(type_, values)) is wanted


def test_no_elements_are_none() -> None:
    assert not is_splat(DenseIntOrFPElementsAttr.from_list(TensorType(f32, [0]), []))
