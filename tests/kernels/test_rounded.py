"""Bounds of rounding: arithmetic in f32 stays inside, and they are not far from what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from kernels.elements import ELEMENTS
from kernels.rounded import Rounded, element_of, rounded

SHAPE = (40, 50)

FORMULAS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda a, b: a + b, lambda a, b: a + b),
    "difference": (lambda a, b: 1.0 - (a - b), lambda a, b: 1.0 - (a - b)),
    "product": (lambda a, b: -a * b * a, lambda a, b: -a * b * a),
    "quotient": (lambda a, b: (a + 0.1) / (b + 3.0), lambda a, b: (a + 0.1) / (b + 3.0)),
    "exp": (lambda a, b: (a - b).exp(), lambda a, b: np.exp(a - b)),
    "exp2": (lambda a, b: (a - b).exp2(), lambda a, b: np.exp2(a - b)),
    "log": (lambda a, b: (a * a + 1.0).log(), lambda a, b: np.log(a * a + np.float32(1))),
    "tanh": (lambda a, b: (a * b).tanh(), lambda a, b: np.tanh(a * b)),
    "rsqrt": (
        lambda a, b: (b * b + 1.0).rsqrt(),
        lambda a, b: 1 / np.sqrt(b * b + np.float32(1)),
    ),
    "row": (
        lambda a, b: (a * b).sum(axis=1) / 3.0,
        lambda a, b: np.sum(a * b, axis=1, keepdims=True, dtype=np.float32) / np.float32(3),
    ),
    "largest": (
        lambda a, b: (a / 3.0).max(axis=0) * b,
        lambda a, b: np.max(a / np.float32(3), axis=0, keepdims=True) * b,
    ),
}
"""On numbers with bounds, and on those of numpy in f32."""


@pytest.mark.parametrize("name", FORMULAS)
def test_what_f32_computes_is_within_the_bound(name: str) -> None:
    rng = np.random.default_rng(len(name))
    a, b = (rng.uniform(0.1, 2, SHAPE).astype(np.float32) for _ in range(2))
    bounded, plain = FORMULAS[name]
    bound: Rounded = bounded(rounded(a), rounded(b))
    found = plain(a, b)
    assert found.dtype == np.float32
    exact = plain(a.astype(np.float64), b.astype(np.float64))
    np.testing.assert_allclose(bound.value, exact, rtol=1e-6)
    errors = np.abs(found.astype(np.float64) - bound.value)
    assert (errors <= bound.error).all()
    assert np.max(bound.error) < 1e-4


def test_a_wrong_result_is_outside() -> None:
    a = np.random.default_rng(0).uniform(0.1, 2, SHAPE).astype(np.float32)
    bound = (rounded(a) * rounded(a)).sum(axis=1)
    less = np.sum(a[:, 1:].astype(np.float64) ** 2, axis=1, keepdims=True)
    assert (np.abs(less - bound.value) > bound.error).all()


def test_constants_are_those_of_f32() -> None:
    assert rounded(0.5).error == 0
    assert 0 < rounded(0.1).error < 2.0**-27


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_results_are_rounded_to_their_elements(name: str) -> None:
    element = ELEMENTS[name]
    a = np.random.default_rng(1).standard_normal(SHAPE).astype(np.float32)
    unset = element.unset(np.random.default_rng(2), SHAPE)
    reference = rounded(a).reference(unset)
    errors = np.abs(a.astype(element.dtype).astype(np.float64) - reference.value)
    assert (errors <= reference.bound).all()
    assert np.max(errors / reference.bound) > 0.5


def test_elements_are_found_by_arrays() -> None:
    assert element_of(np.zeros(3, ml_dtypes.bfloat16)) is ELEMENTS["bf16"]
    with pytest.raises(ValueError, match="not enough values"):
        element_of(np.zeros(3, np.complex64))
