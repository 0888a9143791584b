"""`cp.async`, `ldmatrix` and `mma.sync` by their operations: the emulator and numpy agree."""

from __future__ import annotations

from string import Template

import ml_dtypes
import numpy as np
import pytest

from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

KERNEL = Template("""
!in = !cute.ptr<$T, gmem, align<16>>
!out = !cute.ptr<$D, gmem, align<8>>
!bytes = !cute.ptr<i8, smem, align<16>>
!tile = !cute.ptr<$T, smem, align<16>>
func.func @product(%a: !in, %b: !in, %c: !out) attributes {
  cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, tileas.smem_bytes = 1024 : i32,
  tileas.parameters = ["ptr 0", "ptr 1", "ptr 2"], tileas.tensor_maps = [], tileas.smem_map = ""
} {
  %lane = cute_nvgpu.arch.lane_idx
  %chunk = arith.constant $CHUNK : i32
  %sixteen = arith.constant 16 : i32
  %eight = arith.constant 8 : i32
  %four = arith.constant 4 : i32
  %two = arith.constant 2 : i32
  %width = arith.constant 32 : i32
  %sa = cute_nvgpu.arch.get_dyn_smem 0 -> !bytes
  %sb = cute_nvgpu.arch.get_dyn_smem 512 -> !bytes
  %ta = cute.recast_iter %sa : !bytes -> !tile
  %tb = cute.recast_iter %sb : !bytes -> !tile
  %first = arith.muli %lane, %chunk : i32
  %from_a = cute.add_offset %a, %first : !in, i32 -> !in
  %to_a = cute.add_offset %ta, %first : !tile, i32 -> !tile
  %from_b = cute.add_offset %b, %first : !in, i32 -> !in
  %to_b = cute.add_offset %tb, %first : !tile, i32 -> !tile
  %half = arith.cmpi slt, %lane, %sixteen : i32
  cute_nvgpu.arch.copy.SM80.cp_async %from_a to %to_a bytes 16 cache "global" : !in, !tile
  cute_nvgpu.arch.copy.SM80.cp_async %from_b to %to_b bytes 16 cache "always" if %half : !in, !tile
  cute_nvgpu.arch.copy.SM80.cp_async_commit_group
  cute_nvgpu.arch.copy.SM80.cp_async_wait_group $PENDING
  cute_nvgpu.arch.sync_warp
  %row_a = arith.remui %lane, %sixteen : i32
  %half_a = arith.divui %lane, %sixteen : i32
  %at_a = arith.muli %row_a, %width : i32
  %in_a = arith.muli %half_a, %sixteen : i32
  %byte_a = arith.addi %at_a, %in_a : i32
  %rows_a = cute.add_offset %sa, %byte_a : !bytes, i32 -> !bytes
  %row_b = arith.remui %lane, %eight : i32
  %group = arith.divui %lane, %eight : i32
  %half_b = arith.remui %group, %two : i32
  %at_b = arith.muli %row_b, %width : i32
  %in_b = arith.muli %half_b, %sixteen : i32
  %byte_b = arith.addi %at_b, %in_b : i32
  %rows_b = cute.add_offset %sb, %byte_b : !bytes, i32 -> !bytes
  %ma = cute_nvgpu.arch.copy.ldsm %rows_a matrices 4 : !bytes -> vector<$NA>
  %mb = cute_nvgpu.arch.copy.ldsm %rows_b matrices 2 : !bytes -> vector<$NB>
  %zero = arith.constant dense<$ZERO> : vector<4x$D>
  %d = cute_nvgpu.arch.mma.$TIER %ma, %mb, %zero shape [16, 8, $K] elements "$E", "$E"
    : vector<$NA>, vector<$NB>, vector<4x$D> -> vector<4x$D>
  %quad = arith.divui %lane, %four : i32
  %place = arith.remui %lane, %four : i32
  %r = arith.muli %quad, %eight : i32
  %column = arith.muli %place, %two : i32
  %o = arith.addi %r, %column : i32
  %out = cute.add_offset %c, %o : !out, i32 -> !out
  %upper = cute.fragment.slice %d [0] : vector<4x$D> -> vector<2x$D>
  %lower = cute.fragment.slice %d [2] : vector<4x$D> -> vector<2x$D>
  cute.ptr.store %upper, %out : vector<2x$D>, !out
  cute.ptr.store %lower, %out offset 64 : vector<2x$D>, !out
  func.return
}
""")

ELEMENTS = {
    "f16": ("f16", np.float16, 2, "SM80"),
    "bf16": ("bf16", ml_dtypes.bfloat16, 2, "SM80"),
    "e4m3": ("f8E4M3FN", ml_dtypes.float8_e4m3fn, 1, "SM89"),
    "s8": ("i8", np.int8, 1, "SM80"),
}


def text(name: str, pending: int = 0) -> str:
    element, _, size, tier = ELEMENTS[name]
    is_integer = name == "s8"
    return KERNEL.substitute(
        T=element,
        E=name,
        D="i32" if is_integer else "f32",
        ZERO="0" if is_integer else "0.0",
        TIER=tier,
        K=32 // size,
        CHUNK=16 // size,
        NA=f"{16 // size}x{element}",
        NB=f"{8 // size}x{element}",
        PENDING=pending,
    )


def inputs(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    _, dtype, size, _ = ELEMENTS[name]
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 9, (rows, 32 // size)).astype(dtype) for rows in (16, 8))
    c = np.full((16, 8), -1, np.int32) if name == "s8" else np.full((16, 8), np.nan, np.float32)
    return a, b, c


@pytest.mark.parametrize("order", ["eager", "lazy"])
@pytest.mark.parametrize("name", ELEMENTS)
def test_a_warp_multiplies(name: str, order: str) -> None:
    """Small integers, so that sums are exact in every type."""
    a, b, c = inputs(name)
    kernel = compile(text(name), passes=PIPELINES["cute-to-ptx"].passes)
    found = kernel.emulate(a, b, c, order=order)
    assert [str(finding) for finding in found.findings] == []
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_array_equal(found.arrays[2].astype(np.float64), expected)


def test_copies_that_are_not_waited_for_are_found() -> None:
    kernel = compile(text("f16", pending=1), passes=PIPELINES["cute-to-ptx"].passes)
    found = kernel.emulate(*inputs("f16"), order="lazy")
    assert found.findings
