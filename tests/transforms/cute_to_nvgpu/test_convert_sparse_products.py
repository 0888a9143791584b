"""Sparse and block-scaled products of a warp, from atoms of `cute` to PTX, on the emulator."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from support.matrix_kernels import to_registers
from support.sparse_kernels import codes_of, metadata_of, spread_out

from tileas_xdsl.compiler import compile

TEXT = """
!atom = !cute_nvgpu.ATOM
!copy = !cute_nvgpu.atom.universal_copy<ELEMENT, 128 b>
!some = !cute_nvgpu.atom.universal_copy<ELEMENT, BITS b>
!sum = !cute_nvgpu.atom.universal_copy<f32, 32 b>
func.func @product(%a: !cute.memref<ELEMENT, gmem, align<16>, "(32,NA):(NA,1)">, %b: !cute.memref<ELEMENT, gmem, align<16>, "(32,NB):(NB,1)">, %e: !cute.memref<i32, gmem, align<4>, "(32):(1)">, %d: !cute.memref<f32, gmem, align<16>, "(32,4):(4,1)">) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %mine = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %own = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %word = cute.memref.load(%e, %own) : i32
  %atom = cute.make_atom(VALUES) : (TYPES) -> !atom
  %copy = cute.make_atom() : () -> !copy
  %some = cute.make_atom() : () -> !some
  %sum = cute.make_atom() : () -> !sum
  %va = cute.slice(%a, %mine) : !cute.view
  %vb = cute.slice(%b, %mine) : !cute.view
  %vd = cute.slice(%d, %mine) : !cute.view
  %ra = cute.make_fragment_like(%va) : !cute.view
  %rb = cute.make_fragment_like(%vb) : !cute.view
  %rd = cute.make_fragment_like(%vd) : !cute.view
  cute.copy(%copy, %va, %ra) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.copy(%some, %vb, %rb) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.copy(%sum, %vd, %rd) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.mma_atom_call(%atom, %rd, %ra, %rb, %rd) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  cute.copy(%sum, %rd, %vd) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}
"""  # noqa: E501


def text_of(atom: str, element: str, bits: int, counts: tuple[int, int], values: int) -> str:
    words = {
        "ATOM": atom,
        "ELEMENT": element,
        "BITS": str(bits),
        "NA": str(counts[0]),
        "NB": str(counts[1]),
        "VALUES": ", ".join(["%word"] * values),
        "TYPES": ", ".join(["i32"] * values),
    }
    text = TEXT
    for name, word in words.items():
        text = text.replace(name, word)
    return text


def emulated(text: str, target: str, arrays: list[np.ndarray]) -> np.ndarray:
    found = compile(text, target=target).emulate(*arrays)
    assert [str(finding) for finding in found.findings] == []
    result = found.arrays[-1]
    assert isinstance(result, np.ndarray)
    return result


def test_a_keeps_two_of_four_elements() -> None:
    rng = np.random.default_rng(7)
    kept = (rng.integers(-8, 9, (16, 16)) / 2).astype(np.float16)
    b = (rng.integers(-8, 9, (8, 32)) / 2).astype(np.float16)
    c = rng.integers(-9, 9, (16, 8)).astype(np.float32)
    codes = codes_of(16, 16, 32, rng)
    held = np.concatenate(
        [to_registers(half, "mma.m16n8k16.16bit.b") for half in np.split(b, 2, 1)], 1
    )
    arrays = [
        to_registers(kept, "mma.m16n8k16.16bit.a").view(np.float16),
        np.ascontiguousarray(held).view(np.float16),
        metadata_of(codes, 16, 0, rng).view(np.int32),
        to_registers(c, "mma.m16n8k16.16bit.c").view(np.float32),
    ]
    atom = "sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32), metadata = ordered>"
    exact = spread_out(kept, codes, 16).astype(np.float64) @ b.astype(np.float64).T + c
    found = emulated(text_of(atom, "f16", 128, (8, 8), 1), "sm_90a", arrays)
    wanted = to_registers(exact.astype(np.float32), "mma.m16n8k16.16bit.c").view(np.float32)
    np.testing.assert_array_equal(found, wanted)


def test_blocks_of_k_have_scales() -> None:
    rng = np.random.default_rng(8)
    fp8 = ml_dtypes.float8_e4m3fn
    a, b = ((rng.integers(-8, 9, (rows, 32)) / 2).astype(fp8) for rows in (16, 8))
    c = rng.integers(-9, 9, (16, 8)).astype(np.float32)
    # The first thread of four scales a row of A and a column of B, the second one row 8 on.
    powers = rng.integers(-3, 4, (32,))
    rows = np.arange(16)
    scale_a = 2.0 ** powers[4 * (rows % 8) + rows // 8]
    scale_b = 2.0 ** powers[4 * np.arange(8)]
    arrays = [
        to_registers(a, "mma.m16n8k32.8bit.a").view(np.uint8).view(fp8),
        to_registers(b, "mma.m16n8k32.8bit.b").view(np.uint8).view(fp8),
        (powers + 127).astype(np.int32),
        to_registers(c, "mma.m16n8k32.8bit.c").view(np.float32),
    ]
    atom = (
        "SM120.mma_bs<16x8x32, vec_size = 32, elem_type = (f8E4M3FN, f8E4M3FN, f32), "
        "sf_type = f8E8M0FNU, use_sf_layout_TV = false>"
    )
    exact = (a.astype(np.float64) * scale_a[:, None]) @ (b.astype(np.float64) * scale_b[:, None]).T
    found = emulated(text_of(atom, "f8E4M3FN", 64, (16, 8), 2), "sm_120a", arrays)
    wanted = to_registers((exact + c).astype(np.float32), "mma.m16n8k32.8bit.c").view(np.float32)
    np.testing.assert_array_equal(found, wanted)
