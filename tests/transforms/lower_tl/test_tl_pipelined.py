"""`tl.pipelined` buffer by buffer, by cp.async: whatever ends late, products are exact."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.assembling import needs_ptxas
from tests.transforms.lower_tl.by_buffers import compile_kernel
from tests.transforms.lower_tl.tl_pipelined import StaticProduct
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.diagnostics.emission import collecting_diagnostics

PRODUCTS = [
    StaticProduct(),
    StaticProduct(100, 72, 88, stages=2, b="kn"),
    StaticProduct(64, 64, 200, element="bf16", bk=32, stages=4),
    StaticProduct(70, 64, 128, bk=128, stages=2),
    StaticProduct(128, 256, 64, bm=128, bn=128, bk=32, threads=256),
    StaticProduct(64, 64, 64, element="f32", bk=16),
    StaticProduct(64, 64, 128, batched=True),
    StaticProduct(64, 64, 100),
    StaticProduct(66, 63, 65, b="kn", stages=2),
]


def _check(product: StaticProduct, target: str, order: str = "eager") -> CompiledKernel:
    arguments = product.arguments(np.random.default_rng(2))
    wanted = product.expected(*arguments)
    kernel = compile_kernel(product.text, target=target)
    found = kernel.emulate(*arguments, grid=product.grid, order=order, seed=3)
    assert not found.findings
    np.testing.assert_array_equal(np.asarray(found.arrays[2], np.float64), wanted)
    return kernel


@pytest.mark.sample(4)
@pytest.mark.parametrize("product", PRODUCTS, ids=str)
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_copies_run_ahead(product: StaticProduct, target: str) -> None:
    order = "lazy" if target == "sm_90a" else "random"
    assert "cp.async.wait_group" in _check(product, target, order).ptx


def test_a_tile_that_is_a_part_of_its_buffer_is_copied_in_its_turn() -> None:
    """The near miss: offsets of the target that are zero may be stated, others move the tile."""
    kept, whole = "memref<65x64xf16, #tl<space shared>>", StaticProduct().text
    allocated = "%a = tl.alloc_shared : memref<"
    part = whole.replace(f"{allocated}64x64", f"{allocated}65x64")
    part = part.replace("to %a :", "to %a[%one, %zero] extents(64, 64) :")
    part = part.replace("f16> to memref<64x64xf16, #tl<space shared>>", f"f16> to {kept}", 1)
    part = part.replace("tl.gemm %a, %b", "tl.gemm %b, %b")
    store = f"    tl.copy %a to %A : {kept} to memref<128x128xf16>\n    tl.copy %c to"
    loads = [
        compile_kernel(text).ptx.count("cp.async.cg")
        for text in (whole, part.replace("    tl.copy %c to", store))
    ]
    assert loads[1] == loads[0] // 2


def test_stages_that_do_not_fit_are_given_up() -> None:
    """60 stages of 8192 bytes are asked for; a block has 232,448."""
    with collecting_diagnostics() as log:
        kernel = _check(StaticProduct(64, 64, 128, bk=32, stages=60), "sm_90a", "lazy")
    (remark,) = log.diagnostics
    assert "'tl.pipelined' op has 28 stages in place of 60" in str(remark)
    assert "a stage of a, b takes 8192 bytes" in str(remark)
    assert 26 * 8192 < kernel.abi.shared_bytes <= 232448


@needs_ptxas
def test_nothing_is_spilled() -> None:
    for product in (PRODUCTS[0], PRODUCTS[4]):
        assert not compile_kernel(product.text).assemble().spills
