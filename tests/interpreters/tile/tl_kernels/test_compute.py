"""Reductions, cumulative sums, products and atomic updates, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.interpreters.tile.tl_kernels.block_programs import block, floats, memref, run, unset
from tests.support.simulating import numbers


def reduced(kind: str, element: str, axis: int, clauses: str, target: str) -> str:
    f, m = memref(f"6x10x{element}", "fragment"), memref(f"{target}x{element}", "fragment")
    out = memref(f"{target}x{element}")
    body = f"""
    %f = tl.alloc_fragment : {f}
    %m = tl.alloc_fragment : {m}
    tl.copy %A to %f : {memref(f"6x10x{element}")} to {f}
    tl.copy %B to %m : {out} to {m}
    tl.reduce {kind} %f to %m axis {axis} {clauses} : {f} to {m}
    tl.copy %m to %B : {m} to {out}"""
    return block(f"%A: {memref(f'6x10x{element}')}, %B: {out}", body)


FLOAT_KINDS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "abssum": lambda x, axis: np.abs(x).sum(axis),
    "absmax": lambda x, axis: np.abs(x).max(axis),
}
BITS: dict[str, Callable[..., Any]] = {
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


@pytest.mark.parametrize("kind", FLOAT_KINDS)
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_of_floats(kind: str, axis: int):
    a, target = floats(1, 6, 10), ("10", "6")[axis]
    _, b = run(reduced(kind, "f32", axis, "", target), a, unset(int(target)))
    wanted = FLOAT_KINDS[kind](a.astype(np.float64), axis)
    np.testing.assert_allclose(b, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [*BITS, "max", "min", "sum", "absmax"])
def test_reductions_of_integers_wrap_and_are_signed(kind: str):
    a = numbers(np.random.default_rng(2), (6, 10), np.int32)
    _, b = run(reduced(kind, "i32", 1, "", "6"), a, np.zeros(6, np.int32))
    rule = BITS.get(kind) or FLOAT_KINDS[kind]
    np.testing.assert_array_equal(b, rule(a.astype(np.int64), axis=1).astype(np.int32))


def test_a_reduction_keeps_its_dimension_and_what_the_target_holds():
    a, b = floats(3, 6, 10), floats(4, 1, 10) * 2
    text = reduced("max", "f32", 0, "{keep_dims, clear = false}", "1x10")
    np.testing.assert_array_equal(run(text, a, b)[1], np.maximum(a.max(0, keepdims=True), b))


def test_sums_of_small_floats_are_rounded_once():
    a = floats(5, 6, 10, dtype=np.float16)
    _, b = run(reduced("sum", "f16", 1, "", "6"), a, np.zeros(6, np.float16))
    np.testing.assert_array_equal(b, a.astype(np.float32).sum(1).astype(np.float16))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("clause", ["", "{reverse}"])
@pytest.mark.parametrize("space", ["shared", "fragment"])
def test_running_sums(axis: int, clause: str, space: str):
    f = memref("6x10xf32", space)
    body = f"""
    %f = tl.alloc_{space} : {f}
    tl.copy %A to %f : memref<6x10xf32> to {f}
    tl.cumsum %f to %f axis {axis} {clause} : {f} to {f}
    tl.copy %f to %B : {f} to memref<6x10xf32>"""
    a = floats(6, 6, 10)
    text = block("%A: memref<6x10xf32>, %B: memref<6x10xf32>", body)
    wide = np.flip(a, axis) if clause else a
    wanted = np.cumsum(wide.astype(np.float64), axis)
    wanted = np.flip(wanted, axis) if clause else wanted
    np.testing.assert_allclose(run(text, a, unset(6, 10))[1], wanted, rtol=1e-5, atol=1e-5)


ELEMENTS: list[tuple[str, Any, str, Any]] = [
    ("f16", np.float16, "f32", np.float32),
    ("f16", np.float16, "f16", np.float16),
    ("bf16", ml_dtypes.bfloat16, "f32", np.float32),
    ("f8E4M3FN", ml_dtypes.float8_e4m3fn, "f32", np.float32),
    ("f32", np.float32, "f32", np.float32),
    ("f64", np.float64, "f64", np.float64),
    ("i8", np.int8, "i32", np.int32),
]


def product(element: str, total: str, clauses: str, a: str, b: str) -> str:
    types = {
        "A": memref(f"{a}x{element}", "shared"),
        "B": memref(f"{b}x{element}", "shared"),
        "C": memref(f"16x24x{total}", "fragment"),
        "GA": memref(f"{a}x{element}"),
        "GB": memref(f"{b}x{element}"),
        "GC": memref(f"16x24x{total}"),
    }
    body = f"""
    %a = tl.alloc_shared : !A
    %b = tl.alloc_shared : !B
    %c = tl.alloc_fragment : !C
    tl.copy %A to %a : !GA to !A
    tl.copy %B to %b : !GB to !B
    tl.copy %C to %c : !GC to !C
    tl.gemm %a, %b, %c {clauses} : !A, !B, !C
    tl.copy %c to %C : !C to !GC"""
    return block("%A: !GA, %B: !GB, %C: !GC", body, types, threads=128)


@pytest.mark.parametrize(("element", "dtype", "total", "sums"), ELEMENTS)
def test_products_of_every_element(element: str, dtype: Any, total: str, sums: Any):
    rng = np.random.default_rng(7)
    shapes = ((16, 32), (32, 24), (16, 24))
    a, b, c = (rng.integers(-4, 5, shape).astype(dtype) for shape in shapes)
    _, _, found = run(product(element, total, "", "16x32", "32x24"), a, b, c.astype(sums))
    wide = [x.astype(np.float64) for x in (a, b, c)]
    np.testing.assert_array_equal(found.astype(np.float64), wide[0] @ wide[1] + wide[2])


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_products_of_transposed_operands_onto_nothing(first: bool, second: bool):
    rng = np.random.default_rng(8)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((16, 32), (32, 24)))
    words = ["clear", *["transpose_a"] * first, *["transpose_b"] * second]
    text = product(
        "f16",
        "f32",
        f"policy(full_col) {{{', '.join(words)}}}",
        "32x16" if first else "16x32",
        "24x32" if second else "32x24",
    )
    given = (a.T.copy() if first else a, b.T.copy() if second else b, unset(16, 24))
    np.testing.assert_array_equal(run(text, *given)[2], a.astype(np.float32) @ b)


def test_f32_is_multiplied_as_tf32():
    a, b = floats(9, 16, 32), floats(10, 32, 24)
    given = (a, b, np.zeros((16, 24), np.float32))
    found = run(product("f32", "f32", "", "16x32", "32x24"), *given)[2]
    kept = [(x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (a, b)]
    np.testing.assert_allclose(found, kept[0].astype(np.float64) @ kept[1], atol=1e-5)
    assert np.abs(found - a.astype(np.float64) @ b).max() > 1e-4


@pytest.mark.parametrize(
    ("element", "dtype"), [("i32", np.int32), ("f32", np.float32), ("bf16", ml_dtypes.bfloat16)]
)
@pytest.mark.parametrize("space", ["", "shared"])
def test_iterations_add_to_one_element(element: str, dtype: Any, space: str):
    bins = memref(f"4x{element}", space)
    shared = f"""
    %s = tl.alloc_shared : {bins}
    %none = arith.constant {"0" if element == "i32" else "0.0"} : {element}
    tl.fill %s, %none : {bins}"""
    back = f"\n    tl.copy %s to %B : {bins} to memref<4x{element}>"
    body = f"""{shared if space else ""}
    tl.parallel (%i) in (50) {{
      %x = memref.load %A[%i] : memref<50xi32>
      %k = arith.index_cast %x : i32 to index
      %c = arith.constant {"2" if element == "i32" else "2.0"} : {element}
      tl.atomic_add {"%s" if space else "%B"}[%k], %c : {bins}
    }}{back if space else ""}"""
    a = np.random.default_rng(11).integers(0, 4, 50).astype(np.int32)
    text = block(f"%A: memref<50xi32>, %B: memref<4x{element}>", body)
    _, b = run(text, a, np.zeros(4, dtype))
    np.testing.assert_array_equal(b.astype(np.int64), 2 * np.bincount(a, minlength=4))


def test_blocks_add_to_one_element():
    body = """
    tl.parallel (%i) in (50) {
      %c = arith.constant 1 : i32
      tl.atomic_add %B[%zero], %c : memref<1xi32>
    }"""
    text = block("%B: memref<1xi32>", body, grid="(%x) in (7)")
    (b,) = run(text, np.zeros(1, np.int32), grid=7)
    assert b[0] == 350
