"""Bulk copies, matrices of a warp and clusters, from text to numbers in the emulator."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from support.assembling import needs_ptxas
from support.emulating import emulate
from support.thread_kernels import THREADS, compiled, kernel

from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.interpreters.ptx import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import TensorMap

MAP = "!cute_nvgpu.tma_descriptor_tiled"
TILE = "!cute.ptr<bf16, smem, align<1024>>"
BARRIER = "!cute.ptr<i64, smem>"
SHARED = ", tileas.smem_bytes = 4096 : i32"
BYTES = 4096
SIDE = 16


def tile_map(array: NDArray[ml_dtypes.bfloat16], rows: int = SIDE) -> TensorMapArg:
    """Boxes of `rows` rows of 16 elements, without a swizzle."""
    height, width = array.shape
    box = (SIDE, rows)
    tensor_map = TensorMap(
        element="bf16", address=0, dims=(width, height), strides=(2 * width,), box=box
    )
    return TensorMapArg(tensor_map, array)


def random_matrix(rows: int, columns: int, seed: int) -> NDArray[ml_dtypes.bfloat16]:
    rng = np.random.default_rng(seed)
    return rng.integers(-9, 10, (rows, columns)).astype(ml_dtypes.bfloat16)


LOAD = [
    '%t = cute_nvgpu.arch.thread_idx "x"',
    "%c0 = arith.constant 0 : i32",
    "%c1 = arith.constant 1 : i32",
    "%first = arith.cmpi eq, %t, %c0 : i32",
    f"%tile = cute_nvgpu.arch.get_dyn_smem 0 -> {TILE}",
    f"%other = cute_nvgpu.arch.get_dyn_smem 1024 -> {TILE}",
    f"%bar = cute_nvgpu.arch.get_dyn_smem 2048 -> {BARRIER}",
    f"cute_nvgpu.arch.mbarrier_init %bar, 1 if %first : {BARRIER}",
    "cute_nvgpu.arch.fence_mbarrier_init",
    "cute_nvgpu.arch.barrier id 0",
    f"cute_nvgpu.arch.mbarrier_arrive_expect_tx %bar, 512 if %first : {BARRIER}",
    "cute_nvgpu.arch.copy.SM90.tma_load %from[%x, %y] to %tile, %bar if %first"
    f" : {TILE}, {BARRIER}",
    f"cute_nvgpu.arch.mbarrier_wait %bar, %c0 : {BARRIER}",
]

WRITE = [
    'cute_nvgpu.arch.fence_proxy_async "shared::cta"',
    "cute_nvgpu.arch.barrier id 0",
    f"cute_nvgpu.arch.copy.SM90.tma_store %to[%x, %y] from %other if %first : {TILE}",
    "cute_nvgpu.arch.bulk_commit_group if %first",
    "cute_nvgpu.arch.bulk_wait_group 0 if %first",
]

ROWS = [
    # Lane l: row l % 8 + 8 * (l / 8 % 2), second half of the row for lanes 16 to 31.
    "%c16 = arith.constant 16 : i32",
    "%c8 = arith.constant 8 : i32",
    "%row = arith.remui %t, %c16 : i32",
    "%half = arith.divui %t, %c16 : i32",
    "%a = arith.muli %row, %c16 : i32",
    "%b = arith.muli %half, %c8 : i32",
    "%offset = arith.addi %a, %b : i32",
    f"%source = cute.add_offset %tile, %offset : {TILE}, i32 -> !cute.ptr<bf16, smem, align<16>>",
    f"%target = cute.add_offset %other, %offset : {TILE}, i32 -> !cute.ptr<bf16, smem, align<16>>",
]


def moved(transpose: bool) -> str:
    """A tile through the registers of a warp, from one tile of shared memory to another."""
    mode = " transpose" * transpose
    lines = [
        *LOAD,
        *ROWS,
        f"%m = cute_nvgpu.arch.copy.ldsm %source matrices 4{mode} : "
        "!cute.ptr<bf16, smem, align<16>> -> vector<8xbf16>",
        "cute_nvgpu.arch.copy.stsm %m, %target matrices 4 : "
        "vector<8xbf16>, !cute.ptr<bf16, smem, align<16>>",
        *WRITE,
    ]
    return compiled(kernel(f"%from: {MAP}, %to: {MAP}, %x: i32, %y: i32", lines, SHARED))


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (16, 32), (40, 8)])
def test_tiles_pass_through_the_registers_of_a_warp(transpose: bool, x: int, y: int) -> None:
    source, target = random_matrix(48, 48, x), random_matrix(48, 48, 99)
    arguments = [tile_map(source), tile_map(target), x, y]
    found = emulate(moved(transpose), arguments, dynamic_shared=BYTES)[1]
    tile = np.zeros((SIDE, SIDE), source.dtype)
    inside = source[y : y + SIDE, x : x + SIDE]
    tile[: inside.shape[0], : inside.shape[1]] = inside
    if transpose:
        tile = tile.reshape(2, 8, 2, 8).transpose(0, 3, 2, 1).reshape(SIDE, SIDE)
    expected = target.copy()
    expected[y : y + SIDE, x : x + SIDE] = tile[: inside.shape[0], : inside.shape[1]]
    np.testing.assert_array_equal(found, expected)


def test_reductions_combine_with_what_is_there() -> None:
    store = f'cute_nvgpu.arch.copy.SM90.tma_reduce "add", %to[%x, %y] from %tile if %first : {TILE}'
    lines = [*LOAD, store, *WRITE[3:]]
    text = compiled(kernel(f"%from: {MAP}, %to: {MAP}, %x: i32, %y: i32", lines, SHARED))
    source, target = random_matrix(32, 32, 1), random_matrix(32, 32, 2)
    found = emulate(text, [tile_map(source), tile_map(target), 16, 0], dynamic_shared=BYTES)[1]
    expected = target.copy()
    expected[:16, 16:] += source[:16, 16:]
    np.testing.assert_array_equal(found, expected)


CLUSTER = [
    *LOAD[:7],
    f"cute_nvgpu.arch.mbarrier_init %bar, 1 if %first : {BARRIER}",
    f"%ready = cute_nvgpu.arch.get_dyn_smem 2056 -> {BARRIER}",
    f"cute_nvgpu.arch.mbarrier_init %ready, 2 if %first : {BARRIER}",
    "cute_nvgpu.arch.fence_mbarrier_init",
    "cute_nvgpu.arch.cluster_arrive relaxed",
    "cute_nvgpu.arch.cluster_wait",
    "%rank = cute_nvgpu.arch.cluster_ctarank",
    f"cute_nvgpu.arch.mbarrier_arrive_expect_tx %bar, 512 if %first : {BARRIER}",
    # Each block says to both that its barrier expects the bytes, then sends half a tile to both.
    f"cute_nvgpu.arch.mbarrier_arrive %ready cta %c0 if %first : {BARRIER}",
    f"cute_nvgpu.arch.mbarrier_arrive %ready cta %c1 if %first : {BARRIER}",
    f"cute_nvgpu.arch.mbarrier_wait %ready, %c0 : {BARRIER}",
    "%mask = arith.constant 3 : i16",
    "%c8 = arith.constant 8 : i32",
    "%c128 = arith.constant 128 : i32",
    "%rows = arith.muli %rank, %c8 : i32",
    "%offset = arith.muli %rank, %c128 : i32",
    f"%part = cute.add_offset %tile, %offset : {TILE}, i32 -> !cute.ptr<bf16, smem, align<128>>",
    "cute_nvgpu.arch.copy.SM90.tma_load %from[%c0, %rows] to %part, %bar multicast %mask if %first"
    f" : !cute.ptr<bf16, smem, align<128>>, {BARRIER}",
    f"cute_nvgpu.arch.mbarrier_wait %bar, %c0 : {BARRIER}",
    "%c16 = arith.constant 16 : i32",
    "%place = arith.muli %rank, %c16 : i32",
    f"cute_nvgpu.arch.copy.SM90.tma_store %to[%place, %c0] from %tile if %first : {TILE}",
    "cute_nvgpu.arch.bulk_commit_group if %first",
    "cute_nvgpu.arch.bulk_wait_group 0 if %first",
    "cute_nvgpu.arch.cluster_arrive",
    "cute_nvgpu.arch.cluster_wait",
]


def cluster_text() -> str:
    attributes = f"{SHARED}, nvvm.cluster_dim = array<i32: 2, 1, 1>"
    return compiled(kernel(f"%from: {MAP}, %to: {MAP}", CLUSTER, attributes))


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_a_cluster_send_each_other_halves(seed: int) -> None:
    source, target = random_matrix(16, 16, seed), random_matrix(16, 32, seed + 50)
    arguments = [tile_map(source, 8), tile_map(target)]
    found = emulate(cluster_text(), arguments, 2, dynamic_shared=BYTES, order="random", seed=seed)[
        1
    ]
    np.testing.assert_array_equal(found, np.hstack([source, source]))


@needs_ptxas
@pytest.mark.parametrize("text", [moved(False), moved(True), cluster_text()])
def test_ptxas_takes_them_without_a_word(text: str) -> None:
    assembled = assemble(text, "sm_90a")
    assert assembled.messages == ()
    assert assembled.registers <= THREADS
