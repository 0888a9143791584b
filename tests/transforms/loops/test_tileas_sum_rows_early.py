"""Sums of rows that a loop carries are those of the tile that it carried."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context

from tests.support.ir import parse
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.loops.tileas_sum_rows_early import TileasSumRowsEarly

FUSED = "%m = math.fma %l, %g, %p : tensor<4x8xf32>"
APART = """%k = arith.mulf %l, %g : tensor<4x8xf32>
    %m = arith.addf %p, %k : tensor<4x8xf32>"""
LOOP = """
func.func @sums(%a: memref<4x8xf32>, %b: memref<4xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<4x8xf32>
  %v = nv_tileas.view %a : memref<4x8xf32> -> !nv_tileas.tiled_view<4x8xf32, gmem>
  %w = nv_tileas.view %b : memref<4xf32> -> !nv_tileas.tiled_view<4xf32, gmem>
  %p = nv_tileas.tiled_load %v[%zero, %zero] {atom = #nv_tileas<atom ldg>}
    : !nv_tileas.tiled_view<4x8xf32, gmem> -> tensor<4x8xf32>
  %f = nv_tileas.tiled_load %w[%zero] {atom = #nv_tileas<atom ldg>}
    : !nv_tileas.tiled_view<4xf32, gmem> -> tensor<4xf32>
  %t, %u = scf.for %j = %c0 to %n step %c1 iter_args(%l = %none, %x = %none)
      -> (tensor<4x8xf32>, tensor<4x8xf32>) : i32 {
    %g = nv_tileas.generate : tensor<4x8xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %f[%row] : tensor<4xf32>
      nv_tileas.yield %y : f32
    }
    MADE
    scf.yield %m, %p : tensor<4x8xf32>, tensor<4x8xf32>
  }
  %s = nv_tileas.reduce %t {axis = 1 : i32} : tensor<4x8xf32> -> tensor<4xf32> {
  ^bb0(%y: f32, %z: f32):
    %o = arith.addf %y, %z : f32
    nv_tileas.yield %o : f32
  }
  nv_tileas.tiled_store %s, %w[%zero] {atom = #nv_tileas<atom stg>}
    : tensor<4xf32>, !nv_tileas.tiled_view<4xf32, gmem>
  func.return
}
"""
"""Two values begin with the same zeros, of which one is a sum."""


@pytest.mark.parametrize("made", [FUSED, APART])
@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_sums_are_those_of_the_tile(made: str, rounds: int) -> None:
    before, after = (parse(LOOP.replace("MADE", made)) for _ in range(2))
    TileasSumRowsEarly().apply(Context(), after)
    after.verify()
    assert "-> (tensor<4xf32>, tensor<4x8xf32>)" in str(after)
    rng = np.random.default_rng(rounds)
    a, b = rng.random((4, 8)).astype(np.float32), rng.random(4).astype(np.float32)
    first, second = (simulate(one, [a, b, rounds]).arrays[1] for one in (before, after))
    np.testing.assert_allclose(second, first, rtol=1e-6)
