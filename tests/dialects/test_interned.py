"""`interned`: equal attributes are one object, but for floats that are equal and differ."""

from __future__ import annotations

from math import copysign, isnan

import numpy as np
import pytest
from xdsl.dialects.builtin import FloatAttr, f16, f32, f64

from tileas_xdsl.dialects.interned import float_attr, integer_type, vector_of


@pytest.mark.parametrize("value", [0.1, -2.5, 1e-320, float("inf"), 3, np.float32(0.1)])
def test_a_float_attribute_is_that_of_xdsl_and_one_object(value: float) -> None:
    found = float_attr(value, f64)
    assert found == FloatAttr(value, f64)
    assert float_attr(value, f64) is found
    assert float_attr(value, f32) == FloatAttr(value, f32)


def test_zeros_keep_their_signs_and_what_is_no_number_stays_none() -> None:
    assert copysign(1, float_attr(-0.0, f16).value.data) == -1
    assert copysign(1, float_attr(0.0, f16).value.data) == 1
    assert isnan(float_attr(float("nan"), f32).value.data)


def test_types_are_one_object() -> None:
    assert vector_of(f32, 4) is vector_of(f32, 4)
    assert integer_type(8) is integer_type(8)
