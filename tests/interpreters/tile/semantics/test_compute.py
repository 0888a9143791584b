"""Products, reductions, scans and generated tiles in kernels: values, memory, tensor cores."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.simulating import kernel, numbers, refuses, run, simulated

TYPES = {
    "h": "memref<?x?xf16>",
    "f": "memref<?x?xf32>",
    "a": "tensor<64x32xf16>",
    "b": "tensor<32x16xf16>",
    "c": "tensor<64x16xf32>",
    "sa": "tensor<64x32xf16, #nv_tileas<space smem>>",
    "sb": "tensor<32x16xf16, #nv_tileas<space smem>>",
    "sum": "!nv_tileas.token<tensor<64x16xf32>>",
}
LOADS = """
  %x = nv_tileas.load %a[%zero, %zero] {atom = #ldg} : !h -> !a
  %y = nv_tileas.load %b[%zero, %zero] {atom = #ldg} : !h -> !b
  %z = nv_tileas.load %c[%zero, %zero] {atom = #ldg} : !f -> !c
  %p = nv_tileas.alloc_tensor : !sa
  %q = nv_tileas.alloc_tensor : !sb
  nv_tileas.copy %x, %p {atom = #any} : !a, !sa
  nv_tileas.copy %y, %q {atom = #any} : !b, !sb
"""
ARGS = "%a: !h, %b: !h, %c: !f"


def matrices(seed: int) -> tuple[Any, Any, Any]:
    """Small whole numbers, whose products are exact in any order."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-8, 9, shape).astype(np.float16) for shape in ((64, 32), (32, 16)))
    return a, b, rng.integers(-8, 9, (64, 16)).astype(np.float32)


def product(a: Any, b: Any, c: Any) -> Any:
    return a.astype(np.float64) @ b.astype(np.float64) + c


def put(value: str) -> str:
    return f"nv_tileas.store {value}, %c[%zero, %zero] {{atom = #stg}} : !c, !f\n"


@pytest.mark.parametrize("atom", ["mma_f16_f16_f32", "wgmma_f16_f16_f32"])
@pytest.mark.parametrize("operands", ["%x, %y, %z : !a, !b", "%p, %q, %z : !sa, !sb"])
def test_products_of_values_and_of_memory(atom: str, operands: str) -> None:
    if atom.startswith("mma") and "%p" in operands:
        operands = "%x, %q, %z : !a, !sb"
    values, types = operands.split(" : ")
    text = kernel(
        ARGS,
        f"""{LOADS}
  %d = nv_tileas.dot {values} {{atom = #nv_tileas<atom {atom}>}} : {types}, !c -> !c
  {put("%d")}""",
        types=TYPES,
    )
    a, b, c = matrices(1)
    np.testing.assert_array_equal(run(text, a, b, c)[2], product(a, b, c))


CHAIN = """
  %d0 = nv_tileas.async.dot %p, %q, %z {atom = #nv_tileas<atom ATOM>} : !sa, !sb, !c -> !sum
  %d1 = nv_tileas.async.dot %x, %q, %d0 {atom = #nv_tileas<atom ATOM>} : !a, !sb, !sum -> !sum
  %d2 = nv_tileas.async.dot %p, %q, %d1 {atom = #nv_tileas<atom ATOM>} : !sa, !sb, !sum -> !sum
"""


@pytest.mark.parametrize(("atom", "target"), [("wgmma_f16_f16_f32", "sm_90a")])
def test_products_in_a_chain(atom: str, target: str) -> None:
    text = kernel(
        ARGS,
        f"""{LOADS}{CHAIN.replace("ATOM", atom)}
  %d = nv_tileas.async.wait %d2 : !sum -> !c
  %first = nv_tileas.async.wait %d0 : !sum -> !c
  %e = arith.addf %d, %first : !c
  {put("%e")}""",
        types=TYPES,
    )
    a, b, c = matrices(2)
    once = product(a, b, np.zeros(()))
    found = simulated(text, a, b, c, target=target)
    np.testing.assert_array_equal(found.arrays[2], 4 * once + 2 * c)


def test_operands_in_use_are_not_overwritten() -> None:
    text = kernel(
        ARGS,
        f"""{LOADS}{CHAIN.replace("ATOM", "wgmma_f16_f16_f32")}
  nv_tileas.copy %y, %q {{atom = #any}} : !b, !sb
  %d = nv_tileas.async.wait %d2 : !sum -> !c""",
        types=TYPES,
    )
    refuses(text, r"race on %q\[0, 0\]", *matrices(3))
    waited = text.replace("  nv_tileas.copy %y, %q {atom = #any} : !b, !sb\n  %d =", "  %d =")
    waited = waited.replace("!sum -> !c\n  func", f"!sum -> !c\n {put('%d')}  func")
    a, b, c = matrices(3)
    np.testing.assert_array_equal(run(waited, a, b, c)[2], 3 * product(a, b, 0) + c)


def test_integers_batches_and_narrow_floats() -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(-128, 128, (2, 16, 32)).astype(np.int8)
    b = rng.integers(-128, 128, (2, 32, 8)).astype(np.int8)
    c = numbers(rng, (2, 16, 8), np.int32)
    text = kernel(
        "%a: tensor<2x16x32xi8>, %b: tensor<2x32x8xi8>, %c: memref<2x16x8xi32>",
        """
  %z = nv_tileas.load %c[%zero, %zero, %zero] {atom = #ldg}
    : memref<2x16x8xi32> -> tensor<2x16x8xi32>
  %d = nv_tileas.dot %a, %b, %z {atom = #nv_tileas<atom mma_i8_i8_i32>,
    signedness_a = #nv_tileas<signedness signed>, signedness_b = #nv_tileas<signedness unsigned>}
    : tensor<2x16x32xi8>, tensor<2x32x8xi8>, tensor<2x16x8xi32> -> tensor<2x16x8xi32>
  nv_tileas.store %d, %c[%zero, %zero, %zero] {atom = #stg}
    : tensor<2x16x8xi32>, memref<2x16x8xi32>""",
    )
    wanted = a.astype(np.int64) @ b.view(np.uint8).astype(np.int64) + c
    np.testing.assert_array_equal(run(text, a, b, c)[2], wanted.astype(np.int32))


def test_scaled_blocks() -> None:
    rng = np.random.default_rng(5)
    e2m1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -1, -1.5, -2, -3, -4, -6])
    a, b = rng.choice(e2m1, (128, 64)), rng.choice(e2m1, (64, 32))
    sa, sb = 2.0 ** rng.integers(-2, 3, (128, 4)), 2.0 ** rng.integers(-2, 3, (4, 32))
    c = rng.integers(-4, 5, (128, 32)).astype(np.float32)
    types = "tensor<128x64xf4E2M1FN>, tensor<64x32xf4E2M1FN>, tensor<128x32xf32>"
    text = kernel(
        "%a: tensor<128x64xf4E2M1FN>, %b: tensor<64x32xf4E2M1FN>, %c: memref<128x32xf32>, "
        "%sa: tensor<128x4xf8E4M3FN>, %sb: tensor<4x32xf8E4M3FN>",
        f"""
  %z = nv_tileas.load %c[%zero, %zero] {{atom = #ldg}} : memref<128x32xf32> -> tensor<128x32xf32>
  %d = nv_tileas.block_scaled_mma %a, %b, %z
    scales(%sa : tensor<128x4xf8E4M3FN>, %sb : tensor<4x32xf8E4M3FN>)
    {{atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<shape = [128, 32, 64], scale_vector = 16>>}}
    : {types} -> tensor<128x32xf32>
  nv_tileas.store %d, %c[%zero, %zero] {{atom = #stg}} : tensor<128x32xf32>, memref<128x32xf32>""",
    )
    wanted = (a * np.repeat(sa, 16, 1)) @ (b * np.repeat(sb, 16, 0)) + c
    narrow, scale = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn
    args = (a.astype(narrow), b.astype(narrow), c, sa.astype(scale), sb.astype(scale))
    found = run(text, *args, target="sm_100a")
    np.testing.assert_array_equal(found[2], wanted.astype(np.float32))


def test_bodies_use_values_from_around() -> None:
    rng = np.random.default_rng(6)
    a = rng.integers(-9, 10, (4, 8)).astype(np.int32)
    r, s, g = (np.zeros(shape, np.int32) for shape in ((4,), (4, 8), (4, 8)))
    text = kernel(
        "%a: tensor<4x8xi32>, %k: i32, %r: memref<4xi32>, %s: memref<4x8xi32>, %g: memref<4x8xi32>",
        """
  %0 = nv_tileas.reduce %a {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4xi32> {
  ^bb0(%x: i32, %y: i32):
    %t = arith.muli %x, %k : i32
    %u = arith.addi %t, %y : i32
    nv_tileas.yield %u : i32
  }
  %1 = nv_tileas.scan %a {axis = 1 : i32, reverse} : tensor<4x8xi32> -> tensor<4x8xi32> {
  ^bb0(%x: i32, %y: i32):
    %big = arith.cmpi sgt, %x, %k : i32
    %u = scf.if %big -> (i32) {
      scf.yield %y : i32
    } else {
      %v = arith.addi %x, %y : i32
      scf.yield %v : i32
    }
    nv_tileas.yield %u : i32
  }
  %2 = nv_tileas.generate : tensor<4x8xi32> {
  ^bb0(%i: index, %j: index):
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %p = arith.muli %i32, %k : i32
    %q = arith.addi %p, %j32 : i32
    nv_tileas.yield %q : i32
  }
  nv_tileas.store %0, %r[%zero] {atom = #stg} : tensor<4xi32>, memref<4xi32>
  nv_tileas.store %1, %s[%zero, %zero] {atom = #stg} : tensor<4x8xi32>, memref<4x8xi32>
  nv_tileas.store %2, %g[%zero, %zero] {atom = #stg} : tensor<4x8xi32>, memref<4x8xi32>""",
    )
    found = run(text, a, 3, r, s, g)
    for i in range(4):
        total = int(a[i, 0])
        for x in a[i, 1:].tolist():
            total = total * 3 + x
        assert found[2][i] == total
        running = [int(a[i, 7])]
        for x in a[i, 6::-1].tolist():
            running.append(x if running[-1] > 3 else running[-1] + x)
        assert found[3][i].tolist() == running[::-1]
    np.testing.assert_array_equal(found[4], np.arange(4)[:, None] * 3 + np.arange(8))


def test_reductions_and_scans_of_memory() -> None:
    rng = np.random.default_rng(7)
    a, r, s = (numbers(rng, shape, np.float32) for shape in ((8, 16), (16,), (8, 16)))
    text = kernel(
        "%a: tensor<8x16xf32>, %r: memref<16xf32>, %s: memref<8x16xf32>",
        """
  %m = nv_tileas.alloc_tensor : tensor<8x16xf32, #nv_tileas<space smem>>
  nv_tileas.copy %a, %m {atom = #any} : tensor<8x16xf32>, tensor<8x16xf32, #nv_tileas<space smem>>
  %0 = nv_tileas.reduce %m {axis = 0 : i32}
    : tensor<8x16xf32, #nv_tileas<space smem>> -> tensor<16xf32> {
  ^bb0(%x: f32, %y: f32):
    %u = arith.maximumf %x, %y : f32
    nv_tileas.yield %u : f32
  }
  %1 = nv_tileas.scan %m {axis = 0 : i32}
    : tensor<8x16xf32, #nv_tileas<space smem>> -> tensor<8x16xf32, #nv_tileas<space smem>> {
  ^bb0(%x: f32, %y: f32):
    %u = arith.addf %x, %y : f32
    nv_tileas.yield %u : f32
  }
  %2 = nv_tileas.convert_layout %1 : tensor<8x16xf32, #nv_tileas<space smem>> -> tensor<8x16xf32>
  nv_tileas.store %0, %r[%zero] {atom = #stg} : tensor<16xf32>, memref<16xf32>
  nv_tileas.store %2, %s[%zero, %zero] {atom = #stg} : tensor<8x16xf32>, memref<8x16xf32>""",
    )
    found = run(text, a, r, s)
    np.testing.assert_array_equal(found[1], a.max(0))
    np.testing.assert_array_equal(found[2], np.cumsum(a, 0, dtype=np.float32))
    unset = text.replace("nv_tileas.copy %a, %m", "nv_tileas.copy %a, %n").replace(
        "%m = nv_tileas.alloc_tensor",
        "%n = nv_tileas.alloc_tensor : tensor<8x16xf32, #nv_tileas<space smem>>\n"
        "  %m = nv_tileas.alloc_tensor",
    )
    refuses(unset, r"%m\[0, 0\] is read, and nobody wrote it", a, r, s)
