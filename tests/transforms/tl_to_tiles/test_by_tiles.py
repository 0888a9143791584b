"""`tl` kernels by way of tiles: agents, TMA and tensor memory, and which kernels are not."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kernels import tl
from kernels.kernel import worst_deviation
from tests.transforms.lower_tl.tl_pipelined import StaticProduct
from tileas_xdsl.compilation.levels import BUFFERS, BUFFERS_BY_TILES
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

TILES = PIPELINES[BUFFERS_BY_TILES].passes


STORE = """%w = arith.maximumf %v, %none : f32
      memref.store %w, %c[%i, %j] : memref<64x64xf32, #tl<space fragment>>"""

STORE_UNDER_A_CONDITION = """%is_negative = arith.cmpf olt, %v, %none : f32
      scf.if %is_negative {
        memref.store %none, %c[%i, %j] : memref<64x64xf32, #tl<space fragment>>
      }"""


def product(rows: str, columns: str = "128") -> str:
    """C = relu(A B) of arrays with `rows` rows of `columns` elements, in tiles of 64x64x32."""
    a, b, c = (f"memref<{rows}x{columns}xf16>" for _ in "abc")
    return f"""
func.func @product(%A: {a}, %B: {b}, %C: {c}) {{
  %zero = arith.constant 0 : index
  %step = arith.constant 32 : index
  %end = arith.constant 128 : index
  tl.kernel (%bx, %by) in (2, 2) threads(128) {{
    %none = arith.constant 0.0 : f32
    %bm = arith.constant 64 : index
    %y = arith.muli %by, %bm : index
    %x = arith.muli %bx, %bm : index
    %a = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<32x64xf16, #tl<space shared>>
    %c = tl.alloc_fragment : memref<64x64xf32, #tl<space fragment>>
    tl.fill %c, %none : memref<64x64xf32, #tl<space fragment>>
    tl.pipelined %k = %zero to %end step %step stages(3) {{
      tl.copy %A[%y, %k] to %a : {a} to memref<64x32xf16, #tl<space shared>>
      tl.copy %B[%k, %x] to %b : {b} to memref<32x64xf16, #tl<space shared>>
      tl.gemm %a, %b, %c : memref<64x32xf16, #tl<space shared>>, memref<32x64xf16, #tl<space shared>>, memref<64x64xf32, #tl<space fragment>>
    }}
    tl.parallel (%i, %j) in (64, 64) {{
      %v = memref.load %c[%i, %j] : memref<64x64xf32, #tl<space fragment>>
      {STORE}
    }}
    tl.copy %c to %C[%y, %x] : memref<64x64xf32, #tl<space fragment>> to {c}
  }}
  func.return
}}
"""  # noqa: E501


@pytest.mark.parametrize(("target", "unit"), [("sm_90a", "wgmma"), ("sm_100a", "tcgen05")])
def test_a_product_has_agents_and_tma(target: str, unit: str) -> None:
    kernel = compile(product("128"), target)
    assert [*kernel.passes] == [*TILES]
    assert re.search(r"cp\.async\.bulk\.tensor.*shared::cluster", kernel.ptx)
    assert re.search(r"cp\.async\.bulk\.tensor.*global\.shared", kernel.ptx)
    assert f"{unit}.mma" in kernel.ptx
    check(kernel)


def test_a_store_under_a_condition_is_a_selection() -> None:
    check(compile(product("128").replace(STORE, STORE_UNDER_A_CONDITION), "sm_90a"))


def test_blocks_of_a_tall_product_go_in_panels() -> None:
    kernel = compile(product("1024").replace("in (2, 2)", "in (2, 16)"), "sm_90a")
    assert "arith.remui" in kernel.ir("convert-tl-to-tileaa")
    check(kernel, rows=1024)


