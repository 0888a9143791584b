"""`convert-cute-to-nvgpu` on the emulator: boxes, tensor memory, and what kernels allocate."""

from __future__ import annotations

from string import Template

import numpy as np
import pytest

from tileas_xdsl.compiler import compile

BOXES = Template("""
!view = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=4},1)">
!box = !cute.layout<"(16,32):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (16,32):(32,1)">
!load = !cute_nvgpu.atom.tma_load<f32, copy_bits = 16384, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(32,16):(1@1,1@0)">>
!sum = !cute_nvgpu.atom.tma_reduce<f32, copy_bits = 16384, mode = tiled, kind = ADD, g_stride = <"()"> tma_gbasis = <"(32,16):(1@1,1@0)">>
!map = !cute.ptr<i64, generic>
!barrier = !cute.ptr<i64, smem, align<8>>
!one = !cute_nvgpu.atom.universal_copy<f32, 128 b>
func.func @boxes(%a: !view, %b: !view) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %bx = cute_nvgpu.arch.block_idx "x"
  %by = cute_nvgpu.arch.block_idx "y"
  %zero = arith.constant 0 : i32
  %first = arith.cmpi eq, %t, %zero : i32
  %full = cute_nvgpu.arch.alloc_smem 1 -> !barrier
  %tile = cute_nvgpu.arch.alloc_smem 512 -> !cute.ptr<f32, smem, align<1024>, S<3,4,3>>
  cute_nvgpu.arch.mbarrier_init %full, 1 if %first : !barrier
  cute_nvgpu.arch.fence_mbarrier_init
  cute_nvgpu.arch.barrier id 0
  %lies = cute.static : !lies
  %box = cute.static : !box
  %map_a = cute_nvgpu.make_tma_desc_tiled %a, %lies, %box : !view, !lies, !box
  %map_b = cute_nvgpu.make_tma_desc_tiled %b, %lies, %box : !view, !lies, !box
  %at_a = cute_nvgpu.get_grid_constant_pointer %map_a : !cute_nvgpu.tma_descriptor_tiled
  %at_b = cute_nvgpu.get_tma_desc_addr %map_b : !cute_nvgpu.tma_descriptor_tiled
  %load = cute.make_atom(%at_a, %full) : (!map, !barrier) -> !load
  %sum = cute.make_atom(%at_b) : (!map) -> !sum
  cute_nvgpu.prefetch_tma_desc %load : !load

  %rows = cute.static : !cute.layout<"(16,32):(32,1)">
  %s = cute.make_view(%tile, %rows) : !cute.view
  %start = cute.make_int_tuple(%bx, %by) : (i32, i32) -> !cute.int_tuple<"(?,?)">
  %boxes = cute.static : !cute.int_tuple<"(32,16)">
  %from = cute.tuple_mul(%start, %boxes) : !cute.int_tuple
  %axes = cute.static : !cute.layout<"(16,32):(1@1,1@0)">
  %g = cute.make_view(%from, %axes) : !cute.view
  %gs = cute.group_modes(%g) <{begin = 0, end = 2}> : !cute.view
  %ss = cute.group_modes(%s) <{begin = 0, end = 2}> : !cute.view
  %block = cute.static : !cute.coord<"0">
  %blocks = cute.static : !cute.layout<"1:0">
  %sp, %gp = cute_nvgpu.atom.tma_partition(%load, %block, %blocks, %ss, %gs)
  scf.if %first {
    cute_nvgpu.arch.mbarrier_arrive_expect_tx %full, $BYTES : !barrier
    cute.copy(%load, %gp, %sp) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  }
  cute_nvgpu.arch.mbarrier_wait %full, %zero : !barrier

  %four = cute.static : !cute.int_tuple<"4">
  %regs = cute_nvgpu.arch.alloc_rmem %four : !cute.int_tuple<"4"> -> !cute.ptr<f32, rmem, align<16>>
  %line = cute.static : !cute.layout<"4:1">
  %r = cute.make_view(%regs, %line) : !cute.view
  %thread = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %quads = cute.static : !cute.layout<"((8,16),4):((4,32),1)">
  %view = cute.make_view(%tile, %quads) : !cute.view
  %mine = cute.slice(%view, %thread) : !cute.view
  %one = cute.make_atom() : () -> !one
  cute.copy(%one, %mine, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  %x = cute.memref.load_vec(%r) : vector<4xf32>
  %y = arith.addf %x, %x : vector<4xf32>
  cute.memref.store_vec(%y, %r)
  cute.copy(%one, %r, %mine) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute_nvgpu.arch.fence_proxy_async "shared::cta"
  cute_nvgpu.arch.barrier id 0
  scf.if %first {
    cute.copy(%sum, %sp, %gp) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
    cute_nvgpu.arch.bulk_commit_group
    cute_nvgpu.arch.bulk_wait_group 0
  }
  func.return
}
""")  # noqa: E501


