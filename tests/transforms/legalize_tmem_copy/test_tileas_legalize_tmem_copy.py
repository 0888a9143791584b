"""Copies of tensor memory: the interpreter before and after, and the PTX, move the same values."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.ir import parse
from xdsl.context import Context

from kernels.compiled import TWO_ORDERS
from tests.support.orders import some
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.layouts.tileas_legalize_tmem_copy import TileasLegalizeTmemCopy

T128 = 'tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>'
T64 = 'tensor<64x64xf32, #nv_tileas.linear<"((16,4),64):((1@lane,32@lane),1@column)">>'
SWIZZLED = "#nv_tileas.shared<({rows},(32,2)),(32,(1,{panel})),swizzle<3,4,3>>"
ANY = "{atom = #nv_tileas<atom unknown_copy>}"

COPIES = {
    "there and back": f"""
  %t = nv_tileas.alloc_tensor : !t
  nv_tileas.copy %x, %t {ANY} : !r, !t
  %y = nv_tileas.convert_layout %t : !t -> !r""",
    "through shared memory": f"""
  %t = nv_tileas.alloc_tensor : !t
  %s = nv_tileas.alloc_tensor : !s
  %u = nv_tileas.alloc_tensor : !t
  nv_tileas.copy %x, %t {ANY} : !r, !t
  nv_tileas.copy %t, %s {ANY} : !t, !s
  nv_tileas.copy %s, %u {ANY} : !s, !t
  %y = nv_tileas.convert_layout %u : !t -> !r""",
    "conversions": """
  %t = nv_tileas.convert_layout %x : !r -> !t
  %s = nv_tileas.convert_layout %t : !t -> !s
  %u = nv_tileas.convert_layout %s : !s -> !t
  %y = nv_tileas.convert_layout %u : !t -> !r""",
    "rounds of a loop": f"""
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %t = nv_tileas.alloc_tensor : !t
  %y = scf.for %k = %zero to %three step %one iter_args(%v = %x) -> (!r) {{
    nv_tileas.copy %v, %t {ANY} : !r, !t
    %w = nv_tileas.convert_layout %t : !t -> !r
    scf.yield %w : !r
  }}""",
}


def _kernel(name: str, rows: int, warps: int, registers: str = "") -> str:
    tensor, panel = (T128 if rows == 128 else T64), 32 * rows
    shared = SWIZZLED.format(rows=rows, panel=panel)
    return f"""!m = memref<{rows}x64xf32>
!r = tensor<{rows}x64xf32{registers}>
!t = {tensor}
!s = tensor<{rows}x64xf32, {shared}>
!w = !nv_tileas.tiled_view<{rows}x64xf32, gmem>
func.func @k(%a: !m, %c: !m)
    attributes {{nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = {warps}>}} {{
  %zero = arith.constant 0 : index
  %va = nv_tileas.view %a : !m -> !w
  %vc = nv_tileas.view %c : !m -> !w
  %x = nv_tileas.tiled_load %va[%zero, %zero] {{atom = #nv_tileas<atom ldg>}} : !w -> !r{
        COPIES[name]
    }
  nv_tileas.tiled_store %y, %vc[%zero, %zero] {{atom = #nv_tileas<atom stg>}} : !r, !w
  func.return
}}
"""


BLOCKED = {
    4: ', #nv_tileas.blocked<"((4,16),(2,32)):((32@thread,2@value),(1@value,1@thread))">',
    8: ', #nv_tileas.blocked<"((8,8),(2,32)):((32@thread,2@value),(1@value,1@thread))">',
}
"""By the warps of the kernel, rows of 64 rows in the registers of a warp."""

CASES = [
    *((name, rows, 4, "") for name in COPIES for rows in (64, 128)),
    *((name, 64, warps, BLOCKED[warps]) for name in COPIES for warps in BLOCKED),
    ("through shared memory", 128, 8, ""),
    ("conversions", 128, 8, ""),
]


def _compiled(case: tuple[str, int, int, str]) -> CompiledKernel:
    return compile(_kernel(*case), "sm_100a")


def _values(rows: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(rows).standard_normal((rows, 64)).astype(np.float32)


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}, {case[1]} rows, {case[2]}")
def test_every_level_moves_the_values(case: tuple[str, int, int, str]) -> None:
    values, kernel = _values(case[1]), _compiled(case)
    before = kernel.simulate(values, np.zeros_like(values), grid=1)
    np.testing.assert_array_equal(before.arrays[1], values)
    after = compile(kernel.ir("tileas-legalize-tmem-copy"), "sm_100a").source
    laid_out = simulate(after, (values, np.zeros_like(values)), kernel="k", grid=1)
    np.testing.assert_array_equal(laid_out.arrays[1], values)
    for order, seed in some(TWO_ORDERS, case):
        run = kernel.emulate(values, np.zeros_like(values), grid=1, order=order, seed=seed)
        assert [str(finding) for finding in run.findings] == []
        np.testing.assert_array_equal(run.arrays[1], values)


def test_matrices_are_moved_where_they_can_be() -> None:
    """Both ways through shared memory are those of whole matrices; loads and stores are waited."""
    text = _compiled(("through shared memory", 128, 4, "")).ptx
    for mnemonic in ("stmatrix.sync", "ldmatrix.sync", "tcgen05.wait::ld", "tcgen05.wait::st"):
        assert mnemonic in text, mnemonic
    assert text.count("tcgen05.alloc") == text.count("tcgen05.dealloc") == 1
    order = r"wait::st\S+;\s+tcgen05.fence::before\S+;\s+bar\S+ \S+;\s+tcgen05.fence::after"
    assert len(re.findall(order, text)) == text.count("tcgen05.wait::st") == 2


def test_a_copy_that_fails_leaves_the_others() -> None:
    """The pass tells of all failures, and what it left is valid."""
    tensor, narrow = T128, T128.replace("f32", "f16")
    text = f"""func.func @k(%t: {tensor}, %n: {narrow}, %r: tensor<128x64xf32>,
    %h: tensor<128x64xf16>) {{
  nv_tileas.copy %n, %h {ANY} : {narrow}, tensor<128x64xf16>
  nv_tileas.copy %t, %r {ANY} : {tensor}, tensor<128x64xf32>
  nv_tileas.copy %h, %n {ANY} : tensor<128x64xf16>, {narrow}
  func.return
}}
"""
    module = parse(text)
    with pytest.raises(DiagnosticError) as error:
        TileasLegalizeTmemCopy().apply(Context(), module)
    assert len(error.value.diagnostics) == 2
    verify_module(module)
    assert str(module).count("tcgen05_ld") == 1


def test_too_many_columns() -> None:
    text = _kernel("there and back", 128, 4)
    buffers = "".join(
        f"\n  %t{k} = nv_tileas.alloc_tensor : !t"
        f"\n  nv_tileas.copy %x, %t{k} {ANY} : !r, !t"
        f"\n  %y{k} = nv_tileas.convert_layout %t{k} : !t -> !r"
        for k in range(9)
    )
    body = text.replace(COPIES["there and back"], buffers)
    with pytest.raises(DiagnosticError, match="allocated tmem out of resource: 576 vs 512"):
        compile(body.replace("store %y,", "store %y8,"), "sm_100a")


@needs_ptxas
@pytest.mark.parametrize("rows", [64, 128])
def test_ptxas_is_content(rows: int) -> None:
    made = _compiled(("through shared memory", rows, 4, "")).assemble()
    assert (made.messages, made.spills) == ((), 0)
