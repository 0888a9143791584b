"""Products of cuTile: what TMA moves, in one loop or by two agents, gives what numpy gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray
from xdsl.utils.arg_spec import ArgSpec

import tileas_xdsl as tileas
from tests.support.assembling import needs_ptxas
from tests.support.ir import parse
from tests.support.orders import ORDERS, some
from tileas_xdsl.compiler import passes_to_ptx
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.runtime.arguments.cutile_arguments import flattened, in_memory, restored

pytest.importorskip("cuda.tile")

from kernels.cutile.attention import Attention
from kernels.cutile.batched_matmul import batched_matmul
from kernels.cutile.gather_scatter import embedding, scatter_rows
from kernels.cutile.matmul import matmul
from kernels.cutile.problem import emulated
from tests import cutile_products as kernels

TARGETS = ("sm_90a", "sm_100a")
COPIES = r"cp\.async\.bulk\.tensor"
BEFORE_ATTACHING = (
    "tileas-choose-tma",
    "tileas-pipeline-loads",
    "tileas-assign-load-store-layouts",
    "lower-tma-load-store-to-async",
)

Case = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def case(m: int, n: int, k: int, element: Any = np.float16, output: Any = np.float32) -> Case:
    rng = np.random.default_rng(m + n + k)
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    return a.astype(element), b.astype(element), np.full((m, n), np.nan, output)


def exact(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    return a.astype(np.float64) @ b.astype(np.float64)


def check(found: Any, wanted: NDArray[np.float64], error: float = 1e-4) -> None:
    assert [str(finding) for finding in found.findings] == []
    assert found.finished
    assert np.abs(found.arrays[2].astype(np.float64) - wanted).max() < error


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_on_ragged_sizes_in_several_orders(target: str) -> None:
    a, b, c = case(70, 136, 104, output=np.float16)
    tiles = (64, 64, 32)
    kernel = tileas.compile(matmul, a, b, c, *tiles, target=target)
    assert "agent_switch" in kernel.ir("tileas-pipeline-loads")
    assert len(re.findall(COPIES, kernel.ptx)) == 3
    orders: Sequence[Literal["eager", "lazy", "random"]] = ("eager", "lazy", "random")
    for seed, order in enumerate(orders):
        found = kernel.emulate(a, b, c, *tiles, grid=(2, 3), order=order, seed=seed)
        check(found, exact(a, b), error=0.05)
    tiles_found = kernel.simulate(a, b, c, *tiles, grid=(2, 3)).arrays[2]
    assert np.abs(tiles_found - exact(a, b)).max() < 0.05


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("sizes", "element", "copied"),
    [
        ((70, 132, 100), np.float16, {8}),
        ((70, 134, 104), ml_dtypes.bfloat16, {4}),
        ((70, 130, 100), np.float16, {8, 4}),
        ((70, 131, 100), np.float16, {8}),
        pytest.param((70, 131, 99), np.float16, set[int](), id="rows by elements"),
    ],
)
@pytest.mark.sample(6)
def test_rows_that_tma_does_not_load_are_copied_ahead(
    sizes: tuple[int, int, int], element: Any, copied: set[int], target: str
) -> None:
    """A by TMA or `cp.async`, B by `cp.async` of so many bytes: each as far as its rows allow."""
    a, b, c = case(*sizes, element)
    tiles = (64, 64, 32)
    kernel = tileas.compile(matmul, a, b, c, *tiles, target=target)
    assert ("agent_switch" in kernel.ir("tileas-pipeline-loads")) is bool(copied)
    widths = re.findall(r"cp\.async\.ca\.shared\.global \[.*?\], \[.*?\], (\d+)", kernel.ptx)
    assert {int(width) for width in widths} == copied
    for order in some(ORDERS, (sizes, element, target)):
        found = kernel.emulate(a, b, c, *tiles, grid=(2, 3), order=order, seed=1)
        check(found, exact(a, b))


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_without_a_pipeline(target: str) -> None:
    """Loads that are waited for one by one; sums of f32 are two boxes of 32 columns."""
    a, b, c = case(64, 64, 72)
    passes = [spec for spec in passes_to_ptx() if spec.name != "tileas-pipeline-loads"]
    kernel = tileas.compile(matmul, a, b, c, 64, 64, 32, target=target, passes=passes)
    assert len(re.findall(COPIES, kernel.ptx)) == 4
    check(kernel.emulate(a, b, c, 64, 64, 32, order="random"), exact(a, b))


@needs_ptxas
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [128, pytest.param(256, marks=pytest.mark.slow)])
def test_large_tiles_spill_nothing(columns: int, target: str) -> None:
    """Their sums are rounded and stored in pieces."""
    a, b, c = case(128, columns + 8, 136, ml_dtypes.bfloat16, ml_dtypes.bfloat16)
    tiles = (128, columns, 64)
    kernel = tileas.compile(matmul, a, b, c, *tiles, target=target)
    assert kernel.assemble().spills == 0
    found = kernel.emulate(a, b, c, *tiles, grid=(1, 2))
    check(found, exact(a, b), error=0.3)


@needs_ptxas
def test_warpgroups_share_columns_that_are_more_than_an_instruction_has() -> None:
    a, b, c = case(70, 520, 136, np.float16, np.float16)
    tiles = (64, 512, 64)
    kernel = tileas.compile(matmul, a, b, c, *tiles, target="sm_90a")
    assert "m64n256k16" in kernel.ptx
    assert "mma.sync" not in kernel.ptx
    assert kernel.assemble().spills == 0
    for seed, order in enumerate(("lazy", "random", "drift")):
        found = kernel.emulate(a, b, c, *tiles, grid=(2, 2), order=order, seed=seed)
        check(found, exact(a, b), error=0.05)


def test_what_is_computed_of_sums_is_computed_piece_by_piece() -> None:
    a, b, c = case(128, 128, 40)
    kernel = tileas.compile(kernels.relu, a, b, c, 128, 128, 32)
    chosen = kernel.ir("tileas-choose-tma")
    assert "maximumf" in chosen or "maxnumf" in chosen
    assert "tensor<128x64xf32>" in chosen
    found = kernel.emulate(a, b, c, 128, 128, 32)
    check(found, np.maximum(exact(a, b) / 2 + 1, 0))


def test_arrays_with_gaps_are_described_by_their_strides() -> None:
    a, b, c = case(64, 128, 64)
    left, top = a[:, :40], b[:40, 64:]
    kernel = tileas.compile(matmul, left, top, c[:, 64:], 64, 64, 32)
    assert "cp.async.bulk.tensor" in kernel.ptx
    found = kernel.emulate(left, top, c[:, 64:], 64, 64, 32)
    check(found, exact(left, top))


@pytest.mark.parametrize("sizes", [(0, 64), (64, 0)])
def test_empty_results_are_stored_nowhere(sizes: tuple[int, int]) -> None:
    """By no more than their map describes: TMA writes 16 bytes at once."""
    a, b = np.ones((sizes[0], 64), np.float16), np.ones((64, sizes[1]), np.float16)
    c = np.zeros(sizes, np.float32)
    kernel = tileas.compile(matmul, a, b, c, 64, 64, 32, target="sm_90a")
    assert "cp.async.bulk.tensor.2d.global" in kernel.ptx
    assert not kernel.emulate(a, b, c, 64, 64, 32, grid=1).findings


def test_rows_that_begin_anywhere_are_moved_by_threads() -> None:
    a, b, c = case(64, 61, 37)
    kernel = tileas.compile(matmul, a, b, c, 64, 64, 32)
    assert "cp.async.bulk.tensor" not in kernel.ptx
    assert "not_by_tma" in kernel.ir("tileas-choose-tma")
    check(kernel.emulate(a, b, c, 64, 64, 32), exact(a, b))


def test_what_comes_after_a_store_is_moved_by_threads() -> None:
    a, b, _ = case(64, 64, 64)
    c = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
    kernel = tileas.compile(kernels.in_place, a, b, c, 64, 64, 32)
    text = kernel.ir("tileas-pipeline-loads")
    assert "it comes after other accesses to memory" in text
    found = kernel.emulate(a, b, c, 64, 64, 32, order="random")
    check(found, 2 * exact(a, b) + c.astype(np.float64))
    np.testing.assert_array_equal(found.arrays[0], a + a)


def test_host_code_encodes_the_maps_of_arrays_behind_pointers() -> None:
    pytest.importorskip("llvmlite")
    a, b, c = case(64, 128, 64)
    left, top = a[:, :40], b[:40, 64:]
    out = c[:, 64:]
    kernel = tileas.compile(matmul, left, top, out, 64, 64, 32, host_code=True)
    check(kernel.emulate(left, top, out, 64, 64, 32), exact(left, top))


def test_descriptors_that_a_launch_passes_mean_the_same() -> None:
    """The recipes of arguments are in numbers that other arguments give."""
    a, b, c = case(64, 128, 64)
    left, top, out = a[:, :40], b[:40, 64:], c[:, 64:]
    passes = [spec for spec in passes_to_ptx() if spec.name in BEFORE_ATTACHING]
    attach = ArgSpec("tileas-attach-tma-descriptor-args", {})
    arguments = (left, top, out, 64, 64, 32)
    kernel = tileas.compile(matmul, *arguments, passes=[*passes, attach])
    text = kernel.ir(attach.name)
    assert 'sizes = ["scalar 1", "scalar 2"], strides = ["scalar 3", 1 : i64]' in text
    module = parse(text)
    verify_module(module)
    flat = [in_memory(value) for value in flattened(kernel.parameters or (), arguments)]
    left_by_run = simulate(module, flat).arrays
    found = restored(kernel.parameters or (), arguments, left_by_run)
    assert np.abs(found[2] - exact(left, top)).max() < 1e-4


@needs_ptxas
@pytest.mark.parametrize(("target", "keys"), [("sm_90a", 300), ("sm_100a", 130)])
def test_attention_on_arrays_of_four_dimensions_loads_by_tma_alone(target: str, keys: int) -> None:
    """Two warpgroups read stages that a producer fills; nothing spills, no thread loads.

    Two loops of the producer, over whole and over masked keys, load two panels of keys and two of
    values each.  The result, two panels, is put for its store into the memory of stages that nobody
    reads any more.
    """
    problem = Attention(1, 1, 128, keys, 128, tm=128, tn=128).problem()
    kernel = problem.compiled(target)
    assert kernel.abi.shared_bytes < 228 * 1024
    assert "not_pipelined" not in kernel.ir("tileas-pipeline-loads")
    budgets = "40, 232" if target == "sm_90a" else "72, 216"  # sums that threads read take some
    assert f"max_regs = array<i32: {budgets}>" in kernel.ir("tileas-pipeline-loads")
    assert len(re.findall(COPIES, kernel.ptx)) == 2 + 2 * (2 + 2) + 2
    assert "st.global" not in kernel.ptx
    assert "ld.global" not in kernel.ptx
    assert kernel.assemble().spills == 0
    assert emulated(problem, kernel, order="random").is_right


@pytest.mark.parametrize(("target", "tn"), [("sm_90a", 256), ("sm_100a", 128)])
def test_bias_activation_and_residual_go_with_the_sums_by_tma(target: str, tn: int) -> None:
    """In two pieces or in one; nothing is stored by threads, and nothing spills."""
    rng = np.random.default_rng(3)
    a, b, bias, rest = (
        rng.standard_normal(shape).astype(np.float16)
        for shape in ((150, 72), (72, 328), (328,), (150, 328))
    )
    arguments = (a, b, bias, rest, np.full((150, 328), np.nan, np.float16), 128, tn, 64)
    kernel = tileas.compile(kernels.biased, *arguments, target=target)
    assert "st.global" not in kernel.ptx
    assert not kernel.assemble().spills
    run = kernel.emulate(*arguments, grid=(2, -(-328 // tn)), order="random")
    assert not run.findings
    wanted = np.maximum(exact(a, b) + bias, 0) + rest
    np.testing.assert_allclose(run.arrays[4].astype(np.float64), wanted, atol=0.03)


def batches(k: int, n: int) -> Case:
    """Two products of 70 rows."""
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((2, 70, k), (2, k, n)))
    return a, b, np.full((2, 70, n), np.nan, np.float32)


@pytest.mark.parametrize("target", TARGETS)
def test_batches_of_matrices_are_loaded_and_stored_by_tma_alone(target: str) -> None:
    a, b, c = batches(72, 136)
    kernel = tileas.compile(batched_matmul, a, b, c, 64, 64, 32, target=target)
    assert "agent_switch" in kernel.ir("tileas-pipeline-loads")
    assert "ld.global" not in kernel.ptx
    assert "st.global" not in kernel.ptx
    check(kernel.emulate(a, b, c, 64, 64, 32, grid=(2, 3, 2)), exact(a, b))


@pytest.mark.parametrize("target", TARGETS)
def test_batches_whose_rows_tma_does_not_load_are_copied_ahead(target: str) -> None:
    a, b, c = batches(68, 132)
    kernel = tileas.compile(batched_matmul, a, b, c, 64, 64, 32, target=target)
    assert "cp.async.ca.shared.global" in kernel.ptx
    assert "agent_switch" in kernel.ir("tileas-pipeline-loads")
    check(kernel.emulate(a, b, c, 64, 64, 32, grid=(2, 3, 2), order="random"), exact(a, b))


@pytest.mark.parametrize(
    ("target", "rows", "element", "unit"),
    [("sm_100a", 64, np.float32, "tcgen05.mma"), ("sm_90a", 256, np.float16, "wgmma")],
)
def test_accumulators_are_stored_as_tiles_of_four_dimensions(
    target: str, rows: int, element: Any, unit: str
) -> None:
    """They are read from tensor memory first; of 256 rows, a warpgroup has two blocks of 64."""
    a, b, _ = case(rows, 64, 64)
    c = np.full((1, 1, rows, 64), np.nan, element)
    kernel = tileas.compile(kernels.batched, a, b, c, rows, target=target)
    assert unit in kernel.ptx
    check(kernel.emulate(a, b, c, rows, order="random"), exact(a, b), error=0.05)


@pytest.mark.parametrize("second", [np.int8, np.uint8])
@pytest.mark.parametrize("target", TARGETS)
def test_products_of_bytes_run_on_the_matrix_unit(target: str, second: type[np.generic]) -> None:
    rng = np.random.default_rng(8)
    a = rng.integers(-128, 128, (100, 80), np.int8)
    b = rng.integers(-128, 128, (72, 80), np.int8).view(second)
    c = np.zeros((100, 72), np.int32)
    tiles = (128, 64, 64)
    kernel = tileas.compile(kernels.of_bytes, a, b, c, *tiles, target=target)
    unit = "wgmma.mma_async" if target == "sm_90a" else "tcgen05.mma.cta_group::1.kind::i8"
    assert unit in kernel.ptx
    assert "mma.sync" not in kernel.ptx
    found = kernel.emulate(a, b, c, *tiles, grid=(1, 2), order="random").arrays[2]
    np.testing.assert_array_equal(found, a.astype(np.int64) @ b.T.astype(np.int64))


@pytest.mark.parametrize("target", TARGETS)
def test_the_stride_of_a_single_matrix_is_any_number(target: str) -> None:
    """A launch promises nothing of it, and no address depends on it: TMA moves all three."""
    one = "f16[1, ?%8, ?%8; ?, ?%8, 1]"
    signature = f"a: {one}, b: {one}, c: {one}, tm=64, tn=64, tk=32"
    kernel = tileas.compile(batched_matmul, signature=signature, target=target)
    assert len(re.findall(COPIES, kernel.ptx)) == 3
    a, b, c = (
        as_strided(x, (1, *x.shape), (6, *x.strides)) for x in case(72, 88, 56, output=np.float16)
    )
    found = kernel.emulate(a, b, c, 64, 64, 32, grid=(2, 2, 1), order="random")
    check(found, exact(a[0], b[0])[None], error=0.05)


NO_ROWS = (-1, 1 << 30, -(1 << 31))


def test_rows_are_gathered_and_scattered_by_their_numbers() -> None:
    """Numbers of no row give zeros, or are not stored; the last tiles reach over all edges."""
    rng, (rows, columns) = np.random.default_rng(7), (16, 64)
    table = rng.standard_normal((53, 160)).astype(np.float16)
    words = rng.permutation(53)[:40].astype(np.int32)
    words[3:6] = NO_ROWS
    known = (words >= 0) & (words < 53)
    gathered = np.where(known[:, None], table[np.where(known, words, 0)], 0)
    scattered = np.full_like(table, 7)
    scattered[words[known]] = gathered[known]
    for function, copy, source, target, wanted in (
        (embedding, "gather4", table, np.zeros((40, 160), np.float16), gathered),
        (scatter_rows, "scatter4", gathered, np.full_like(table, 7), scattered),
    ):
        arguments = (source, words, target, rows, columns)
        kernel = tileas.compile(function, *arguments, target="sm_100a")
        assert copy in kernel.ptx
        orders: Sequence[Literal["eager", "lazy", "random"]] = ("eager", "lazy", "random")
        for order in orders:
            found = kernel.emulate(*arguments, grid=(3, 3), order=order, seed=3)
            assert [str(finding) for finding in found.findings] == []
            np.testing.assert_array_equal(found.arrays[2], wanted)


def test_rows_that_tma_does_not_reach_are_moved_by_threads() -> None:
    """Rows that begin anywhere, narrow tiles, and targets without gather4."""
    words = np.arange(16, dtype=np.int32)
    for width, columns, target in ((160, 64, "sm_90a"), (161, 64, "sm_100a"), (160, 4, "sm_100a")):
        table = np.ones((20, width), np.float16)
        arguments = (table, words, np.zeros((16, width), np.float16), 16, columns)
        assert "gather4" not in tileas.compile(embedding, *arguments, target=target).ptx
