"""Products that run on while the operand of the next one is computed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import tileas_xdsl as tileas
from kernels.cutile.matmul import matmul
from tests.threads.pipeline.late_kernels import unpacked_matmul

SIGNATURE = "a: f16[?, ?%8], b: u8[?, ?%16], c: f32[?, ?%4], rounds: i32"


def test_a_product_is_waited_for_in_front_of_the_store_of_the_next_operand() -> None:
    text = tileas.compile(unpacked_matmul, signature=SIGNATURE, target="sm_90a").ptx
    wait, product = text.index("wgmma.wait_group"), text.index("wgmma.mma_async")
    assert text.index("ld.shared") < wait < text.rindex("st.shared", 0, product)
    assert text.count("wgmma.wait_group") == 2
    between = text[product : text.rindex("wgmma.wait_group")]
    assert "mbarrier.arrive" not in between


def test_what_is_loaded_is_waited_for_at_once() -> None:
    """Nothing is computed meanwhile, and the other warpgroup multiplies."""
    halves = "f16[?, ?%8]"
    signature = f"a: {halves}, b: {halves}, c: {halves}, tm=128, tn=128, tk=64"
    text = tileas.compile(matmul, signature=signature, target="sm_90a").ptx
    assert text.count("wgmma.wait_group") == 1


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 7])
def test_any_number_of_rounds_is_right(rounds: int) -> None:
    """Stages wrap around behind the fourth; without a round there is nothing to release."""
    rng = np.random.default_rng(rounds)
    a = rng.standard_normal((64, 64 * 8)).astype(np.float16)
    b = rng.integers(0, 256, (64 * 8, 32), np.uint8)
    c = np.full((64, 64), np.nan, np.float32)
    kernel = tileas.compile(unpacked_matmul, a, b, c, rounds, target="sm_90a")
    found = kernel.emulate(a, b, c, rounds, grid=1)
    assert found.findings == []
    weights = np.concatenate([b & 15, b >> 4], axis=1).astype(np.float64)
    expected = a[:, : 64 * rounds].astype(np.float64) @ weights[: 64 * rounds]
    np.testing.assert_allclose(found.arrays[2], expected, rtol=1e-4, atol=1e-2)
