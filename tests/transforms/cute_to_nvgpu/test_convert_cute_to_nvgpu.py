"""`convert-cute-to-nvgpu` on the emulator: matrices through shared memory, products of threads."""

from __future__ import annotations

from string import Template
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.verification.required_dialects import MissingDialectError
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.layout import Layout
from tileas_xdsl.transforms.conversion.convert_cute_to_nvgpu import ConvertCuteToNvgpu

THROUGH_SHARED = Template("""
!view = !cute.memref<f16, gmem, align<16>, "(16,16):(16,1)">
!row = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!rows = !cute.tiled_copy<!row, layout_copy_tv = <"((2,16),8):((128,1),16)">, tiler_mn = <"[16:1;16:1]">>
!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, $WAY>
!stsm = !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, $WAY>
!read = !cute.tiled_copy<!ldsm, layout_copy_tv = <"((4,8),(2,2,2)):((32,1),(16,8,128))">, tiler_mn = <"[16:1;16:1]">>
!write = !cute.tiled_copy<!stsm, layout_copy_tv = <"((4,8),(2,2,2)):((32,1),(16,8,128))">, tiler_mn = <"[16:1;16:1]">>
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
!tiled = !cute.tiled_mma<!mma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
func.func @through(%a: !view, %b: !view) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %thread = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %row = cute.make_atom() : () -> !row
  %rows = cute.make_tiled_copy(%row) : (!row) -> !rows
  %ldsm = cute.make_atom() : () -> !ldsm
  %read = cute.make_tiled_copy(%ldsm) : (!ldsm) -> !read
  %stsm = cute.make_atom() : () -> !stsm
  %write = cute.make_tiled_copy(%stsm) : (!stsm) -> !write
  %atom = cute.make_atom() : () -> !mma
  %tiled = cute.make_tiled_mma(%atom) : (!mma) -> !tiled
  %s = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<128>, S<1,4,3>, "(16,16):(16,1)">
  %p = cute.get_iter(%s) : !cute.ptr
  %as = cute.static : !cute.layout<"(16,16):$LAYOUT">
  %seen = cute.make_view(%p, %as) : !cute.view
  %from = cute.tiled.copy.partition_S(%rows, %a, %thread) : !cute.view
  %to = cute.tiled.copy.partition_D(%rows, %s, %thread) : !cute.view
  cute.copy(%rows, %from, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute_nvgpu.arch.barrier id 0
  %part = cute.tiled.mma.partition(%tiled, %seen, %thread) <{operand_id = "A"}> : !cute.view
  %r = cute.mma.make_fragment(%tiled, %part) <{operand_id = "A"}> : !cute.view
  %in = cute.tiled.copy.partition_S(%read, %seen, %thread) : !cute.view
  %held = cute.tiled.copy.retile(%read, %r) : !cute.view
  cute.copy(%read, %in, %held) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  $BACK
  func.return
}
""")  # noqa: E501

FROM_REGISTERS = """
  %mine = cute.tiled.mma.partition(%tiled, %b, %thread) <{operand_id = "A"}> : !cute.view
  %one = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 16 b>
  cute.copy(%one, %r, %mine) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
"""

BY_MATRICES = """
  cute_nvgpu.arch.barrier id 0
  %out = cute.tiled.copy.partition_D(%write, %seen, %thread) : !cute.view
  %given = cute.tiled.copy.retile(%write, %r) : !cute.view
  %twice = cute.memref.load_vec(%given) : vector<8xf16>
  %more = arith.addf %twice, %twice : vector<8xf16>
  cute.memref.store_vec(%more, %given)
  cute.copy(%write, %given, %out) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute_nvgpu.arch.barrier id 0
  %back = cute.tiled.copy.partition_S(%rows, %s, %thread) : !cute.view
  %last = cute.tiled.copy.partition_D(%rows, %b, %thread) : !cute.view
  cute.copy(%rows, %back, %last) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
"""

LAYOUTS = {"n": "(16,1)", "t": "(1,16)"}
"""By the way of a matrix, how rows and columns of A lie in shared memory."""


def emulated(text: str, *arrays: Any) -> Any:
    found = compile(text).emulate(*arrays)
    assert [str(finding) for finding in found.findings] == []
    return found.arrays[-1]


@pytest.mark.parametrize("way", LAYOUTS)
def test_matrices_are_read_as_they_lie_and_transposed(way: str) -> None:
    a = np.random.default_rng(1).standard_normal((16, 16)).astype(np.float16)
    text = THROUGH_SHARED.substitute(WAY=way, LAYOUT=LAYOUTS[way], BACK=FROM_REGISTERS)
    found = emulated(text, a, np.full_like(a, np.nan))
    assert np.array_equal(found, a if way == "n" else a.T)


@pytest.mark.parametrize("way", LAYOUTS)
def test_matrices_are_written_where_they_were_read(way: str) -> None:
    a = np.random.default_rng(2).standard_normal((16, 16)).astype(np.float16)
    text = THROUGH_SHARED.substitute(WAY=way, LAYOUT=LAYOUTS[way], BACK=BY_MATRICES)
    found = emulated(text, a, np.full_like(a, np.nan))
    assert np.array_equal(found, a + a)