def check(kernel: CompiledKernel, rows: int = 128) -> None:
    """Emulate a product of `rows` by 128 by 128; assert no findings and numpy's results."""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((rows, 128)).astype(np.float16) for _ in "ab")
    run = kernel.emulate(a, b, np.zeros_like(a), grid=(2, rows // 64))
    wanted = np.maximum(a.astype(np.float64) @ b[:128].astype(np.float64), 0)
    assert not run.findings
    np.testing.assert_allclose(run.arrays[2].astype(np.float64), wanted, rtol=2e-3, atol=2e-2)


EXTENTS = """%one = arith.constant 1 : index
  %m = memref.dim %A, %zero : memref<?x?xf16>
  %n = memref.dim %B, %one : memref<?x?xf16>
  %end = memref.dim %A, %one : memref<?x?xf16>
  %tile = arith.constant 64 : index
  %gx = arith.ceildivsi %n, %tile : index
  %gy = arith.ceildivsi %m, %tile : index"""


@pytest.mark.parametrize("sizes", [(704, 136, 72), (130, 65, 33)], ids=str)
def test_extents_of_run_time_are_loaded_by_tma(sizes: tuple[int, int, int]) -> None:
    """A last panel of three rows of tiles, tiles that the array ends in; rows TMA cannot load."""
    text = product("?", "?").replace("%end = arith.constant 128 : index", EXTENTS)
    kernel = compile(text.replace("in (2, 2)", "in (%gx, %gy)"), "sm_90a")
    assert kernel.ptx.count("cp.async.bulk.tensor") == 3
    assert [*kernel.general.passes] == [*TILES]
    rows, columns, depth = sizes
    rng = np.random.default_rng(6)
    a = rng.standard_normal((rows, depth)).astype(np.float16)
    b = rng.standard_normal((depth, columns)).astype(np.float16)
    c = np.full((rows, columns), 7, np.float16)
    run = kernel.emulate(a, b, c, grid=(-(-columns // 64), -(-rows // 64)))
    assert not run.findings
    wanted = np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)
    np.testing.assert_allclose(run.arrays[2].astype(np.float64), wanted, rtol=2e-3, atol=2e-2)


def test_other_kernels_stay_programs_over_buffers() -> None:
    """Kernels without products."""
    assert [*compile(tl.Softmax().text()).passes] == [*PIPELINES[BUFFERS].passes]


@pytest.mark.parametrize(
    ("kernel", "loads"),
    [(StaticProduct(66, 63, 65, b="kn", stages=2), 0), (StaticProduct(element="f32", bk=16), 2)],
    ids=str,
)
def test_any_product_is_one_of_tiles(kernel: StaticProduct, loads: int) -> None:
    """Rows that begin anywhere are loaded by threads; of f32 the bits of tf32 are multiplied."""
    made = compile(kernel.text, "sm_90a")
    assert [*made.passes] == [*TILES]
    assert "wgmma" in made.ptx
    assert made.ptx.count("cp.async.bulk.tensor") - made.ptx.count("global.shared") == loads
    arguments = kernel.arguments(np.random.default_rng(2))
    run = made.emulate(*arguments, grid=kernel.grid)
    assert not run.findings
    np.testing.assert_array_equal(run.arrays[2], kernel.expected(*arguments))


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_an_array_in_another_shape_is_loaded_by_tma(target: str) -> None:
    text = StaticProduct(b="kn").text
    flat = "memref<128x128xf16>"
    begin = text.index(f"%B: {flat}")
    text = text[:begin] + text[begin:].replace(flat, "memref<2x64x128xf16>", 1)
    text = text.replace(
        "%a = tl.alloc",
        f"%flat = tl.reshape %B : memref<2x64x128xf16> to {flat}\n    %a = tl.alloc",
    )
    made = compile(text.replace("tl.copy %B[", "tl.copy %flat["), target)
    assert made.ptx.count("cp.async.bulk.tensor") - made.ptx.count("global.shared") == 2
    a, b, c = StaticProduct(b="kn").arguments(np.random.default_rng(3))
    for run in (made.emulate, made.simulate):
        found = run(a, b.reshape(2, 64, 128), c.copy(), grid=(2, 2)).arrays[2]
        np.testing.assert_array_equal(found, a.astype(np.float64) @ b.astype(np.float64))


@pytest.mark.parametrize(
    "kernel",
    [
        *(tl.Softmax(), tl.RmsNorm(columns=64), tl.ColumnSums(), tl.Outer(), tl.Transpose()),
        *(tl.Gemm(bn=96, bk=96), tl.Attention(d=96)),
    ],
    ids=str,
)
def test_a_kernel_equals_numpy(kernel: tl.BlockProgram) -> None:
    """Rows, columns, arrays whose extents run time knows; extents that are no powers of two."""
    made = compile(kernel.text(), passes=TILES)
    inputs = kernel.make_inputs(np.random.default_rng(3), kernel.sizes)
    run = made.emulate(*inputs, grid=kernel.grid(kernel.sizes))
    assert not run.findings
    assert worst_deviation(kernel.reference(inputs), inputs, run.arrays).is_right
