"""`cute.gemm` over K with scales and metadata in tensor memory, on the emulator: exact sums."""

from __future__ import annotations

from string import Template

import ml_dtypes
import numpy as np
import pytest
from support.sparse_kernels import codes_of, spread_out

from tileas_xdsl.compiler import compile

M = N = 128
BLOCK = 32
INSTRUCTIONS = 4
FP8 = ml_dtypes.float8_e4m3fn

TEXT = Template("""
!rows = !cute.memref<f8E4M3FN, gmem, align<16>, "(128,16,(8,$PARTS)):($K,1,(16,128))">
!words = !cute.memref<f32, gmem, align<16>, "(128,16):(16,1)">
!sums = !cute.memref<f32, gmem, align<16>, "(128,128):(128,1)">
!tile = !cute.memref<f8E4M3FN, smem, align<1024>, S<3,4,3>, "(128,(128,$PARTS)):(128,(1,16384))">
!place = !cute.ptr<i32, smem, align<8>>
!barrier = !cute.ptr<i64, smem, align<8>>
!copy = !cute_nvgpu.atom.universal_copy<f8E4M3FN, 128 b>
!mma = !cute_nvgpu.sm100.$MMA
func.func @scaled(%a: !rows, %b: !rows, %words: !words, %c: !sums) attributes {cute.kernel, cute.target = "sm_100a", nvvm.reqntid = array<i32: 128, 1, 1>} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %warp = cute_nvgpu.arch.warp_idx
  %zero = arith.constant 0 : i32
  %first = arith.cmpi eq, %t, %zero : i32
  %allocates = arith.cmpi eq, %warp, %zero : i32
  %place = cute_nvgpu.arch.alloc_smem 1 -> !place
  %done = cute_nvgpu.arch.alloc_smem 1 -> !barrier
  %sa = cute.memref.alloc_smem() : () -> !tile
  %sb = cute.memref.alloc_smem() : () -> !tile
  scf.if %allocates {
    cute_nvgpu.arch.sm100.alloc_tmem %place, 256 blocks 1 : !place
    cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit blocks 1
  }
  cute_nvgpu.arch.mbarrier_init %done, 1 if %first : !barrier
  cute_nvgpu.arch.fence_mbarrier_init
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  %memory = cute_nvgpu.arch.sm100.retrieve_tmem_ptr %place : !place

  %copy = cute.make_atom() : () -> !copy
  %mine = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_,_)">
  %chunks = cute.static : !cute.layout<"(128,16,(8,$PARTS)):(128,1,(16,16384))">
  %pa = cute.get_iter(%sa) : !cute.ptr
  %pb = cute.get_iter(%sb) : !cute.ptr
  %ca = cute.make_view(%pa, %chunks) : !cute.view
  %cb = cute.make_view(%pb, %chunks) : !cute.view
  %from_a = cute.slice(%a, %mine) : !cute.view
  %from_b = cute.slice(%b, %mine) : !cute.view
  %to_a = cute.slice(%ca, %mine) : !cute.view
  %to_b = cute.slice(%cb, %mine) : !cute.view
  %ra = cute.make_fragment_like(%from_a) : !cute.view
  %rb = cute.make_fragment_like(%from_b) : !cute.view
  cute.copy(%copy, %from_a, %ra) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.copy(%copy, %from_b, %rb) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.copy(%copy, %ra, %to_a) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.copy(%copy, %rb, %to_b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute_nvgpu.arch.fence_proxy_async "shared::cta"

  %quarter = arith.constant 2097152 : i32
  %above = arith.muli %warp, %quarter : i32
  %lanes = arith.addi %memory, %above : i32
  %behind = arith.constant 128 : i32
  %at = arith.addi %lanes, %behind : i32
  %row = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %own = cute.slice(%words, %row) : !cute.view
  %held = cute.memref.load_vec(%own) : vector<16xf32>
  cute_nvgpu.arch.copy.SM100.tmem_store %held, %at shape "32x32b" repeat 16 : vector<16xf32>
  cute_nvgpu.arch.sm100.wait_tmem "store"
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"

  %false = arith.constant false
  %sfa_at = arith.addi %memory, %behind : i32
  %four = arith.constant 4 : i32
  %sfb_at = arith.addi %sfa_at, %four : i32
  %e_at = arith.addi %sfb_at, %four : i32
  %atom = cute.make_atom($VALUES) : ($TYPES) -> !mma
  %tiled = cute.make_tiled_mma(%atom) : (!mma) -> !cute.tiled_mma<!mma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
  %here = cute.static : !cute.coord<"0">
  %part_a = cute.tiled.mma.partition(%tiled, %sa, %here) <{operand_id = "A"}> : !cute.view
  %part_b = cute.tiled.mma.partition(%tiled, %sb, %here) <{operand_id = "B"}> : !cute.view
  %shape = cute.static : !cute.shape<"(128,128)">
  %part_c = cute.tiled.mma.partition_shape(%tiled, %shape) <{operand_id = "C"}> : !cute.shape
  %fa = cute.mma.make_fragment(%tiled, %part_a) <{operand_id = "A"}> : !cute.view
  %fb = cute.mma.make_fragment(%tiled, %part_b) <{operand_id = "B"}> : !cute.view
  %shaped = cute.mma.make_fragment(%tiled, %part_c) <{operand_id = "C"}> : !cute.view
  %lie = cute.get_layout(%shaped) : !cute.layout
  %base = cute.inttoptr %memory : i32 -> !cute.ptr<f32, tmem, align<16>>
  %d = cute.make_view(%base, %lie) : !cute.view
  %pfa = cute.inttoptr %sfa_at : i32 -> !cute.ptr<f8E8M0FNU, tmem, align<16>>
  %pfb = cute.inttoptr %sfb_at : i32 -> !cute.ptr<f8E8M0FNU, tmem, align<16>>
  %pe = cute.inttoptr %e_at : i32 -> !cute.ptr<i8, tmem, align<16>>
  %scales = cute.static : !cute.layout<"(4,1,4):(4,16,1)">
  %columns = cute.static : !cute.layout<"(8,1,4):(1,0,8)">
  %sfa = cute.make_view(%pfa, %scales) : !cute.view
  %sfb = cute.make_view(%pfb, %scales) : !cute.view
  %e = cute.make_view(%pe, %columns) : !cute.view
  scf.if %first {
    cute.gemm(%tiled, %d, %fa, $OF_A, %fb, %sfb, %d) <{operandSegmentSizes = array<i32: 1, 1, $COUNT, 2, 1>}>
  }
  cute_nvgpu.arch.sm100.umma_commit %done if %first blocks 1 : !barrier
  cute_nvgpu.arch.mbarrier_wait %done, %zero : !barrier
  cute_nvgpu.arch.sm100.fence_tmem "after"

  %loaded = cute_nvgpu.arch.copy.SM100.tmem_load %lanes shape "32x32b" repeat 128 : vector<128xf32>
  %sums = cute_nvgpu.arch.sm100.wait_tmem "load", %loaded : vector<128xf32> -> vector<128xf32>
  %to = cute.slice(%c, %row) : !cute.view
  cute.memref.store_vec(%sums, %to)
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  scf.if %allocates {
    cute_nvgpu.arch.sm100.dealloc_tmem %memory, 256 blocks 1
  }
  func.return
}
""")  # noqa: E501


