"""What products of wgmma begin with is in their registers before the fence, or is nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.compiler import compile

TEXT = """
!a = tensor<128x64xf16>
!b = tensor<64x64xf16>
!as = tensor<128x64xf16, #nv_tileas<space smem>>
!bs = tensor<64x64xf16, #nv_tileas<space smem>>
!c = tensor<128x64xf32>
#ldg = #nv_tileas<atom ldg>

func.func @k(%a: memref<128x64xf16>, %b: memref<64x64xf16>, %c: memref<128x64xf32>)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = WARPS>} {
  %zero = arith.constant 0 : index
  %nothing = arith.constant dense<0.0> : !c
  %va = nv_tileas.view %a : memref<128x64xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vb = nv_tileas.view %b : memref<64x64xf16> -> !nv_tileas.tiled_view<64x64xf16, gmem>
  %vc = nv_tileas.view %c : memref<128x64xf32> -> !nv_tileas.tiled_view<128x64xf32, gmem>
  %ra = nv_tileas.tiled_load %va[%zero, %zero] {atom = #ldg}
    : !nv_tileas.tiled_view<128x64xf16, gmem> -> !a
  %rb = nv_tileas.tiled_load %vb[%zero, %zero] {atom = #ldg}
    : !nv_tileas.tiled_view<64x64xf16, gmem> -> !b
  %x = nv_tileas.convert_layout %ra : !a -> !as
  %y = nv_tileas.convert_layout %rb : !b -> !bs
  %d = nv_tileas.dot %x, %y, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>}
    : !as, !bs, !c -> !c
  %e = nv_tileas.dot %x, %y, SECOND {atom = #nv_tileas<atom wgmma_f16_f16_f32>}
    : !as, !bs, !c -> !c
  %f = arith.addf %d, %e : !c
  nv_tileas.tiled_store %f, %vc[%zero, %zero] {atom = #nv_tileas<atom stg>}
    : !c, !nv_tileas.tiled_view<128x64xf32, gmem>
  func.return
}
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize("first", [0.0, 1.5])
@pytest.mark.parametrize(("second", "times"), [("%nothing", 2), ("%d", 3)])
@pytest.mark.parametrize("warps", [4, 8])
def test_nothing_is_moved_behind_the_fence(
    warps: int, second: str, times: int, first: float
) -> None:
    """With four warps each has two blocks of rows; small integers are exact."""
    rng = np.random.default_rng(4)
    a = rng.integers(-3, 4, (128, 64)).astype(np.float16)
    b = rng.integers(-3, 4, (64, 64)).astype(np.float16)
    c = np.full((128, 64), np.nan, np.float32)
    text = TEXT.replace("WARPS", str(warps)).replace("SECOND", second)
    kernel = compile(text.replace("dense<0.0>", f"dense<{first}>"))
    found = kernel.emulate(a, b, c)
    assert [str(finding) for finding in found.findings] == []
    assert moves_behind_fences(kernel.ptx) == []
    expected = times * (a.astype(np.float32) @ b) + 2 * first
    np.testing.assert_array_equal(found.arrays[2], expected)


ONCE = """scf.for %i = %zero to %one step %one iter_args(%s = %d) -> (!c) {
    %t = nv_tileas.dot %x, %y, %s {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : !as, !bs, !c -> !c
    scf.yield %t : !c
  }
"""


def test_what_a_loop_of_one_iteration_begins_with_is_kept() -> None:
    """Such a loop has no block in PTX: what it carries is the sum that is read behind it, too."""
    once = TEXT.replace("WARPS", "4").replace("%zero =", "%one = arith.constant 1 : index\n%zero =")
    begin, _, rest = once.partition("nv_tileas.dot %x, %y, SECOND")
    kernel = compile(begin + ONCE + rest[rest.index("%f =") :])
    a, b = (np.eye(rows, 64).astype(np.float16) for rows in (128, 64))
    found = kernel.emulate(a, b, np.full((128, 64), np.nan, np.float32))
    assert [str(finding) for finding in found.findings] == []
    assert moves_behind_fences(kernel.ptx) == []
    np.testing.assert_array_equal(found.arrays[2], 3 * a.astype(np.float32))


def moves_behind_fences(ptx: str) -> list[str]:
    """Instructions between a fence and the end of its group that write float registers."""
    groups = [part.partition("wgmma.commit_group")[0] for part in ptx.split("wgmma.fence")[1:]]
    return [line for group in groups for line in group.splitlines() if " mov.f32 " in line]
