"""Scales that threads read beside products come in the stage of the operands."""

from __future__ import annotations

import pytest

from kernels.cutile import emulated
from kernels.cutile.quantized_matmul import block_scaled_problem
from tileas_xdsl.interpreters.ptx.execution.state import Order

PROBLEM = block_scaled_problem((136, 144, 192), (128, 64), 64)
"""Three rounds, the last tiles of rows and columns partly filled; no row of scales is for TMA."""


def test_threads_that_multiply_load_nothing_and_fence_nothing() -> None:
    ptx = PROBLEM.compiled("sm_90a").ptx
    round_, _ = ptx.split("wgmma.fence", 1)
    assert "ld.global" not in ptx
    assert "cp.async.ca.shared.global" in ptx
    assert "fence.proxy.async" not in round_
    assert "ld.shared" in round_[round_.rindex("mbarrier.try_wait") :]


@pytest.mark.parametrize("order", ["eager", "lazy", "random", "drift"])
def test_any_order_is_right(order: Order) -> None:
    kernel = PROBLEM.compiled("sm_90a")
    assert emulated(PROBLEM, kernel, order=order, seed=3).is_right
