"""Single elements, variables, additions to arrays and packed operands of `tl`, by way of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.support.orders import ORDERS, some
from tileas_xdsl.compilation.levels import BUFFERS_BY_TILES
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

GROUPED = """
!a = memref<128x64xf16>
!b = memref<2x64x64xf16>
!c = memref<128x64xf32>
!at = memref<64x32xf16, #tl<space shared>>
!bt = memref<32x64xf16, #tl<space shared>>
!ct = memref<64x64xf32, #tl<space fragment>>
!var = memref<1xi32, #tl<space local>>
func.func @grouped(%A: !a, %B: !b, %first: memref<2xi32>, %mask: memref<2x2xi8>, %C: !c) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  tl.kernel (%part, %by) in (2, 2) threads(128) {
    %none = arith.constant 0.0 : f32
    %absent = arith.constant 0 : i8
    %start = arith.constant 0 : i32
    %rows = arith.constant 64 : index
    %depth = arith.constant 32 : index
    %last = arith.constant 60 : index
    %y = arith.muli %by, %rows : index
    %k = arith.muli %part, %depth : index
    %a = tl.alloc_shared : !at
    %b = tl.alloc_shared : !bt
    %c = tl.alloc_fragment : !ct
    %group = tl.alloc_local : !var
    memref.store %start, %group[%zero] : !var
    tl.serial %g = %zero to %two {
      %begin = memref.load %first[%g] : memref<2xi32>
      %at = arith.index_cast %begin : i32 to index
      %is_behind = arith.cmpi sge, %y, %at : index
      %before = memref.load %group[%zero] : !var
      %now = arith.index_cast %g : index to i32
      %chosen = arith.select %is_behind, %now, %before : i32
      memref.store %chosen, %group[%zero] : !var
    }
    %found = memref.load %group[%zero] : !var
    %expert = arith.index_cast %found : i32 to index
    tl.fill %c, %none : !ct
    tl.serial %n = %zero to %two {
      %flag = memref.load %mask[%by, %n] : memref<2x2xi8>
      %is_there = arith.cmpi ne, %flag, %absent : i8
      scf.if %is_there {
        tl.copy %A[%y, %k] to %a : !a to !at
        tl.copy %B[%expert, %k, %zero] to %b extents(1, 32, 64) : !b to !bt
        tl.gemm %a, %b, %c : !at, !bt, !ct
      }
    }
    tl.parallel (%i, %j) in (64, 64) {
      %v = memref.load %c[%i, %j] : !ct
      %row = arith.addi %y, %i : index
      %is_row = arith.cmpi slt, %i, %last : index
      scf.if %is_row {
        tl.atomic_add %C[%row, %j], %v : !c
      }
    }
  }
  func.return
}
"""

PACKED = """
!a = memref<64x64xf16>
!w = memref<64x32xi8>
!s = memref<64x4xf16>
!c = memref<64x64xf32>
!at = memref<64x64xf16, #tl<space shared>>
!wt = memref<64x32xi8, #tl<space shared>>
!st = memref<64x4xf16, #tl<space fragment>>
!ut = memref<64x64xf16, #tl<space fragment>>
!ct = memref<64x64xf32, #tl<space fragment>>
func.func @packed(%A: !a, %W: !w, %S: !s, %C: !c) {
  %zero = arith.constant 0 : index
  tl.kernel (%b) in (1) threads(128) {
    %none = arith.constant 0.0 : f32
    %four = arith.constant 4 : i8
    %low = arith.constant 15 : i8
    %a = tl.alloc_shared : !at
    %bytes = tl.alloc_shared : !wt
    %scale = tl.alloc_fragment : !st
    %u = tl.alloc_fragment : !ut
    %w = tl.alloc_shared : !at
    %c = tl.alloc_fragment : !ct
    tl.copy %A to %a : !a to !at
    tl.copy %W to %bytes : !w to !wt
    tl.copy %S to %scale : !s to !st
    tl.parallel (%i, %j) in (64, 64) {
      %at = affine.apply affine_map<(d0) -> (d0 floordiv 2)> (%j)
      %odd = affine.apply affine_map<(d0) -> (d0 mod 2)> (%j)
      %group = affine.apply affine_map<(d0) -> (d0 floordiv 16)> (%j)
      %both = memref.load %bytes[%i, %at] : !wt
      %number = arith.index_cast %odd : index to i32
      %narrow = arith.trunci %number : i32 to i8
      %by = arith.muli %narrow, %four : i8
      %shifted = arith.shrui %both, %by : i8
      %bits = arith.andi %shifted, %low : i8
      %weight = arith.sitofp %bits : i8 to f16
      %factor = memref.load %scale[%i, %group] : !st
      %scaled = arith.mulf %weight, %factor : f16
      memref.store %scaled, %u[%i, %j] : !ut
    }
    tl.copy %u to %w : !ut to !at
    tl.fill %c, %none : !ct
    tl.gemm %a, %w, %c {transpose_b} : !at, !at, !ct
    tl.copy %c to %C : !ct to !c
  }
  func.return
}
"""

GATHERED = """
!a = memref<64x32xf16>
!b = memref<100x32xf16>
!i = memref<64xi32>
!c = memref<50x64xf32>
!at = memref<64x32xf16, #tl<space shared>>
!ct = memref<64x64xf32, #tl<space fragment>>
func.func @gathered(%A: !a, %B: !b, %rows: !i, %count: i32, %C: !c) {
  %zero = arith.constant 0 : index
  tl.kernel (%k) in (1) threads(128) {
    %none = arith.constant 0.0 : f32
    %a = tl.alloc_shared : !at
    %b = tl.alloc_shared : !at
    %c = tl.alloc_fragment : !ct
    tl.copy %A to %a : !a to !at
    tl.parallel (%i, %j) in (64, 32) {
      %found = memref.load %rows[%i] : !i
      %row = arith.index_cast %found : i32 to index
      %v = memref.load %B[%row, %j] : !b
      memref.store %v, %b[%i, %j] : !at
    }
    tl.fill %c, %none : !ct
    tl.gemm %a, %b, %c {transpose_b} : !at, !at, !ct
    tl.parallel (%i, %j) in (64, 64) {
      %end = arith.index_cast %count : i32 to index
      %is_row = arith.cmpi slt, %i, %end : index
      %v = memref.load %c[%i, %j] : !ct
      scf.if %is_row {
        memref.store %v, %C[%i, %j] : !c
      }
    }
  }
  func.return
}
"""

RAGGED = """
!a = memref<100x32xf16>
!b = memref<32x64xf16>
!c = memref<100x64xf16>
!at = memref<64x32xf16, #tl<space shared>>
!bt = memref<32x64xf16, #tl<space shared>>
!ct = memref<64x64xf32, #tl<space fragment>>
func.func @ragged(%A: !a, %B: !b, %first: memref<3xi32>, %width: i32, %C: !c) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  tl.kernel (%g) in (2) threads(128) {
    %none = arith.constant 0.0 : f32
    %a = tl.alloc_shared : !at
    %b = tl.alloc_shared : !bt
    %c = tl.alloc_fragment : !ct
    %next = arith.addi %g, %one : index
    %begin = memref.load %first[%g] : memref<3xi32>
    %end = memref.load %first[%next] : memref<3xi32>
    %from = arith.index_cast %begin : i32 to index
    %to = arith.index_cast %end : i32 to index
    %rows = arith.subi %to, %from : index
    %columns = arith.index_cast %width : i32 to index
    tl.fill %c, %none : !ct
    tl.pipelined %k = %zero to %one step %one stages(2) {
      tl.copy %A[%from, %zero] to %a : !a to !at
      tl.copy %B to %b : !b to !bt
      tl.gemm %a, %b, %c : !at, !bt, !ct
    }
    tl.parallel (%i, %j) in (64, 64) {
      %is_row = arith.cmpi slt, %i, %rows : index
      %is_column = arith.cmpi sge, %j, %columns : index
      scf.if %is_row {
        scf.if %is_column {
        } else {
          %row = arith.addi %from, %i : index
          %v = memref.load %c[%i, %j] : !ct
          %w = arith.truncf %v : f32 to f16
          memref.store %w, %C[%row, %j] : !c
        }
      }
    }
  }
  func.return
}
"""


LOOKED_UP = """
!a = memref<64x64xf16>
!b = memref<100x64xf16>
!i = memref<128xi32>
!c = memref<64x64xf32>
!t = memref<64x64xf16, #tl<space shared>>
!ct = memref<64x64xf32, #tl<space fragment>>
func.func @looked_up(%A: !a, %B: !b, %rows: !i, %C: !c) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 128 : index
  %step = arith.constant 64 : index
  %two = arith.constant 2 : index
  tl.kernel (%block) in (1) threads(128) {
    %none = arith.constant 0.0 : f32
    %a = tl.alloc_shared : !t
    %b = tl.alloc_shared : !t
    %w = tl.alloc_shared : !t
    %s = tl.alloc_fragment : !ct
    %c = tl.alloc_fragment : !ct
    tl.copy %A to %a : !a to !t
    tl.fill %c, %none : !ct
    tl.pipelined %k = %zero to %two stages(2) {
      %first = arith.muli %k, %step : index
      tl.parallel (%i, %j) in (64, 64) {
        %n = arith.addi %first, %i : index
        %found = memref.load %rows[%n] : !i
        %row = arith.index_cast %found : i32 to index
        %v = memref.load %B[%row, %j] : !b
        memref.store %v, %b[%i, %j] : !t
      }
      tl.fill %s, %none : !ct
      tl.gemm %a, %b, %s {transpose_b} : !t, !t, !ct
      tl.copy %s to %w : !ct to !t
      tl.gemm %w, %b, %c : !t, !t, !ct
    }
    tl.copy %c to %C : !ct to !c
  }
  func.return
}
"""


PATCHES = """
!x = memref<2x8x8x16xf16>
!w = memref<144x64xf16>
!y = memref<2x8x8x64xf16>
!flat = memref<128x64xf16>
!xt = memref<64x16xf16, #tl<space shared>>
!wt = memref<16x64xf16, #tl<space shared>>
!ct = memref<64x64xf32, #tl<space fragment>>
#image = affine_map<(i, j, b, k) -> ((b * 64 + i) floordiv 64)>
#row = affine_map<(i, j, b, k) -> (((b * 64 + i) floordiv 8) mod 8 + (k * 16 + j) floordiv 48 - 1)>
#column = affine_map<(i, j, b, k) -> ((b * 64 + i) mod 8 + ((k * 16 + j) floordiv 16) mod 3 - 1)>
#channel = affine_map<(i, j, b, k) -> ((k * 16 + j) mod 16)>
func.func @patches(%X: !x, %W: !w, %Y: !y) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %rows = arith.constant 64 : index
  %depth = arith.constant 16 : index
  tl.kernel (%by) in (2) threads(128) {
    %none = arith.constant 0.0 : f32
    %flat = tl.reshape %Y : !y to !flat
    %x = tl.alloc_shared : !xt
    %w = tl.alloc_shared : !wt
    %c = tl.alloc_fragment : !ct
    tl.fill %c, %none : !ct
    tl.pipelined %k = %zero to %nine stages(2) {
      tl.parallel (%i, %j) in (64, 16) {
        %n = affine.apply #image(%i, %j, %by, %k)
        %h = affine.apply #row(%i, %j, %by, %k)
        %v = affine.apply #column(%i, %j, %by, %k)
        %f = affine.apply #channel(%i, %j, %by, %k)
        %e = memref.load %X[%n, %h, %v, %f] : !x
        memref.store %e, %x[%i, %j] : !xt
      }
      %first = arith.muli %k, %depth : index
      tl.copy %W[%first, %zero] to %w extents(16, 64) : !w to !wt
      tl.gemm %x, %w, %c : !xt, !wt, !ct
    }
    %y = arith.muli %by, %rows : index
    tl.copy %c to %flat[%y, %zero] extents(64, 64) : !ct to !flat
  }
  func.return
}
"""

PARTS = """
!a = memref<64x32xf16>
!b = memref<32x64xf16>
!c = memref<8x64xf32>
!at = memref<64x32xf16, #tl<space shared>>
!bt = memref<32x64xf16, #tl<space shared>>
!ct = memref<64x64xf32, #tl<space fragment>>
!part = memref<8x64xf32, #tl<space shared>>
func.func @parts(%A: !a, %B: !b, %C: !c) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %eight = arith.constant 8 : index
  tl.kernel (%block) in (1) threads(128) {
    %none = arith.constant 0.0 : f32
    %a = tl.alloc_shared : !at
    %b = tl.alloc_shared : !bt
    %c = tl.alloc_fragment : !ct
    %part = tl.alloc_shared : !part
    tl.copy %A to %a : !a to !at
    tl.copy %B to %b : !b to !bt
    tl.fill %c, %none : !ct
    tl.fill %part, %none : !part
    tl.gemm %a, %b, %c : !at, !bt, !ct
    tl.copy %c[%eight, %zero] to %part[%four, %zero] extents(4, 64) : !ct to !part
    tl.copy %part to %C : !part to !c
  }
  func.return
}
"""


def emulated(text: str, args: Sequence[Any], grid: Sequence[int]) -> Sequence[Any]:
    """Compile by way of tiles, emulate without findings; assert what `tl` itself gives."""
    kernel = compile(text, "sm_90a")
    assert [*kernel.passes] == [*PIPELINES[BUFFERS_BY_TILES].passes]
    run = kernel.emulate(*args, grid=grid)
    assert not run.findings
    wanted = kernel.simulate(*args, grid=grid).arrays
    np.testing.assert_allclose(run.arrays[-1], wanted[-1], rtol=1e-4, atol=1e-4)
    return run.arrays


def test_variables_and_additions_under_conditions() -> None:
    """Blocks find their group in a loop, skip masked tiles, and two of them share each sum."""
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((128, 64), (2, 64, 64)))
    first, mask = np.array([0, 64], np.int32), np.array([[1, 0], [1, 1]], np.int8)
    c = rng.standard_normal((128, 64)).astype(np.float32)
    made = emulated(GROUPED, (a, b, first, mask, c), (2, 2))
    for rows in (slice(0, 60), slice(64, 124)):
        group = rows.start // 64
        added = (1 + group) * a[rows].astype(np.float32) @ b[group].astype(np.float32)
        np.testing.assert_allclose(made[-1][rows], c[rows] + added, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(made[-1][60:64], c[60:64])


def test_packed_weights_with_a_scale_a_group() -> None:
    """Bytes of two numbers and a scale for 16 of them: elements that several iterations read."""
    rng = np.random.default_rng(8)
    a = rng.standard_normal((64, 64)).astype(np.float16)
    packed = rng.integers(-128, 128, (64, 32)).astype(np.int8)
    scale = rng.uniform(0.5, 2, (64, 4)).astype(np.float16)
    made = emulated(PACKED, (a, packed, scale, np.zeros((64, 64), np.float32)), (1,))
    bits = np.stack([packed & 15, (packed >> 4) & 15], -1).reshape(64, 64)
    weights = (bits.astype(np.float16) * np.repeat(scale, 16, 1)).astype(np.float32)
    np.testing.assert_allclose(made[-1], a.astype(np.float32) @ weights.T, rtol=1e-3, atol=1e-2)


def test_rows_that_data_choose_and_rows_up_to_a_count() -> None:
    """A gather of rows, one of them out of bounds, and a store under a condition of run time."""
    rng = np.random.default_rng(9)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((64, 32), (100, 32)))
    rows = rng.permutation(100)[:64].astype(np.int32)
    rows[3] = 100
    c = rng.standard_normal((50, 64)).astype(np.float32)
    made = emulated(GATHERED, (a, b, rows, 37, c), (1,))
    taken = np.append(b, np.zeros((1, 32), np.float16), 0)[rows].astype(np.float32)
    np.testing.assert_allclose(made[-1][:37], (a.astype(np.float32) @ taken.T)[:37], atol=1e-3)
    np.testing.assert_array_equal(made[-1][37:], c[37:])


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_rows_that_data_choose_are_copied_ahead(target: str) -> None:
    """In a loop each is copied once, 16 bytes at a time, for two products; one is out of bounds."""
    rng = np.random.default_rng(11)
    a, b = (rng.standard_normal(s).astype(np.float16) / 8 for s in ((64, 64), (100, 64)))
    rows = rng.integers(0, 100, 128).astype(np.int32)
    rows[5], rows[90] = -1, 100
    kernel = compile(LOOKED_UP, target)
    assert kernel.ptx.count("cp.async.cg.shared.global") == 4
    taken = np.append(b, np.zeros((1, 64), np.float16), 0)[np.where(rows < 0, 100, rows)]
    parts = (part.astype(np.float32) for part in np.split(taken, 2))
    wanted = sum((a.astype(np.float32) @ part.T) @ part for part in parts)
    for seed, order in enumerate(("lazy", "eager", "random", "drift")):
        run = kernel.emulate(a, b, rows, np.zeros((64, 64), np.float32), order=order, seed=seed)
        assert not run.findings
        np.testing.assert_allclose(run.arrays[-1], wanted, atol=2e-2)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_patches_of_images_are_copied_ahead(target: str) -> None:
    """Each tap of a 3x3 filter is 16 channels, or zeros; pixels are stored as rows of a matrix."""
    rng = np.random.default_rng(12)
    x, w = (rng.standard_normal(s).astype(np.float16) / 4 for s in ((2, 8, 8, 16), (144, 64)))
    kernel = compile(PATCHES, target)
    assert kernel.ptx.count("cp.async.cg.shared.global") == 1
    assert "ld.global.b16" not in kernel.ptx
    padded = np.pad(x.astype(np.float32), ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [padded[:, r : r + 8, c : c + 8] for r in range(3) for c in range(3)]
    wanted = np.concatenate(taps, -1) @ w.astype(np.float32)
    for order in some(ORDERS, target, 2):
        out = np.zeros((2, 8, 8, 64), np.float16)
        run = kernel.emulate(x, w, out, grid=(2,), order=order, seed=1)
        assert not run.findings
        np.testing.assert_allclose(run.arrays[-1], wanted, atol=2e-2)


def test_parts_of_buffers_are_copied() -> None:
    rng = np.random.default_rng(13)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((64, 32), (32, 64)))
    made = emulated(PARTS, (a, b, np.zeros((8, 64), np.float32)), (1,))
    wanted = np.zeros((8, 64), np.float32)
    wanted[4:] = (a.astype(np.float32) @ b.astype(np.float32))[8:12]
    np.testing.assert_allclose(made[-1], wanted, rtol=1e-3, atol=1e-3)


def test_a_mask_of_rows_and_columns_bounds_a_tile() -> None:
    """Rows of two groups, which begin where data say: loaded by TMA, stored by vectors."""
    rng = np.random.default_rng(10)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((100, 32), (32, 64)))
    first = np.array([3, 40, 97], np.int32)
    c = rng.standard_normal((100, 64)).astype(np.float16)
    made = emulated(RAGGED, (a, b, first, 38, c), (2,))
    wanted = c.copy()
    wanted[3:97, :38] = a[3:97].astype(np.float32) @ b[:, :38].astype(np.float32)
    np.testing.assert_allclose(made[-1], wanted, rtol=1e-2, atol=1e-2)
    ptx = compile(RAGGED, "sm_90a").ptx
    assert ptx.count("cp.async.bulk.tensor.2d") == 2
    assert "st.global.b32" in ptx
