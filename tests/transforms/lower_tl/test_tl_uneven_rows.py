"""Reductions of rows whose extent is no power of two, along the last axis and along another."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tileas_xdsl.compiler import compile as compile_kernel

ROWS = """
!x = memref<64xWIDTHxf32>
!s = memref<64xf32>
!xt = memref<64xWIDTHxf32, #tl<space fragment>>
!st = memref<64xf32, #tl<space fragment>>
func.func @rows(%X: !x, %Y: !s) {
  tl.kernel threads(128) {
    %x = tl.alloc_fragment : !xt
    %s = tl.alloc_fragment : !st
    tl.copy %X to %x : !x to !xt
    tl.reduce KIND %x to %s axis 1 : !xt to !st
    tl.copy %s to %Y : !st to !s
  }
  func.return
}
"""

LINES = """
!x = memref<128x3x7xf32>
!xt = memref<128x3x7xf32, #tl<space fragment>>
!st = memref<128x7xf32, #tl<space fragment>>
func.func @lines(%X: !x, %Y: !x) {
  tl.kernel threads(128) {
    %x = tl.alloc_fragment : !xt
    %s = tl.alloc_fragment : !st
    tl.copy %X to %x : !x to !xt
    tl.reduce sum %x to %s axis 1 : !xt to !st
    tl.parallel (%i, %j, %k) in (128, 3, 7) {
      %v = memref.load %x[%i, %j, %k] : !xt
      %t = memref.load %s[%i, %k] : !st
      %w = arith.addf %v, %t : f32
      memref.store %w, %x[%i, %j, %k] : !xt
    }
    tl.copy %x to %Y : !xt to !x
  }
  func.return
}
"""


@pytest.mark.parametrize(("width", "kind"), [(127, "max"), (100, "sum"), (7, "prod")])
def test_lanes_without_an_element_have_the_identity(width: int, kind: str) -> None:
    """Rows are joined by shuffles alone: nothing goes through shared memory."""
    kernel = compile_kernel(ROWS.replace("WIDTH", str(width)).replace("KIND", kind))
    assert "shfl.sync" in kernel.ptx
    assert not re.search(r"\b(ld|st)\.shared", kernel.ptx)
    x = -np.random.default_rng(width).uniform(0.5, 1.5, (64, width)).astype(np.float32)
    found = kernel.emulate(x, np.empty(64, np.float32))
    assert not found.findings
    wanted = {"max": np.max, "sum": np.sum, "prod": np.prod}[kind](x.astype(np.float64), axis=1)
    np.testing.assert_allclose(found.arrays[1], wanted, rtol=1e-5)


def test_a_thread_has_the_lines_that_are_summed() -> None:
    """Every other layout of 21 elements a row needs more registers than a thread has."""
    kernel = compile_kernel(LINES)
    x = np.random.default_rng(3).integers(-9, 9, (128, 3, 7)).astype(np.float32)
    found = kernel.emulate(x, np.empty_like(x))
    assert not found.findings
    np.testing.assert_array_equal(found.arrays[1], x + x.sum(1, keepdims=True))
