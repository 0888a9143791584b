"""`tl.gemm` as instructions: exact products of whole numbers, in every form."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.assembling import needs_ptxas
from tests.transforms.lower_tl.tl_products import TileProduct
from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.diagnostics.emission import DiagnosticError

BY_WARPGROUPS = [
    TileProduct(),
    TileProduct(clears=True, turns="NT"),
    TileProduct(turns="TN", element="bf16"),
    TileProduct(turns="TT", n=32),
    TileProduct(128, 96, 32, threads=256, policy="full_row"),
    TileProduct(64, 128, 64, threads=256, policy="full_col", turns="NT"),
    TileProduct(128, 64, 64, threads=128),
    TileProduct(element="f8E4M3FN", turns="NT", n=40),
    TileProduct(element="i8", sums="i32", turns="NT"),
    TileProduct(a_in="fragment", turns="NT"),
    TileProduct(sums="f16", turns="NT"),
]
"""Where sm_90a has wgmma."""

BY_WARPS = [
    TileProduct(32, 16, 32, threads=32),
    TileProduct(32, 64, 48, threads=64, turns="TN", policy="full_row"),
    TileProduct(16, 128, 32, element="bf16", threads=128, turns="NT", policy="full_col"),
    TileProduct(32, 32, 16, element="f32", threads=64, turns="NT"),
    TileProduct(32, 32, 32, element="f32", threads=64, turns="TN"),
    TileProduct(32, 32, 64, element="f8E5M2", threads=64, turns="TT"),
    TileProduct(32, 32, 64, element="i8", sums="i32", threads=64, turns="NT", clears=True),
    TileProduct(32, 32, 32, threads=64, a_in="fragment"),
    TileProduct(32, 32, 32, threads=64, sums="f16"),
]


def _check(product: TileProduct, target: str) -> str:
    arguments = product.arguments(np.random.default_rng(5))
    wanted = product.expected(*arguments)
    kernel = compile_kernel(product.text, target=target)
    found = kernel.emulate(*arguments)
    assert not found.findings
    np.testing.assert_array_equal(np.asarray(found.arrays[2], np.float64), wanted)
    simulated = kernel.simulate(*product.arguments(np.random.default_rng(5)))
    np.testing.assert_array_equal(np.asarray(simulated.arrays[2], np.float64), wanted)
    return kernel.ptx


@pytest.mark.sample(6)
@pytest.mark.parametrize("product", BY_WARPGROUPS, ids=str)
def test_warpgroups_multiply_on_hopper(product: TileProduct) -> None:
    assert "wgmma.mma_async" in _check(product, "sm_90a")


@pytest.mark.sample(5)
@pytest.mark.parametrize("product", BY_WARPS, ids=str)
def test_warps_multiply_what_is_too_small(product: TileProduct) -> None:
    assert "mma.sync" in _check(product, "sm_90a")


@pytest.mark.sample(4)
@pytest.mark.parametrize("product", BY_WARPGROUPS[:6] + BY_WARPS[-1:], ids=str)
def test_warps_multiply_on_blackwell(product: TileProduct) -> None:
    assert "mma.sync" in _check(product, "sm_100a")


@needs_ptxas
def test_nothing_is_spilled() -> None:
    for product in (BY_WARPGROUPS[4], BY_WARPGROUPS[10], BY_WARPS[1]):
        assembled = compile_kernel(product.text).assemble()
        assert not assembled.spills


def test_rows_that_no_warps_share_evenly_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="cannot be spread evenly over 4 warps"):
        compile_kernel(TileProduct(24, 8, 32).text)
