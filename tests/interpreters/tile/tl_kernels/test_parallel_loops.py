"""Parallel loops: what bodies compute, element by element, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreters.tile.tl_kernels.block_programs import (
    block,
    floats,
    memref,
    refuses,
    run,
    unset,
)

ROWS = {"A": memref("6x5xf32"), "F": memref("6x5xf32", "fragment"), "V": memref("f32", "local")}


def test_loads_and_stores_at_affine_indices():
    body = """
    %f = tl.alloc_fragment : !F
    tl.parallel (%i, %j) in (6, 5) {
      %a = memref.load %A[%i, %j] : !A
      memref.store %a, %f[%i, %j] : !F
    }
    tl.parallel (%i, %j) in (3, 5) {
      %odd = affine.apply affine_map<(d0) -> (d0 * 2 + 1)> (%i)
      %turned = affine.apply affine_map<(d0) -> (4 - d0)> (%j)
      %x = memref.load %f[%odd, %turned] : !F
      memref.store %x, %B[%i, %j] : memref<3x5xf32>
    }"""
    a = floats(1, 6, 5)
    _, b = run(block("%A: !A, %B: memref<3x5xf32>", body, ROWS), a, unset(3, 5))
    np.testing.assert_array_equal(b, a[1::2, ::-1])


def test_indices_may_be_data():
    body = """
    tl.parallel (%i) in (8) {
      %at = memref.load %P[%i] : memref<8xi32>
      %k = arith.index_cast %at : i32 to index
      %x = memref.load %A[%k] : memref<16xf32>
      memref.store %x, %B[%i] : memref<8xf32>
    }"""
    a, places = floats(2, 16), np.array([3, 0, 15, 7, 7, 1, 99, -1], np.int32)
    text = block("%P: memref<8xi32>, %A: memref<16xf32>, %B: memref<8xf32>", body)
    _, _, b = run(text, places, a, unset(8))
    # What is outside of global memory reads as 0.
    np.testing.assert_array_equal(b, [*a[[3, 0, 15, 7, 7, 1]], 0, 0])


def test_stores_outside_of_global_memory_are_dropped():
    body = """
    tl.parallel (%i) in (8) {
      %k = affine.apply affine_map<(d0) -> (d0 * 2 - 2)> (%i)
      %c = arith.constant 7 : i32
      memref.store %c, %B[%k] : memref<?xi32>
    }"""
    (b,) = run(block("%B: memref<?xi32>", body), np.arange(9, dtype=np.int32))
    np.testing.assert_array_equal(b, [7, 1, 7, 3, 7, 5, 7, 7, 7])


def test_conditions_choose_by_iteration():
    body = """
    tl.parallel (%i, %j) in (6, 5) {
      %a = memref.load %A[%i, %j] : !A
      %c = arith.constant 0.0 : f32
      %positive = arith.cmpf ogt, %a, %c : f32
      %r = scf.if %positive -> (f32) {
        %s = math.sqrt %a : f32
        scf.yield %s : f32
      } else {
        %n = arith.negf %a : f32
        scf.yield %n : f32
      }
      %first = arith.cmpi eq, %i, %zero : index
      scf.if %first {
        memref.store %r, %B[%i, %j] : !A
      }
      %last = arith.cmpi sge, %i, %four : index
      scf.if %last {
        scf.if %positive {
          memref.store %a, %B[%i, %j] : !A
        }
      }
    }"""
    a, b = floats(3, 6, 5), floats(4, 6, 5)
    _, found = run(block("%A: !A, %B: !A", body, ROWS), a, b)
    wanted = b.copy()
    wanted[0] = np.where(a[0] > 0, np.sqrt(np.abs(a[0])), -a[0])
    wanted[4:] = np.where(a[4:] > 0, a[4:], b[4:])
    np.testing.assert_array_equal(found, wanted)


def test_what_a_condition_keeps_out_is_not_computed():
    body = """
    tl.parallel (%i) in (8) {
      %d = memref.load %D[%i] : memref<8xi32>
      %z = arith.constant 0 : i32
      %c = arith.constant 100 : i32
      %ok = arith.cmpi ne, %d, %z : i32
      scf.if %ok {
        %q = arith.divsi %c, %d : i32
        memref.store %q, %D[%i] : memref<8xi32>
      }
    }"""
    (d,) = run(block("%D: memref<8xi32>", body), np.array([0, 1, 2, 0, -7, 3, 0, 101], np.int32))
    np.testing.assert_array_equal(d, [0, 100, 50, 0, -14, 33, 0, 0])


def test_serial_loops_inside_run_in_order_in_each_iteration():
    body = """
    tl.parallel (%i) in (6) {
      %v = tl.alloc_local : !V
      %c = arith.constant 1.0 : f32
      memref.store %c, %v[] : !V
      tl.serial %j = %one to %four step %two {
        %a = memref.load %A[%i, %j] : !A
        %old = memref.load %v[] : !V
        %new = math.fma %old, %a, %a : f32
        memref.store %new, %v[] : !V
      }
      %r = memref.load %v[] : !V
      memref.store %r, %B[%i] : memref<6xf32>
    }"""
    a = floats(5, 6, 5)
    _, b = run(block("%A: !A, %B: memref<6xf32>", body, ROWS), a, unset(6))
    wanted = a[:, 1] + a[:, 1]
    wanted = (wanted.astype(np.float64) * a[:, 3] + a[:, 3]).astype(np.float32)
    np.testing.assert_array_equal(b, wanted)


@pytest.mark.parametrize("bounds", ["%one to %five", "%low to %n"])
def test_loops_carry_values_also_where_their_bounds_differ(bounds: str):
    body = f"""
    %five = arith.constant 5 : index
    tl.parallel (%i) in (6) {{
      %low = arith.remui %i, %two : index
      %n = arith.minui %i, %five : index
      %c = arith.constant 0.0 : f32
      %sum, %count = scf.for %j = {bounds} step %one
          iter_args(%s = %c, %k = %zero) -> (f32, index) {{
        %a = memref.load %A[%i, %j] : !A
        %t = arith.addf %s, %a : f32
        %l = arith.addi %k, %i : index
        scf.yield %t, %l : f32, index
      }}
      memref.store %sum, %B[%i] : memref<6xf32>
      %m = arith.index_cast %count : index to i32
      memref.store %m, %C[%i] : memref<6xi32>
    }}"""
    text = block("%A: !A, %B: memref<6xf32>, %C: memref<6xi32>", body, ROWS)
    a = floats(6, 6, 5)
    _, b, c = run(text, a, unset(6), np.full(6, -1, np.int32))
    for i in range(6):
        low, high = (1, 5) if "%five" in bounds else (i % 2, min(i, 5))
        total = np.float32(0)
        for j in range(low, high):
            total += a[i, j]
        assert b[i] == total
        assert c[i] == i * max(high - low, 0)


def test_local_buffers_begin_as_those_of_the_block():
    body = """
    %v = tl.alloc_local : !V
    %c = arith.constant 3.0 : f32
    memref.store %c, %v[] : !V
    tl.parallel (%i) in (6) {
      %a = memref.load %A[%i, %zero] : !A
      %old = memref.load %v[] : !V
      %new = arith.addf %old, %a : f32
      memref.store %new, %v[] : !V
      %r = memref.load %v[] : !V
      memref.store %r, %B[%i] : memref<6xf32>
    }"""
    a = floats(7, 6, 5)
    text = block("%A: !A, %B: memref<6xf32>", body, ROWS)
    np.testing.assert_array_equal(run(text, a, unset(6))[1], 3 + a[:, 0])
    behind = (
        body
        + """
    %x = memref.load %v[] : !V"""
    )
    text = block("%A: !A, %B: memref<6xf32>", behind, ROWS)
    refuses(text, r"%v.* is read, and nobody wrote it", a, unset(6))


def test_a_local_buffer_is_written_before_it_is_read():
    body = """
    tl.parallel (%i) in (6) {
      %v = tl.alloc_local : !V
      %first = arith.cmpi eq, %i, %zero : index
      %c = arith.constant 3.0 : f32
      scf.if %first {
        memref.store %c, %v[] : !V
      }
      %r = memref.load %v[] : !V
    }"""
    refuses(block("", body, ROWS), "%v is read by an iteration that did not write it")


def test_elements_of_f16_and_bf16_round_after_each_operation():
    body = """
    tl.parallel (%i) in (64) {
      %a = memref.load %A[%i] : memref<64xf16>
      %b = memref.load %B[%i] : memref<64xf16>
      %p = arith.mulf %a, %b : f16
      %s = arith.addf %p, %a : f16
      memref.store %s, %B[%i] : memref<64xf16>
    }"""
    a, b = floats(8, 64, dtype=np.float16), floats(9, 64, dtype=np.float16)
    found = run(block("%A: memref<64xf16>, %B: memref<64xf16>", body), a, b)[1]
    np.testing.assert_array_equal(found, a * b + a)


def test_a_grid_of_blocks_each_with_its_number():
    body = """
    tl.parallel (%i) in (4) {
      %k = affine.apply affine_map<(d0, d1, d2) -> (d0 * 12 + d1 * 4 + d2)> (%by, %bx, %i)
      %v = arith.index_cast %k : index to i32
      memref.store %v, %B[%k] : memref<24xi32>
    }"""
    text = block("%B: memref<24xi32>, %n: index", body, grid="(%bx, %by) in (%n, 2)")
    b, _ = run(text, np.zeros(24, np.int32), 3, grid=(3, 2))
    np.testing.assert_array_equal(b, np.arange(24))
    refuses(text, "a grid of 3x2x1, but .* one of 3x1x1", np.zeros(24, np.int32), 3, grid=3)
