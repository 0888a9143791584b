"""PTX that another compiler wrote: kernels of Triton, as it made them and as it makes them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tileas_xdsl.interpreters.ptx import load, run

DATA = Path(__file__).parent / "data"
ORDERS = [("eager", 0), ("lazy", 0), ("random", 1), ("random", 2)]
SHARED = {"add": 0, "softmax": 16, "matmul": 16384}
"""Return the bytes of dynamic shared memory that Triton requires at launch."""


@pytest.fixture(params=["stored", "made now"])
def text_of(request: pytest.FixtureRequest) -> Any:
    if request.param == "stored":
        return lambda name: (DATA / f"triton_{name}.ptx").read_text(encoding="utf-8")
    if find_spec("triton") is None:
        pytest.skip(
            "Triton is not installed: pip install 'tileas-xdsl[triton]' (Linux, x86-64); the texts "
            "that it made are tested"
        )
    return import_module("tests.interpreters.ptx.triton_kernels").ptx_of


def result(text: str, name: str, args: list[Any], grid: tuple[int, ...], order: Any) -> Any:
    module = load(text, f"{name}.ptx")
    (kernel,) = module.kernels.values()
    hidden = [0] * (len(kernel.parameters) - len(args))
    report = run(
        module,
        name,
        [*args, *hidden],
        grid,
        dynamic_shared=SHARED[name],
        order=order[0],
        seed=order[1],
        raise_on_findings=True,
    )
    assert report.finished
    return report.arrays


@pytest.mark.parametrize("order", ORDERS)
def test_vectors_are_added(text_of: Any, order: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 2500)).astype(np.float32)
    c = np.full(2500, np.nan, np.float32)
    found = result(text_of("add"), "add", [a, b, c, 2500], (3,), order)
    np.testing.assert_array_equal(found[2], a + b)


@pytest.mark.parametrize("order", ORDERS)
def test_rows_sum_to_one(text_of: Any, order: Any) -> None:
    x = np.random.default_rng(1).standard_normal((5, 1000)).astype(np.float32)
    y = np.full_like(x, np.nan)
    found = result(text_of("softmax"), "softmax", [x, y, 1000, 1000], (5,), order)
    exponentials = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    expected = exponentials / exponentials.sum(1, keepdims=True)
    np.testing.assert_allclose(found[1], expected, rtol=2e-6)


@pytest.mark.parametrize("order", ORDERS)
def test_matrices_are_multiplied(text_of: Any, order: Any) -> None:
    rng = np.random.default_rng(2)
    a = rng.standard_normal((128, 192)).astype(np.float16)
    b = rng.standard_normal((192, 64)).astype(np.float16)
    c = np.full((128, 64), np.nan, np.float32)
    text = text_of("matmul")
    assert "wgmma.mma_async" in text
    found = result(text, "matmul", [a, b, c, 128, 64, 192], (2, 1), order)
    np.testing.assert_allclose(found[2], a.astype(np.float64) @ b.astype(np.float64), atol=1e-4)
