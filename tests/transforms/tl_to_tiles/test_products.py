"""Every form of `tl.gemm` by way of tiles: exact products of whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.assembling import needs_ptxas
from tests.transforms.lower_tl.tl_products import (
    BY_FIRST_WARPS,
    BY_WARPGROUPS,
    BY_WARPS,
    TileProduct,
)
from tileas_xdsl.compilation.levels import BUFFERS_BY_TILES
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES


def _check(product: TileProduct, target: str) -> str:
    arguments = product.arguments(np.random.default_rng(5))
    kernel = compile(product.text, target)
    assert [*kernel.passes] == [*PIPELINES[BUFFERS_BY_TILES].passes]
    for run in (kernel.emulate, kernel.simulate):
        found = run(*arguments)
        wanted = product.expected(*arguments)
        np.testing.assert_array_equal(np.asarray(found.arrays[2], np.float64), wanted)
    return kernel.ptx


@pytest.mark.sample(8)
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("product", [*BY_WARPS, *BY_FIRST_WARPS], ids=str)
def test_small_products(product: TileProduct, target: str) -> None:
    _check(product, target)


@pytest.mark.sample(7)
@pytest.mark.parametrize("product", BY_WARPGROUPS, ids=str)
def test_products_of_64_rows(product: TileProduct) -> None:
    unit = "mma.sync" if product.sums == "f16" else "wgmma.mma_async"
    assert unit in _check(product, "sm_90a")
    _check(product, "sm_100a")


@needs_ptxas
@pytest.mark.parametrize("product", [BY_WARPGROUPS[4], BY_WARPGROUPS[10], BY_WARPS[1]], ids=str)
def test_nothing_is_spilled(product: TileProduct) -> None:
    assert not compile(product.text, "sm_90a").assemble().spills
