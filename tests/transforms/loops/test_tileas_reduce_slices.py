"""Sums over the slices of a tile are sums of the tile: without a round, and right."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.compiler import compile

ROWS, COLUMNS, WIDTH = 32, 64, 4

KERNEL = """
func.func @sums(%x: memref<32x64xf32>, %squares: memref<32x4xf32>, %most: memref<32x4xf32>) {
  %one = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %end = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  tl.kernel (%b) in (%one) threads(128) {
    %t = tl.alloc_fragment : memref<32x64xf32, #tl<space fragment>>
    %s = tl.alloc_fragment : memref<32x4xf32, #tl<space fragment>>
    %m = tl.alloc_fragment : memref<32x4xf32, #tl<space fragment>>
    tl.copy %x[%c0, %c0] to %t[%c0, %c0] extents(32, 64)
      : memref<32x64xf32> to memref<32x64xf32, #tl<space fragment>>
    tl.fill %s, %zero : memref<32x4xf32, #tl<space fragment>>
    tl.fill %m, %zero : memref<32x4xf32, #tl<space fragment>>
    tl.serial %k = %c0 to %end {
      tl.parallel (%i, %j) in (32, 4) {
        %o = arith.muli %k, %c4 : index
        %n = arith.addi %o, %j : index
        %v = memref.load %t[%i, %n] : memref<32x64xf32, #tl<space fragment>>
        %q = arith.mulf %v, %v : f32
        %a = memref.load %s[%i, %j] : memref<32x4xf32, #tl<space fragment>>
        %p = arith.addf %a, %q : f32
        memref.store %p, %s[%i, %j] : memref<32x4xf32, #tl<space fragment>>
        %c = memref.load %m[%i, %j] : memref<32x4xf32, #tl<space fragment>>
        %d = arith.maxnumf %v, %c : f32
        memref.store %d, %m[%i, %j] : memref<32x4xf32, #tl<space fragment>>
      }
    }
    tl.copy %s[%c0, %c0] to %squares[%c0, %c0] extents(32, 4)
      : memref<32x4xf32, #tl<space fragment>> to memref<32x4xf32>
    tl.copy %m[%c0, %c0] to %most[%c0, %c0] extents(32, 4)
      : memref<32x4xf32, #tl<space fragment>> to memref<32x4xf32>
  }
  func.return
}
"""


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_a_tile_is_reduced_as_a_whole(target: str) -> None:
    made = compile(KERNEL, target=target, passes="tl-by-tiles-to-ptx")
    assert "scf.for" not in made.ir("tileas-reduce-slices")
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    ran = made.emulate(x, *(np.full((ROWS, WIDTH), np.nan, np.float32) for _ in range(2)), grid=1)
    assert not ran.findings
    slices = x.reshape(ROWS, -1, WIDTH)
    np.testing.assert_allclose(ran.arrays[1], (slices**2).sum(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(ran.arrays[2], slices.max(axis=1).clip(0))