def kernel_text(*, sparse: bool) -> str:
    depth = BLOCK * (1 + sparse)
    values = ["%false"] * 3 + ["%sfa_at", "%sfb_at"] + ["%e_at"] * sparse
    return TEXT.substitute(
        K=depth * INSTRUCTIONS,
        PARTS=1 + sparse,
        MMA=f"mma_bs{'_sp' * sparse}<128x128x{depth}, num_cta = 1, ab_major = (k, k), elem_type = "
        "(f8E4M3FN, f8E4M3FN, f32), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 32>",
        VALUES=", ".join(values),
        TYPES=", ".join(["i1"] * 3 + ["i32"] * (len(values) - 3)),
        OF_A="%sfa, %e" if sparse else "%sfa",
        COUNT=2 + sparse,
    )


def small(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return (rng.integers(-8, 9, (rows, columns)) / 2).astype(FP8)


def in_lanes(scales: np.ndarray) -> np.ndarray:
    """Scales (128, 4) as bytes, to words (128, 4): row 32 j + i in column j of lanes i mod 32."""
    words = np.ascontiguousarray(scales).view(np.uint32).reshape(4, 32).T
    return np.tile(words, (4, 1))


def metadata_in_lanes(codes: np.ndarray) -> np.ndarray:
    """Nibbles (128, chunks) to words (128, chunks / 8): a row's are in its lane."""
    shifts = 4 * np.arange(8, dtype=np.uint32)
    return (codes.reshape(M, -1, 8).astype(np.uint32) << shifts).sum(-1, dtype=np.uint32)


@pytest.mark.parametrize("sparse", [False, True], ids=["scales", "scales-and-metadata"])
def test_a_loop_over_k_has_scales_of_its_own(sparse: bool) -> None:
    """[A, SFA] or [A, SFA, E] and [B, SFB]: four instructions, a byte of a column each."""
    rng = np.random.default_rng(11)
    depth = BLOCK * INSTRUCTIONS * (1 + sparse)
    powers = [rng.integers(-2, 3, (128, INSTRUCTIONS)) for _ in "AB"]
    words = rng.integers(0, 1 << 32, (M, 16), dtype=np.uint64).astype(np.uint32)
    for side, power in enumerate(powers):
        words[:, 4 * side : 4 * side + 4] = in_lanes((power + 127).astype(np.uint8))
    kept, b = small(rng, M, BLOCK * INSTRUCTIONS), small(rng, N, depth)
    a = whole = kept
    if sparse:
        codes = codes_of(8, M, depth, rng)
        whole = spread_out(kept, codes, 8)
        words[:, 8:] = metadata_in_lanes(codes)
        held = np.full((M, INSTRUCTIONS, 2, BLOCK), np.nan, FP8)  # the second half is not read
        held[:, :, 0] = kept.reshape(M, INSTRUCTIONS, BLOCK)
        a = held.reshape(M, depth)
    left, right = (
        x.astype(np.float64) * np.repeat(2.0**power, depth // INSTRUCTIONS, axis=1)
        for x, power in zip((whole, b), powers, strict=True)
    )
    made = compile(kernel_text(sparse=sparse), target="sm_100a")
    sums = np.full((M, N), np.nan, np.float32)
    found = made.emulate(a, b, words.view(np.float32), sums)
    assert [str(finding) for finding in found.findings] == []
    assert made.ptx.count("tcgen05.mma") == INSTRUCTIONS
    np.testing.assert_array_equal(found.arrays[-1], left @ right.T)