PRODUCT = """
!view = !cute.memref<f32, gmem, "(4,3):(3,1)">
!fma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
!copy = !cute_nvgpu.atom.universal_copy<f32, 32 b>
func.func @product(%a: !view, %b: !view, %c: !cute.memref<f32, gmem, "(4,4):(4,1)">) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %fma = cute.make_atom() : () -> !fma
  %copy = cute.make_atom() : () -> !copy
  %one = cute.static : !cute.layout<"(1,4,3):(0,3,1)">
  %all = cute.static : !cute.layout<"(1,4,4):(0,4,1)">
  %pa = cute.get_iter(%a) : !cute.ptr
  %pb = cute.get_iter(%b) : !cute.ptr
  %pc = cute.get_iter(%c) : !cute.ptr
  %va = cute.make_view(%pa, %one) : !cute.view
  %vb = cute.make_view(%pb, %one) : !cute.view
  %vc = cute.make_view(%pc, %all) : !cute.view
  %ra = cute.make_fragment_like(%va) : !cute.view
  %rb = cute.make_fragment_like(%vb) : !cute.view
  %rc = cute.make_fragment_like(%vc) : !cute.view
  %rd = cute.make_fragment_like(%vc) : !cute.view
  cute.copy(%copy, %va, %ra) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.copy(%copy, %vb, %rb) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.copy(%copy, %vc, %rc) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.gemm(%fma, %rd, %ra, %rb, %rc) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  %t = cute_nvgpu.arch.thread_idx "x"
  %zero = arith.constant 0 : i32
  %first = arith.cmpi eq, %t, %zero : i32
  scf.if %first {
    cute.copy(%copy, %rd, %vc) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  }
  func.return
}
"""  # noqa: E501


def test_a_thread_multiplies_and_adds_to_c() -> None:
    rng = np.random.default_rng(3)
    a, b, c = (rng.standard_normal((4, n)).astype(np.float32) for n in (3, 3, 4))
    assert np.allclose(emulated(PRODUCT, a, b, c), a @ b.T + c, atol=1e-6)


COPIED = """
!view = !cute.memref<f16, gmem, align<16>, "(32,16):(16,1)">
!row = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!rows = !cute.tiled_copy<!row, layout_copy_tv = <"(32,8):(1,32)">, tiler_mn = <"[32:1;8:1]">>
func.func @copied(%a: !view, %b: !view) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %thread = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %row = cute.make_atom() : () -> !row
  %rows = cute.make_tiled_copy(%row) : (!row) -> !rows
  %from = cute.tiled.copy.partition_S(%rows, %a, %thread) : !cute.view
  %to = cute.tiled.copy.partition_D(%rows, %b, %thread) : !cute.view
  %r = cute.copy.make_fragment(%rows, %from) <{operand_id = "D"}> : !cute.view
  cute.copy(%rows, %from, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  %x = cute.memref.load_vec(%r) : vector<16xf16>
  %y = arith.addf %x, %x : vector<16xf16>
  %s = cute.copy.make_fragment(%rows, %to) <{operand_id = "S"}> : !cute.view
  cute.memref.store_vec(%y, %s)
  cute.copy(%rows, %s, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}
"""  # noqa: E501


def test_registers_for_both_sides_of_a_copy() -> None:
    a = np.random.default_rng(5).standard_normal((32, 16)).astype(np.float16)
    assert np.array_equal(emulated(COPIED, a, np.full_like(a, np.nan)), a + a)


COUNTED = """
func.func @counted(%c: !cute.memref<f32, gmem, "(2):(1)">) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %r = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(2):(1)">
  %first = cute.static : !cute.coord<"0">
  %second = cute.static : !cute.coord<"1">
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  cute.memref.store(%r, %first, %zero)
  cute.memref.store(%r, %second, %one)
  %p = cute.get_iter(%r) : !cute.ptr
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  scf.for %i = %c0 to %n step %c1 {
    %pair = cute.static : !cute.layout<"(2):(1)">
    %same = cute.make_view(%p, %pair) : !cute.view
    %x = cute.memref.load(%same, %first) : f32
    %y = cute.memref.load(%same, %second) : f32
    %z = arith.addf %x, %y : f32
    cute.memref.store(%same, %first, %z)
    cute.memref.store(%same, %second, %x)
  }
  %all = cute.memref.load_vec(%r) : vector<2xf32>
  cute.memref.store_vec(%all, %c)
  func.return
}
"""  # noqa: E501


def test_a_loop_writes_registers_by_another_view_of_them() -> None:
    """Fibonacci's numbers, every thread writing the same ones."""
    found = compile(COUNTED).emulate(np.full(2, np.nan, np.float32), checks=False)
    assert found.arrays[0].tolist() == [5.0, 3.0]


def test_views_of_other_memory_are_of_another_type() -> None:
    from xdsl.dialects.builtin import f16, f32

    one = MemRefType(f32, "gmem", Layout(4, 1))
    for other in (
        MemRefType(f16, "gmem", Layout(4, 1)),
        MemRefType(f32, "smem", Layout(4, 1)),
        MemRefType(f32, "gmem", Layout(4, 2)),
        MemRefType(f32, "gmem", Layout(4, 1), 16),
    ):
        assert one != other
    assert one == MemRefType(f32, "gmem", Layout(4, 1))


def test_without_its_dialects_the_compiler_is_set_up_wrongly() -> None:
    with pytest.raises(MissingDialectError, match="cute_nvgpu"):
        ConvertCuteToNvgpu().apply(Context(), ModuleOp([]))
