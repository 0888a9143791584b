"""Products into tensor memory wherever a program may have them: in loops, in branches, alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from support.assembling import needs_ptxas

from kernels.compiled import ORDERS
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import DiagnosticError

HEAD = """!ma = memref<128x64xf16>
!mb = memref<64x64xf16>
!mc = memref<128x64xf32>
!a = tensor<128x64xf16>
!b = tensor<64x64xf16>
!as = tensor<128x64xf16, #nv_tileas<space smem>>
!bs = tensor<64x64xf16, #nv_tileas<space smem>>
!c = tensor<128x64xf32>
!rows = tensor<128x64xf32, #nv_tileas.blocked<"ROWS">>
!tm = tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
!sum = !nv_tileas.token<!c>
!wa = !nv_tileas.tiled_view<128x64xf16, gmem>
!wb = !nv_tileas.tiled_view<64x64xf16, gmem>
!wc = !nv_tileas.tiled_view<128x64xf32, gmem>
#mma = #nv_tileas<atom tcgen05_f16_f16_f32>
func.func @k(%a: !ma, %b: !mb, %c: !mc, %n: i32)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = WARPS>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.index_cast %n : i32 to index
  %nothing = arith.constant dense<0.0> : !c
  %va = nv_tileas.view %a : !ma -> !wa
  %vb = nv_tileas.view %b : !mb -> !wb
  %vc = nv_tileas.view %c : !mc -> !wc
  %ra = nv_tileas.tiled_load %va[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !wa -> !a
  %rb = nv_tileas.tiled_load %vb[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !wb -> !b
  %x = nv_tileas.alloc_tensor : !as
  %y = nv_tileas.alloc_tensor : !bs
  nv_tileas.copy %ra, %x {atom = #nv_tileas<atom unknown_copy>} : !a, !as
  nv_tileas.copy %rb, %y {atom = #nv_tileas<atom unknown_copy>} : !b, !bs
BODY
  nv_tileas.tiled_store %d, %vc[%zero, %zero] {atom = #nv_tileas<atom stg>} : !c, !wc
  func.return
}
"""

BODIES: Mapping[str, str] = {
    "once": """  %d = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c""",
    "loop": """  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %e = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %e : !c
  }""",
    "chain": """  %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
  %t = nv_tileas.async.dot %x, %y, %e {atom = #mma} : !as, !bs, !c -> !sum
  %d = nv_tileas.async.wait %t : !sum -> !c""",
    "sums of registers": """  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
    %f = arith.addf %e, %s : !c
    scf.yield %f : !c
  }""",
    "nested": """  %d = scf.for %j = %zero to %count step %one
      iter_args(%u = %nothing) -> (!c) {
    %g = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
      %e = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
      scf.yield %e : !c
    }
    %h = arith.addf %g, %u : !c
    scf.yield %h : !c
  }""",
    "two": """  %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
  %f = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %g = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %g : !c
  }
  %d = arith.subf %f, %e : !c""",
    "in a branch": """  %three = arith.constant 3 : index
  %many = arith.cmpi slt, %count, %three : index
  %d = scf.for %k = %zero to %three step %one
      iter_args(%s = %nothing) -> (!c) {
    %g = scf.if %many -> (!c) {
      %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
      %f = arith.addf %e, %s : !c
      scf.yield %f : !c
    } else {
      scf.yield %s : !c
    }
    scf.yield %g : !c
  }""",
    "written again": """  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    nv_tileas.copy %ra, %x {atom = #nv_tileas<atom unknown_copy>} : !a, !as
    %e = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %e : !c
  }""",
    "written behind": """  %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
  nv_tileas.copy %rb, %y {atom = #nv_tileas<atom unknown_copy>} : !b, !bs
  %d = nv_tileas.dot %x, %y, %e {atom = #mma} : !as, !bs, !c -> !c""",
    "made again": """  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %again = nv_tileas.convert_layout %ra : !a -> !as
    %g = scf.for %j = %zero to %count step %one
      iter_args(%u = %s) -> (!c) {
      %e = nv_tileas.dot %again, %y, %u {atom = #mma} : !as, !bs, !c -> !c
      scf.yield %e : !c
    }
    scf.yield %g : !c
  }""",
    "read twice": """  %f = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %g = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %g : !c
  }
  %e = nv_tileas.convert_layout %f : !c -> !rows
  %h = nv_tileas.convert_layout %f : !c -> !rows
  %i = arith.addf %e, %h : !rows
  %d = nv_tileas.convert_layout %i : !rows -> !c""",
}

PRODUCTS: Mapping[str, Callable[[int], int]] = {
    "once": lambda n: 1,
    "loop": lambda n: n,
    "chain": lambda n: 2,
    "sums of registers": lambda n: n,
    "nested": lambda n: n * n,
    "two": lambda n: n - 1,
    "in a branch": lambda n: 3 * (n < 3),
    "written again": lambda n: n,
    "written behind": lambda n: 2,
    "made again": lambda n: n * n,
    "read twice": lambda n: 2 * n,
}
"""How often the result has A * B in it."""


def _text(name: str, warps: int) -> str:
    rows = f"(({warps},{128 // warps}),(2,32)):((32@thread,2@value),(1@value,1@thread))"
    text = HEAD.replace("BODY", BODIES[name]).replace("WARPS", str(warps))
    return text.replace("ROWS", rows)


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("name", BODIES)
def test_every_level_adds_up_the_same(name: str, warps: int) -> None:
    """Small integers are exact; a loop that never runs leaves zeros."""
    rng = np.random.default_rng(0)
    a = rng.integers(-3, 4, (128, 64)).astype(np.float16)
    b = rng.integers(-3, 4, (64, 64)).astype(np.float16)
    c = rng.standard_normal((128, 64)).astype(np.float32)
    kernel = compile(_text(name, warps), "sm_100a")
    for rounds in (0, 1, 3):
        wanted = PRODUCTS[name](rounds) * (a.astype(np.float32) @ b.astype(np.float32))
        np.testing.assert_array_equal(kernel.simulate(a, b, c, rounds, grid=1).arrays[2], wanted)
        for order, seed in ORDERS:
            run = kernel.emulate(a, b, c, rounds, grid=1, order=order, seed=seed)
            assert [str(finding) for finding in run.findings] == [], (rounds, order)
            np.testing.assert_array_equal(run.arrays[2], wanted)


@needs_ptxas
@pytest.mark.parametrize("name", BODIES)
def test_ptxas_is_content(name: str) -> None:
    made = compile(_text(name, 4), "sm_100a").assemble()
    assert (made.messages, made.spills) == ((), 0)


WRITTEN_TOO_SOON = {"written again", "written behind", "made again"}


@pytest.mark.parametrize("name", BODIES)
def test_products_are_waited_for_where_their_operands_are_written(name: str) -> None:
    """They have a barrier of their own then; who reads the sums has waited for all others."""
    places = compile(_text(name, 4), "sm_100a").abi.shared_map
    assert ("product 0" in places) == (name in WRITTEN_TOO_SOON)


ONCE = BODIES["once"]
REFUSED = {
    "sums that begin with numbers": (
        ONCE.replace("%nothing", "%ones"),
        "begins sums in tensor memory with something else than zeros",
    ),
    "sums that begin elsewhere": (
        "  %v = nv_tileas.alloc_tensor : !tm\n"
        "  %e = nv_tileas.dot %x, %y, %v {atom = #mma} : !as, !bs, !tm -> !tm\n"
        "  %d = nv_tileas.convert_layout %e : !tm -> !c",
        "begins sums in tensor memory with a tile from elsewhere",
    ),
    "sums that are read on the way": (
        "  %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c\n"
        "  %f = arith.addf %e, %e : !c\n"
        "  %g = nv_tileas.dot %x, %y, %e {atom = #mma} : !as, !bs, !c -> !c\n"
        "  %d = arith.addf %f, %g : !c",
        "reads sums in tensor memory that",
    ),
    "sums that nobody reads": (
        ONCE.replace("%d =", "%e =") + "\n  %d = arith.addf %nothing, %nothing : !c",
        "multiplies into tensor memory, and nobody reads what it gives",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    body, message = REFUSED[name]
    text = HEAD.replace("BODY", "  %ones = arith.constant dense<1.0> : !c\n" + body)
    text = text.replace("WARPS", "4").replace("ROWS", "(128,64):(1@thread,1@value)")
    with pytest.raises(DiagnosticError, match=message):
        compile(text, "sm_100a")


def test_two_warps_do_not_reach_all_lanes() -> None:
    with pytest.raises(DiagnosticError, match="failed to query target spec for convert_layout"):
        compile(_text("once", 2), "sm_100a")


def test_another_target_has_no_tensor_memory() -> None:
    with pytest.raises(DiagnosticError, match="sm_100a alone has t"):
        compile(_text("once", 4), "sm_90a")
