# pyright: basic
"""Products whose operands are computed in registers: A stays there, others go to shared memory."""

from __future__ import annotations

import re
from typing import Literal

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from support.assembling import needs_ptxas

import tileas_xdsl as tileas
from tests.threads.dot.operands import computed_operands as kernels
from tileas_xdsl.diagnostics.errors import DiagnosticError

RNG = np.random.default_rng(11)
TARGETS = pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])


def halves(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float16)


def singles(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def weights(*shape: int) -> np.ndarray:
    return RNG.integers(-8, 8, shape).astype(np.int8)


def exact(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def check(
    kernel,
    inputs,
    constants,
    expected,
    target: str,
    *,
    tolerance=1e-2,
    grid: int | tuple[int, int] = 1,
) -> None:
    """Emulate a kernel with its findings; its last argument is what it computes."""
    out = np.full(expected.shape, np.nan, np.float32)
    compiled = tileas.compile(kernel, *inputs, out, *constants, target=target)
    unit = {"sm_90a": "wgmma.", "sm_100a": "tcgen05.mma."}[target]
    assert unit in compiled.ptx
    found = compiled.emulate(*inputs, out, *constants, grid=grid, order="lazy")
    assert [str(finding) for finding in found.findings] == []
    limit = tolerance * np.abs(expected).max()
    np.testing.assert_allclose(found.arrays[len(inputs)], expected, atol=limit, rtol=0)


@TARGETS
def test_weights_that_are_dequantized_are_b(target: str) -> None:
    a, w, scales = halves(64, 64), weights(64, 128), halves(1, 128)
    expected = exact(a) @ (exact(w) * exact(scales))
    check(kernels.dequantized_b, (a, w, scales), (64, 64, 32), expected, target, grid=(1, 2))


@TARGETS
def test_weights_with_a_zero_point_are_a(target: str) -> None:
    w, b = weights(128, 64), halves(64, 64)
    check(kernels.shifted_a, (w, b), (128, 64, 32), (exact(w) - 8) @ exact(b), target)


def test_weights_of_long_rows_are_a() -> None:
    """A piece of 16 bytes that is loaded becomes two that are stored, apart by the swizzle."""
    w, b = weights(64, 512), halves(512, 32)
    check(kernels.shifted_a, (w, b), (64, 32, 512), (exact(w) - 8) @ exact(b), "sm_90a")


def test_weights_of_short_rows_are_loaded_by_16_bytes() -> None:
    w, b, c = weights(128, 64), halves(64, 64), singles(128, 64)
    ptx = tileas.compile(kernels.shifted_a, w, b, c, 128, 64, 64).ptx
    assert "ld.global.b16" not in ptx


@TARGETS
def test_weights_are_b_transposed(target: str) -> None:
    a, w = halves(64, 64), weights(64, 64)
    check(kernels.transposed_b, (a, w), (64, 64, 32), exact(a) @ (exact(w) - 8).T, target)


@pytest.mark.parametrize("is_b", [False, True])
def test_operands_computed_of_stages_stay_in_registers(*, is_b: bool) -> None:
    """A in registers; for a computed B the product of the transposes, stored transposed back."""
    if is_b:
        kernel, a, b = kernels.transposed_b, halves(72, 80), weights(104, 80)
        expected = exact(a) @ (exact(b) - 8).T
    else:
        kernel, a, b = kernels.shifted_a, weights(104, 80), halves(80, 72)
        expected = (exact(a) - 8) @ exact(b)
    out, tiles = np.full(expected.shape, np.nan, np.float16), (128, 128, 32)
    compiled = tileas.compile(kernel, a, b, out, *tiles, target="sm_90a")
    assert "st.shared" not in compiled.ptx
    assert ("x4.trans" in "".join(re.findall("stmatrix.*", compiled.ptx))) is is_b
    grid = tuple(-(-n // 128) for n in expected.shape)
    orders: tuple[Literal["lazy", "random"], ...] = ("lazy", "random")
    for order in orders:
        found = compiled.emulate(a, b, out, *tiles, grid=grid, order=order)
        assert [str(finding) for finding in found.findings] == []
        np.testing.assert_allclose(found.arrays[2], expected, rtol=1e-3, atol=0.5)
    tile_by_tile = compiled.simulate(a, b, out, *tiles, grid=grid).arrays[2]
    np.testing.assert_allclose(tile_by_tile, expected, rtol=1e-3, atol=0.5)


def test_weights_of_four_bits_in_scaled_blocks_are_exchanged_once() -> None:
    """From the bytes to B each element stays in its thread, however its tile is reshaped."""
    a, w, scales = halves(64, 128), RNG.integers(0, 256, (64, 64), np.uint8), halves(64, 4)
    fours = np.stack((w & 15, w >> 4), 2).reshape(64, 128) * np.repeat(exact(scales), 32, axis=1)
    kernel, given = kernels.scaled_blocks_of_fours, (a, w.view(np.int8), scales)
    check(kernel, given, (64, 64), exact(a) @ fours.T, "sm_90a")
    assert (
        len(re.findall("ld.shared", tileas.compile(kernel, *given, singles(64, 64), 64, 64).ptx))
        < 8
    )


def test_accumulators_that_a_branch_masks_stay_in_registers() -> None:
    a, b = halves(128, 64) / 4, halves(128, 64)
    blocks = [exact(x) @ exact(x).T for x in np.split(a, 2)]
    expected = blocks[0] @ exact(b[:64]) + np.tril(blocks[1]) @ exact(b[64:])
    check(kernels.masked_in_a_branch, (a, b), (64,), expected, "sm_90a")
    compiled = tileas.compile(kernels.masked_in_a_branch, a, b, singles(64, 64), 64)
    assert "stmatrix" not in compiled.ptx


def test_a_row_in_a_stage_is_read_as_a_column() -> None:
    a, scales = halves(128, 64), halves(1, 128) / 8
    blocks = [
        exact(x) @ exact(x).T * exact(s)[:, None]
        for x, s in zip(np.split(a, 2), np.split(scales[0], 2), strict=True)
    ]
    check(
        kernels.scaled_gram, (a, scales), (64,), np.concatenate([y @ y for y in blocks]), "sm_100a"
    )


@TARGETS
def test_rows_that_are_picked_are_b(target: str) -> None:
    a, chosen = halves(64, 64), RNG.integers(0, 64, 64).astype(np.int32)
    check(kernels.one_hot_b, (a, chosen), (64, 64, 64), exact(a)[:, chosen], target)


@TARGETS
def test_a_triangle_is_a(target: str) -> None:
    b = halves(64, 64)
    check(kernels.triangle_a, (b,), (64, 64), np.cumsum(exact(b), axis=0), target)


@pytest.mark.sample(4)
@TARGETS
@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        (kernels.chained_a, lambda a, b: np.exp(a @ b / 8) @ b),
        (kernels.chained_b, lambda a, b: a.T @ (a @ b)),
        (kernels.chained_transposed, lambda a, b: (a @ b).T @ a),
        (kernels.chained_reshaped, lambda a, b: (a @ b).reshape(128, 32) @ b[:32]),
    ],
)
def test_accumulators_become_operands(kernel, reference, target: str) -> None:
    a, b = halves(64, 64), halves(64, 64)
    check(kernel, (a, b), (64, 64), reference(exact(a), exact(b)), target)


@TARGETS
def test_accumulators_become_operands_of_tf32(target: str) -> None:
    a, b = singles(64, 32), singles(32, 32)
    expected = np.exp(exact(a) @ exact(b) / 8) @ exact(b)
    check(kernels.chained_tf32, (a, b), (64, 32), expected, target)


TILES = """
!va = !nv_tileas.tiled_view<64x64xf32, gmem>
!vb = !nv_tileas.tiled_view<64x64xf16, gmem>
func.func @k(%a: memref<64x64xf32>, %b: memref<64x64xf16>, %c: memref<64x64xf32>)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %va = nv_tileas.view %a : memref<64x64xf32> -> !va
  %vb = nv_tileas.view %b : memref<64x64xf16> -> !vb
  %vc = nv_tileas.view %c : memref<64x64xf32> -> !va
  %x = nv_tileas.tiled_load %va[%zero, %zero] {atom = #any} : !va -> tensor<64x64xf32>
  %left = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xf16>
  %y = nv_tileas.tiled_load %vb[%zero, %zero] {atom = #any} : !vb -> tensor<64x64xf16>
  %right = arith.addf %y, %left : tensor<64x64xf16>
  %d = nv_tileas.dot %left, %right, %nothing
    : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  nv_tileas.tiled_store %d, %vc[%zero, %zero] {atom = #any} : tensor<64x64xf32>, !va
  func.return
}
""".replace("#any", "#nv_tileas<atom unknown_copy>")


@TARGETS
def test_tiles_without_memory_go_where_products_read_them(target: str) -> None:
    """Written as tiles that nothing lays out: what computes and what multiplies disagree."""
    a, b, c = singles(64, 64), halves(64, 64), singles(64, 64)
    kernel = tileas.compile(TILES, target)
    left = a.astype(np.float16)
    expected = exact(left) @ exact((b + left).astype(np.float16))
    for run in (kernel.simulate(a, b, c), kernel.emulate(a, b, c, order="lazy")):
        np.testing.assert_allclose(run.arrays[2], expected, atol=1e-4, rtol=0)


@needs_ptxas
@TARGETS
def test_ptxas_takes_them(target: str) -> None:
    inputs = halves(64, 64), weights(64, 64), halves(1, 64), np.zeros((64, 64), np.float32)
    tileas.compile(kernels.dequantized_b, *inputs, 64, 64, 32, target=target).assemble()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("extents", "element", "target", "unit"),
    [
        ((16, 16, 64), ml_dtypes.float8_e5m2, "sm_90a", "mma.sync"),
        ((64, 64, 64), ml_dtypes.float8_e4m3fn, "sm_90a", "wgmma."),
        ((64, 64, 64), ml_dtypes.float8_e5m2, "sm_100a", "tcgen05.mma."),
        ((128, 128, 128), ml_dtypes.float8_e4m3fn, "sm_100a", "block_scale"),
    ],
)
def test_products_of_scaled_blocks(extents, element, target: str, unit: str) -> None:
    """Scales are row-major; powers of two that differ from row to row and block to block."""
    m, n, k = extents
    a, b = (singles(*shape).astype(element) for shape in ((m, k), (k, n)))
    of_a, of_b = (
        np.exp2(RNG.integers(-3, 4, shape)).astype(ml_dtypes.float8_e8m0fnu)
        for shape in ((m, k // 32), (k // 32, n))
    )
    given = a, of_a, b, of_b, singles(m, n)
    constants = m, n, k, 32
    compiled = tileas.compile(kernels.block_scaled, *given, *constants, target=target)
    assert unit in compiled.ptx
    found = compiled.emulate(*given, *constants, order="lazy")
    assert [str(finding) for finding in found.findings] == []
    left, right = np.repeat(exact(of_a), 32, axis=1), np.repeat(exact(of_b), 32, axis=0)
    expected = (exact(a) * left) @ (exact(b) * right) + exact(given[4])
    limit = 1e-6 * np.abs(expected).max()
    np.testing.assert_allclose(found.arrays[4], expected, atol=limit, rtol=0)


def test_accumulators_take_turns_in_tensor_memory() -> None:
    """Three of 256 columns need 768; one is read before the next begins."""
    a, b, out = halves(64, 16), halves(16, 256), np.full((64, 256), np.nan, np.float32)
    kernel = tileas.compile(kernels.taking_turns, a, b, out, 3, 64, 256, 16, target="sm_100a")
    found = kernel.emulate(a, b, out, 3, 64, 256, 16, order="lazy")
    assert [str(finding) for finding in found.findings] == []
    right = [(b * np.float16(k / 8)).astype(np.float64) for k in range(3)]
    expected = sum(np.maximum(exact(a) @ one, 0) for one in right)
    np.testing.assert_allclose(found.arrays[2], expected, atol=1e-4, rtol=0)


def test_accumulators_that_do_not_fit_together_are_named() -> None:
    a, b, out = halves(64, 32), halves(32, 256), singles(64, 256)
    with pytest.raises(
        DiagnosticError, match="allocated tmem out of resource: 768 vs 512"
    ) as found:
        tileas.compile(kernels.alive_together, a, b, out, 64, 256, 16, target="sm_100a")
    (error,) = found.value.diagnostics
    assert [note.message.split("x256")[1] for note in error.notes] == [" takes 256 columns"] * 3
