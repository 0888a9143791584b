"""Products that run on while the operand of the next one is computed."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import tileas_xdsl as tileas
from kernels.cutile.matmul import matmul, matmul_tf32
from kernels.elements import ELEMENTS
from tests.support.orders import in_turns
from tests.threads.pipeline.late_kernels import (
    bytes_matmul,
    few_rows_matmul,
    scaled_rows_matmul,
    unpacked_matmul,
)
from tileas_xdsl.interpreters.ptx.execution.state import Order

SIGNATURE = "a: f16[?, ?%8], b: u8[?, ?%16], c: f32[?, ?%4], rounds: i32"


def test_a_product_is_waited_for_behind_the_store_of_the_next_operand() -> None:
    text = tileas.compile(unpacked_matmul, signature=SIGNATURE, target="sm_90a").ptx
    wait, product = text.index("wgmma.wait_group"), text.index("wgmma.mma_async")
    store = text.rindex("st.shared", 0, product)
    assert text.index("ld.shared") < store < wait
    assert text[store:product].count("bar.sync") == 1


def test_a_in_registers_is_computed_behind_the_wait_for_the_product_that_reads_it() -> None:
    signature = "a: f32[?, ?%4], b: f32[?, ?%4], c: f32[?, ?%4], tm=128, tn=128, tk=32"
    text = tileas.compile(matmul_tf32, signature=signature, target="sm_90a").ptx
    wait, product = text.index("wgmma.wait_group"), text.index("wgmma.mma_async")
    assert text.rindex("st.shared", 0, product) < wait < text.index("ldmatrix") < product
    assert text.count("wgmma.wait_group") == 2
    between = text[product : text.rindex("wgmma.wait_group")]
    assert "mbarrier.arrive" not in between


def test_what_is_loaded_is_waited_for_at_once() -> None:
    """Nothing is computed meanwhile, and the other warpgroup multiplies."""
    halves = "f16[?, ?%8]"
    signature = f"a: {halves}, b: {halves}, c: {halves}, tm=128, tn=128, tk=64"
    text = tileas.compile(matmul, signature=signature, target="sm_90a").ptx
    assert text.count("wgmma.wait_group") == 1


def test_of_promoted_sums_the_last_part_runs_on() -> None:
    """Its registers are those of the parts before: ptxas would wait for a product that it moves."""
    signature = "a: e4m3[?, ?%16], b: e4m3[?, ?%16], c: f32[?, ?%4], rounds: i32"
    text = tileas.compile(bytes_matmul, signature=signature, target="sm_90a").ptx
    store, product = text.index("stmatrix"), text.index("wgmma.mma_async")
    assert store < text.index("wgmma.wait_group") < product
    assert text[store:product].count("bar.sync") == 1
    last = text.rindex("wgmma.mma_async", 0, text.rindex("wgmma.wait_group"))
    first = text[product:].split("{")[1].split(",")[0]
    assert text[last:].split("{")[1].split(",")[0] == first


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


@pytest.mark.parametrize(("rounds", "order"), in_turns([(0,), (1,), (3,), (6,)]))
def test_promoted_sums_are_right(rounds: int, order: Order) -> None:
    rng, kind = np.random.default_rng(rounds), ELEMENTS["e4m3"]
    a, b = kind.random(rng, (128, 64 * 6)), kind.random(rng, (64 * 6, 128))
    c = np.full((128, 128), np.nan, np.float32)
    kernel = tileas.compile(bytes_matmul, a, b, c, rounds, target="sm_90a")
    found = kernel.emulate(a, b, c, rounds, grid=1, order=order)
    assert found.findings == []
    deep = 64 * rounds
    expected = a[:, :deep].astype(np.float64) @ b[:deep].astype(np.float64)
    np.testing.assert_allclose(found.arrays[2], expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("order", ["eager", "lazy", "drift"])
def test_what_threads_transpose_is_stored_before(order: Order) -> None:
    """Rows of 127 bytes are loaded by threads, which store them and read their transpose."""
    rng, kind = np.random.default_rng(0), ELEMENTS["e4m3"]
    a, b = kind.random(rng, (128, 64 * 3)), kind.random(rng, (64 * 3, 127))
    c = np.full((128, 127), np.nan, np.float32)
    kernel = tileas.compile(bytes_matmul, a, b, c, 3, target="sm_90a")
    found = kernel.emulate(a, b, c, 3, grid=1, order=order)
    assert found.findings == []
    expected = kernel.evaluate(a, b, c, 3, grid=(1, 1, 1)).arrays[2]
    np.testing.assert_allclose(found.arrays[2], expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("kernel", "loads"), [(few_rows_matmul, "ld.shared"), (scaled_rows_matmul, "ldmatrix")]
)
def test_what_a_in_registers_is_computed_of_is_loaded_while_a_product_runs(
    kernel: Any, loads: str
) -> None:
    signature = "a: f16[?, ?%8], b: i8[?, ?%16], c: f32[?, ?%4], rounds: i32, columns=64"
    usual = tileas.compile(kernel, signature=signature, target="sm_90a")
    text = usual.divided(1).ptx
    loop = text[text.index(loads) : text.rindex("wgmma.commit_group")]
    before, behind = loop.split("wgmma.wait_group.sync.aligned 0;")
    assert "sub.rn.f16x2" not in before
    assert loads not in behind
    assert behind.index("mbarrier.arrive") < behind.index("sub.rn.f16x2")
    assert behind.index("sub.rn.f16x2") < behind.index("wgmma.mma_async")
    assert "st.shared" not in loop
    assert " bra " not in behind
    # CTAs that share a multiprocessor multiply meanwhile.
    assert usual.ptx.index("sub.rn.f16x2") < usual.ptx.index("wgmma.wait_group")


@pytest.mark.parametrize(
    ("is_by_rows", "columns", "rounds", "order"),
    in_turns([*product([True, False], [64], [0, 10]), (False, 128, 10)], ("drift", "lazy")),
)
def test_products_of_a_in_registers_are_right(
    is_by_rows: bool, columns: int, rounds: int, order: Order
) -> None:
    """Stages wrap around behind the eighth."""
    rng, deep = np.random.default_rng(rounds), 64 * rounds
    a = rng.standard_normal((16, 64 * 10)).astype(np.float16)
    b = rng.integers(-128, 128, (columns, 64 * 10), np.int8)
    stored = b if is_by_rows else np.ascontiguousarray(b.T)
    c = np.full((16, columns), np.nan, np.float32)
    made: Any = few_rows_matmul if is_by_rows else scaled_rows_matmul
    kernel = tileas.compile(made, a, stored, c, rounds, columns, target="sm_90a").divided(1)
    assert kernel.abi.runs_at_once
    found = kernel.emulate(a, stored, c, rounds, columns, grid=1, order=order)
    assert found.findings == []
    expected = a[:, :deep].astype(np.float64) @ b.T[:deep].astype(np.float64)
    expected *= 1 if is_by_rows else 0.5
    np.testing.assert_allclose(found.arrays[2], expected, rtol=1e-4, atol=1e-2)