def test_boxes_are_loaded_doubled_and_added() -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-99, 99, (40, 60)).astype(np.float32) for _ in range(2))
    made = compile(BOXES.substitute(BYTES=2048))
    assert "prefetch.tensormap" in made.ptx
    found = made.emulate(a, b.copy(), grid=(2, 3, 1))
    assert [str(finding) for finding in found.findings] == []
    assert np.array_equal(found.arrays[1], b + 2 * a)


def test_bytes_that_do_not_come_are_seen() -> None:
    a = np.ones((16, 32), np.float32)
    found = compile(BOXES.substitute(BYTES=2064)).emulate(a, a.copy(), limit=20_000)
    assert found.findings or not found.finished


THROUGH_TENSOR_MEMORY = Template("""
!view = !cute.memref<f32, gmem, align<16>, "(128,8):(8,1)">
!place = !cute.ptr<i32, smem, align<8>>
!cells = !cute.ptr<f32, tmem, align<16>>
!store = !cute_nvgpu.atom.tmem_store<f32, $STORE>
!load = !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x8>
!one = !cute_nvgpu.atom.universal_copy<f32, 32 b>
func.func @through(%a: !view, %b: !view) attributes {cute.kernel, cute.target = "sm_100a", nvvm.reqntid = array<i32: 128, 1, 1>} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %warp = cute_nvgpu.arch.warp_idx
  %zero = arith.constant 0 : i32
  %allocates = arith.cmpi eq, %warp, %zero : i32
  %place = cute_nvgpu.arch.alloc_smem 1 -> !place
  scf.if %allocates {
    cute_nvgpu.arch.sm100.alloc_tmem %place, 32 blocks 1 : !place
    cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit blocks 1
  }
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  %memory = cute_nvgpu.arch.sm100.retrieve_tmem_ptr %place : !place
  %base = cute.inttoptr %memory : i32 -> !cells
  %eight = arith.constant 8 : i32
  %behind = cute.add_offset %base, %eight : !cells, i32 -> !cells
  %lie = cute.static : !cute.layout<"(128,8):(65536,1)">
  %d = cute.make_view(%behind, %lie) : !cute.view
  %thread = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %store = cute.make_atom() : () -> !store
  %load = cute.make_atom() : () -> !load
  %one = cute.make_atom() : () -> !one
  %stores = cute.make_tiled_copy(%store) : (!store) -> !cute.tiled_copy<!store, layout_copy_tv = <"$TV">, tiler_mn = <"[$TILER]">>
  %loads = cute_nvgpu.atom.make_tmem_copy(%load, %d)
  %given = cute.tiled.copy.partition_S(%stores, %a, %thread) : !cute.view
  %in = cute.tiled.copy.partition_D(%stores, %d, %thread) : !cute.view
  %r = cute.make_fragment_like(%given) : !cute.view
  cute.copy(%one, %given, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.copy(%stores, %r, %in) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute_nvgpu.arch.sm100.wait_tmem "store"
  %out = cute.tiled.copy.partition_S(%loads, %d, %thread) : !cute.view
  %taken = cute.tiled.copy.partition_D(%loads, %b, %thread) : !cute.view
  %q = cute.make_fragment_like(%taken) : !cute.view
  cute.copy(%loads, %out, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute_nvgpu.arch.sm100.wait_tmem "load"
  cute.copy(%one, %q, %taken) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  scf.if %allocates {
    cute_nvgpu.arch.sm100.dealloc_tmem %memory, 32 blocks 1
  }
  func.return
}
""")  # noqa: E501

STORES = {
    "32 DP, 32 bit, x8": ("(128,8):(1,128)", "128:1;8:1"),
    "32 DP, 32 bit, x2": ("(128,2):(1,128)", "128:1;2:1"),
    "16 DP, 128 bit, x2": (
        "((4,8,4),(2,2)):((64,1,16),(8,256))",
        "(16,4):(1,32);8:1",
    ),
    "16 DP, 256 bit, x1": (
        "((4,8,4),(2,2)):((128,1,16),(64,8))",
        "(16,4):(1,32);8:1",
    ),
}
"""Moves, and what a thread has of the tile that one of them takes; 16 lanes of every 32 at once."""


@pytest.mark.parametrize("store", STORES)
def test_registers_go_through_tensor_memory(store: str) -> None:
    tv, tiler = STORES[store]
    a = np.random.default_rng(4).standard_normal((128, 8)).astype(np.float32)
    made = compile(
        THROUGH_TENSOR_MEMORY.substitute(STORE=store, TV=tv, TILER=tiler), target="sm_100a"
    )
    found = made.emulate(a, np.full_like(a, np.nan))
    assert [str(finding) for finding in found.findings] == []
    assert np.array_equal(found.arrays[1], a)
