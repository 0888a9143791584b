"""`tl.gemm` as instructions: exact products of whole numbers, in every form."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.assembling import needs_ptxas
from tests.transforms.lower_tl.by_buffers import compile_kernel
from tests.transforms.lower_tl.tl_products import (
    BY_FIRST_WARPS,
    BY_WARPGROUPS,
    BY_WARPS,
    TileProduct,
)
from tileas_xdsl.diagnostics.errors import DiagnosticError


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


@pytest.mark.sample(9)
@pytest.mark.parametrize("product", [*BY_WARPGROUPS, *BY_WARPS, *BY_FIRST_WARPS], ids=str)
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_warps_multiply(product: TileProduct, target: str) -> None:
    assert "mma.sync" in _check(product, target)


CHAIN = """
func.func @chain(%A: memref<64x64xf16>, %B: memref<64x{k}xf16>, %V: memref<{k}x24xf16>,
                 %O: memref<64x24xf32>) {{
  tl.kernel threads(128) {{
    %a = tl.alloc_shared : memref<64x64xf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<64x{k}xf16, #tl<space shared>>
    %v = tl.alloc_shared : memref<{k}x24xf16, #tl<space shared>>
    %s = tl.alloc_fragment : memref<64x{k}xf32, #tl<space fragment>>
    %p = tl.alloc_fragment : memref<64x{k}xf16, #tl<space fragment>>
    %o = tl.alloc_fragment : memref<64x24xf32, #tl<space fragment>>
    tl.copy %A to %a : memref<64x64xf16> to memref<64x64xf16, #tl<space shared>>
    tl.copy %B to %b : memref<64x{k}xf16> to memref<64x{k}xf16, #tl<space shared>>
    tl.copy %V to %v : memref<{k}x24xf16> to memref<{k}x24xf16, #tl<space shared>>
    tl.gemm %a, %b, %s {{clear}} : memref<64x64xf16, #tl<space shared>>,
      memref<64x{k}xf16, #tl<space shared>>, memref<64x{k}xf32, #tl<space fragment>>
    tl.copy %s to %p : memref<64x{k}xf32, #tl<space fragment>>
      to memref<64x{k}xf16, #tl<space fragment>>
    tl.gemm %p, %v, %o {{clear}} : memref<64x{k}xf16, #tl<space fragment>>,
      memref<{k}x24xf16, #tl<space shared>>, memref<64x24xf32, #tl<space fragment>>
    tl.copy %o to %O : memref<64x24xf32, #tl<space fragment>> to memref<64x24xf32>
  }}
  func.return
}}
"""


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("k", [8, 24])
def test_accumulators_are_operands_of_the_next_product(k: int, target: str) -> None:
    rng = np.random.default_rng(k)
    shapes = (64, 64), (64, k), (k, 24)
    a, b, v = (rng.integers(-2, 3, shape).astype(np.float16) for shape in shapes)
    wanted = a.astype(np.float32) @ b.astype(np.float32) @ v.astype(np.float32)
    found = compile_kernel(CHAIN.format(k=k), target=target).emulate(
        a, b, v, np.full((64, 24), 7, np.float32)
    )
    assert not found.findings
    np.testing.assert_array_equal(found.arrays[3], wanted)


@needs_ptxas
def test_nothing_is_spilled() -> None:
    products = BY_WARPGROUPS[4], BY_WARPGROUPS[10], BY_WARPS[1], BY_FIRST_WARPS[0]
    for product in products:
        assembled = compile_kernel(product.text).assemble()
        assert not assembled.spills


def test_rows_that_are_no_tiles_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="24x8 has no whole tiles of 16 rows"):
        compile_kernel(TileProduct(24, 8, 32).text)
