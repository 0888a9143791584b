# pyright: basic
"""Kernels that reuse all dead shared memory, as where a block has too little."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import tileas_xdsl as tileas
from tests.threads.dot.operands import computed_operands as kernels
from tileas_xdsl.pipelines import PIPELINES, with_persistence
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan

RNG = np.random.default_rng(5)
A, B = (RNG.standard_normal((64, 64)).astype(np.float16) for _ in range(2))
EXACT = A.astype(np.float64), B.astype(np.float64)


@pytest.fixture
def without_reuse(monkeypatch: pytest.MonkeyPatch) -> int:
    """The bytes of `chained_b` as it is compiled first; from then on all kernels reuse memory."""
    first = compiled(kernels.chained_b, np.zeros((64, 64), np.float32))
    of = KernelPlan.of

    def thrifty(*arguments, **options) -> KernelPlan:
        return of(*arguments, **{**options, "is_thrifty": True})

    monkeypatch.setattr(KernelPlan, "of", staticmethod(thrifty))
    return first.abi.shared_bytes


# A loop over tile blocks would load the next ones while the memory of this one's is reused.
PASSES = (
    *PIPELINES["cudatile-to-tileas"].passes,
    *with_persistence(PIPELINES["tileas-to-ptx"].passes, "off"),
)


def compiled(kernel, out):
    return tileas.compile(kernel, A, B, out, 64, 64, passes=PASSES)


@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        (kernels.chained_b, lambda a, b: a.T @ (a @ b)),
        # its exchange must not take what TMA has loaded the second B into
        (kernels.chained_reshaped, lambda a, b: (a @ b).reshape(128, 32) @ b[:32]),
    ],
    ids=["b", "reshaped"],
)
@pytest.mark.parametrize("order", ["lazy", "eager"])
def test_nothing_alive_is_overwritten(without_reuse: int, kernel, reference, order) -> None:
    wanted = reference(*EXACT)
    out = np.full(wanted.shape, np.nan, np.float32)
    code = compiled(kernel, out)
    assert kernel is not kernels.chained_b or code.abi.shared_bytes < without_reuse
    found = code.emulate(A, B, out, 64, 64, order=order)
    assert [str(finding) for finding in found.findings] == []
    assert np.abs(found.arrays[2] - wanted).max() < 1e-2 * np.abs(wanted).max()


@pytest.mark.usefixtures("without_reuse")
@pytest.mark.parametrize("order", ["lazy", "eager"])
def test_operands_of_products_whose_sums_nobody_has_read_are_kept(order) -> None:
    """On tcgen05 threads wait where sums are read, behind the second product."""
    out = np.full((64, 64), np.nan, np.float32)
    code = tileas.compile(kernels.added, A, B, out, 64, 64, target="sm_100a")
    found = code.emulate(A, B, out, 64, 64, order=order)
    assert [str(finding) for finding in found.findings] == []
    a, b = EXACT
    assert np.abs(found.arrays[2] - a @ b - b @ a).max() < 1e-2 * 64
