"""`cp.async`, `ldmatrix` and `mma.sync` by their operations: the emulator and numpy agree."""

from __future__ import annotations

from string import Template

import ml_dtypes
import numpy as np
import pytest

from tileas_xdsl.compiler import compile
from tileas_xdsl.interpreters.ptx.instructions.dot.warp_matrix import locations
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


ATOM = Template("""
!in = !cute.ptr<$T, gmem, align<4>>
!out = !cute.ptr<$D, gmem, align<4>>
func.func @product(%a: !in, %b: !in, %c: !out) attributes {
  cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, tileas.smem_bytes = 0 : i32,
  tileas.parameters = ["ptr 0", "ptr 1", "ptr 2"], tileas.tensor_maps = [], tileas.smem_map = ""
} {
  %lane = cute_nvgpu.arch.lane_idx
  %na = arith.constant $NA : i32
  %nb = arith.constant $NB : i32
  %nc = arith.constant 4 : i32
  %ia = arith.muli %lane, %na : i32
  %ib = arith.muli %lane, %nb : i32
  %ic = arith.muli %lane, %nc : i32
  %pa = cute.add_offset %a, %ia : !in, i32 -> !in
  %pb = cute.add_offset %b, %ib : !in, i32 -> !in
  %pc = cute.add_offset %c, %ic : !out, i32 -> !out
  %x = cute.ptr.load %pa : !in -> vector<${NA}x$T>
  %y = cute.ptr.load %pb : !in -> vector<${NB}x$T>
  %z = arith.constant dense<1.0> : vector<4x$D>
  %atom = cute.make_atom() : () -> !cute_nvgpu.sm89.mma<16x8x$K, elem_type = ($T, $T, $D) >
  %ra = cute.memref.alloca() : () -> !cute.memref<$T, rmem, "($NA):(1)">
  %rb = cute.memref.alloca() : () -> !cute.memref<$T, rmem, "($NB):(1)">
  %rc = cute.memref.alloca() : () -> !cute.memref<$D, rmem, "(4):(1)">
  cute.memref.store_vec(%x, %ra)
  cute.memref.store_vec(%y, %rb)
  cute.memref.store_vec(%z, %rc)
  cute.mma_atom_call(%atom, %rc, %ra, %rb, %rc) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  %d = cute.memref.load_vec(%rc) : vector<4x$D>
  cute.ptr.store %d, %pc : vector<4x$D>, !out
  func.return
}
""")


def held_by_threads(matrix: np.ndarray, name: str) -> np.ndarray:
    """A matrix as its register layout spreads it: (threads, values)."""
    row, column = locations(name)
    return np.ascontiguousarray(matrix[row, column])


@pytest.mark.parametrize("accumulator", ["f16", "f32"])
@pytest.mark.parametrize("k", [16, 32])
@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_atoms_of_fp8_multiply(element: str, k: int, accumulator: str) -> None:
    """m16n8k16 and f16 accumulators came with PTX 8.7; m16n8k32 in f32 with 8.4."""
    dtype = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}[element]
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (rows, k)).astype(dtype) for rows in (16, 8))
    source = ATOM.substitute(T=element, D=accumulator, K=k, NA=k // 2, NB=k // 4)
    kernel = compile(source, passes=PIPELINES["cute-to-ptx"].passes)
    assert f"mma.sync.aligned.m16n8k{k}.row.col.{accumulator}." in kernel.ptx
    is_first = (k, accumulator) == (32, "f32")
    assert kernel.ptx.startswith(f".version {'8.4' if is_first else '8.7'}")
    layout = f"mma.m16n8k{k}.8bit"
    out = np.zeros((32, 4), np.float16 if accumulator == "f16" else np.float32)
    found = kernel.emulate(
        held_by_threads(a, f"{layout}.a"), held_by_threads(b, f"{layout}.b"), out
    )
    assert [str(finding) for finding in found.findings] == []
    expected = a.astype(np.float64) @ b.astype(np.float64).T + 1
    np.testing.assert_array_equal(
        found.arrays[2].astype(np.float64), held_by_threads(expected, f"{layout}.c")
    )
