# pyright: basic
"""Products whose operands are exchanged a range of K at a time, for want of shared memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from xdsl.dialects import func

import tileas_xdsl as tileas
from tileas_xdsl.threads.dot.operands import in_registers as register_operands
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.transforms.conversion import convert_tileas_to_cute_nvgpu as lowering

ct = pytest.importorskip("cuda.tile")

LIMIT = 2048


@pytest.fixture(autouse=True)
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every exchange has two kilobytes, and no operand is small enough for registers."""
    lower = lowering.lower_kernel

    def lower_within_limit(plan: KernelPlan) -> func.FuncOp:
        return lower(replace(plan, is_thrifty=True, exchange_limit=LIMIT))

    monkeypatch.setattr(lowering, "lower_kernel", lower_within_limit)
    monkeypatch.setattr(register_operands, "SMALL_BITS", 0)


@ct.kernel
def chained(a, b, out, m: ct.Constant[int], k: ct.Constant[int], n: ct.Constant[int]):
    """Both operands of the products are computed; they are multiplied twice."""
    x, y = ct.load(a, (0, 0), (m, k)) * 2, ct.load(b, (0, 0), (k, n)) * 3
    total = ct.zeros((m, n), out.dtype)
    for _ in range(2):
        total = ct.mma(x, y, total)
        x, y = x + 1, y * 2
    ct.store(out, (0, 0), total)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize(
    ("element", "sizes", "instruction"),
    [(np.float64, (16, 32, 32), "mma.sync"), (np.float32, (32, 32, 16), "fma.rn.f32")],
    ids=["mma.sync", "fma"],
)
def test_ranges_take_turns_with_the_product(
    element: type, sizes: tuple[int, int, int], instruction: str, target: str
) -> None:
    rng = np.random.default_rng(19)
    m, k, n = sizes
    a, b = (rng.integers(-4, 5, shape).astype(element) for shape in ((m, k), (k, n)))
    out = np.zeros((m, n), element)
    made = tileas.compile(chained, a, b, out, m, k, n, target=target)
    assert instruction in made.ptx
    assert made.abi.shared_bytes <= 4 * LIMIT
    expected = 6 * a @ b + (2 * a + 1) @ (6 * b)
    for order in ("lazy", "random"):
        found = made.emulate(a, b, out, m, k, n, grid=1, order=order)
        assert [str(finding) for finding in found.findings] == []
        np.testing.assert_array_equal(found.arrays[2], expected)
