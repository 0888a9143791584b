"""Copies of regions, fills and views, including regions that are out of bounds."""

from __future__ import annotations

import ml_dtypes
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

TYPES = {
    "G": memref("?x?xf32"),
    "S": memref("4x8xf32", "shared"),
    "F": memref("4x8xf32", "fragment"),
    "T": memref("3x4x8xf32", "shared"),
}


def test_a_copy_begins_at_its_indices():
    body = """
    %s = tl.alloc_shared : !S
    tl.copy %A[%two, %four] to %s : !G to !S
    tl.copy %s to %B[%one, %zero] : !S to !G"""
    a = floats(1, 9, 20)
    _, b = run(block("%A: !G, %B: !G", body, TYPES), a, unset(5, 8))
    np.testing.assert_array_equal(b[1:], a[2:6, 4:12])
    assert np.isnan(b[0]).all()


@pytest.mark.parametrize("rows", [1, 3, 5])
def test_what_is_outside_of_global_memory_reads_as_zero_and_is_not_written(rows: int):
    body = """
    %f = tl.alloc_fragment : !F
    tl.copy %A[%two, %four] to %f : !G to !F
    tl.copy %f to %B : !F to !G"""
    a = floats(2, rows, 7)
    _, b = run(block("%A: !G, %B: !G", body, TYPES), a, unset(3, 9))
    wanted = np.zeros((3, 8), np.float32)
    part = a[2:5, 4:]
    wanted[: part.shape[0], : part.shape[1]] = part
    np.testing.assert_array_equal(b[:, :8], wanted)
    assert np.isnan(b[:, 8]).all()


def test_extents_say_which_part_of_a_buffer():
    body = """
    %t = tl.alloc_shared : !T
    %c = arith.constant 1.0 : f32
    tl.fill %t, %c : !T
    tl.copy %A[%one, %two] to %t[%two, %one, %four] extents(1, 2, 4) : !G to !T
    tl.copy %t to %B : !T to memref<3x4x8xf32>"""
    a = floats(3, 4, 6)
    _, b = run(block("%A: !G, %B: memref<3x4x8xf32>", body, TYPES), a, unset(3, 4, 8))
    wanted = np.ones((3, 4, 8), np.float32)
    wanted[2, 1:3, 4:] = a[1:3, 2:6]
    np.testing.assert_array_equal(b, wanted)


def test_dimensions_of_one_element_go_from_anywhere():
    body = """
    %s = tl.alloc_shared : !S
    tl.copy %Q[%one, %two, %one, %zero] to %s extents(1, 4, 1, 8) : memref<2x7x3x8xf32> to !S
    tl.copy %s to %B : !S to !G"""
    q = floats(4, 2, 7, 3, 8)
    _, b = run(block("%Q: memref<2x7x3x8xf32>, %B: !G", body, TYPES), q, unset(4, 8))
    np.testing.assert_array_equal(b, q[1, 2:6, 1])


@pytest.mark.parametrize(
    ("element", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("f64", np.float64)]
)
def test_a_copy_converts_floats(element: str, dtype: type):
    body = f"""
    %h = tl.alloc_fragment : {memref(f"4x8x{element}", "fragment")}
    tl.copy %A to %h : !G to {memref(f"4x8x{element}", "fragment")}
    tl.copy %h to %B : {memref(f"4x8x{element}", "fragment")} to memref<4x8x{element}>"""
    a = floats(5, 4, 8)
    text = block(f"%A: !G, %B: memref<4x8x{element}>", body, TYPES)
    _, b = run(text, a, np.zeros((4, 8), dtype))
    np.testing.assert_array_equal(b, a.astype(dtype))


def test_views_are_other_names_of_one_storage():
    body = """
    %f = tl.alloc_fragment : !F
    %flat = tl.reshape %f : !F to !L
    %bits = tl.view %flat : !L to !I
    tl.copy %A to %f : !G to !F
    tl.parallel (%i) in (16) {
      %x = memref.load %bits[%i] : !I
      %mask = arith.constant 2147483647 : i32
      %abs = arith.andi %x, %mask : i32
      memref.store %abs, %bits[%i] : !I
    }
    tl.copy %f to %B : !F to !G"""
    types = {**TYPES, "L": memref("32xf32", "fragment"), "I": memref("32xi32", "fragment")}
    a = floats(6, 4, 8)
    _, b = run(block("%A: !G, %B: !G", body, types), a, unset(4, 8))
    np.testing.assert_array_equal(b, np.concatenate([np.abs(a[:2]), a[2:]]))


def test_the_same_elements_in_another_layout():
    body = """
    %f = tl.alloc_fragment : !F
    %g = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d1 * 4 + d0)>>} : !F
    tl.copy %A to %f : !G to !F
    tl.convert_layout %f to %g {cost = 3} : !F to !F
    tl.copy %g to %B : !F to !G"""
    a = floats(7, 4, 8)
    _, b = run(block("%A: !G, %B: !G", body, TYPES), a, unset(4, 8))
    np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("tl.copy %s to %A : !S to !G", r"%s\[0, 0\] is read, and nobody wrote it"),
        (
            "tl.copy %A to %s[%two, %zero] extents(3, 8) : !G to !S",
            r"%s has no 3x8 elements at \[2, 0\]: it is 4x8",
        ),
        (
            "tl.parallel (%i) in (5) {\n %x = memref.load %s[%i, %zero] : !S\n }",
            r"%s has no element \[4, 0\]: it is 4x8",
        ),
        (
            "tl.copy %A to %s : !G to !S\ntl.copy %s to %s[%one, %zero] extents(2, 8) : !S to !S",
            "copies %s onto itself",
        ),
        (
            "tl.parallel (%i) in (4) {\n %x = memref.load %s[%i, %zero] : !S\n }",
            r"%s\[0, 0\] is read, and nobody wrote it",
        ),
        (
            "tl.copy %A to %s extents(3, 8) : !G to !S\n tl.copy %s to %A : !S to !G",
            r"%s\[3, 0\] is read, and nobody wrote it",
        ),
    ],
)
def test_what_has_no_meaning_is_a_located_fault(body: str, message: str):
    text = block("%A: !G", f"    %s = tl.alloc_shared : !S\n{body}", TYPES)
    refuses(text, message, floats(8, 4, 8))


def test_a_block_has_so_much_shared_memory():
    huge = memref("300x1024xf32", "shared")
    text = block("", f"    %s = tl.alloc_shared : {huge}")
    refuses(text, "a block has .* bytes of shared memory; with this tile it needs 1228800")
