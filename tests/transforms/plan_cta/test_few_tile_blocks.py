# pyright: basic
"""Launches of few tile blocks: several CTAs divide each, and compute the same bits."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import pytest

pytest.importorskip("cuda.tile")

import tileas_xdsl as tileas
from kernels.cutile import Problem, emulated, evaluated, problems, simulated
from kernels.cutile.matmul import matmul, product_problem
from kernels.cutile.quantized_matmul import packed_matmul
from kernels.cutile.reductions import sum_of_columns
from kernels.cutile.softmax import softmax
from tests.runtime.cutile.launches import RecordingGpu
from tests.support.compiling import OfFewTileBlocks, specialized
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.launches.few_tile_blocks import MIN_BYTES, FewTileBlocks
from tileas_xdsl.target.launches.specializations import LaunchPredicate, Specialization, suits

HALVES = "f16[?, ?%8]"
PRODUCT = tileas.compile(
    matmul,
    signature=f"a: {HALVES}, b: {HALVES}, c: {HALVES}, tm=128, tn=256, tk=64",
    target="sm_90a",
)
LOADED = 2 * 64 * (128 + 256)
"""Bytes of an iteration."""


def of_k(columns: int | None) -> Sequence[Any]:
    """The arguments of a launch, with so many columns of A."""
    return [None, 512, columns, 4096, 1, *(None, columns, 512, 512, 1), *(None, 512, 512, 512, 1)]


@pytest.mark.parametrize(
    ("grid", "columns", "wanted"),
    [
        ((16, 1, 1), 4096, 2),  # whose iterations are divided, too
        ((30, 1, 1), 4096, 4),  # 120 CTAs in clusters of four, which have no more room
        ((12, 1, 1), 4096, 4),  # in two parts, not two CTAs in four, which hand over twice as much
        ((11, 3, 1), 4096, 2),
        ((11, 3, 2), 4096, 2),
        ((67, 1, 1), 4096, 1),  # two CTAs each would not run at once
        ((132, 1, 1), 4096, 1),
        ((133, 1, 1), 4096, 0),  # nor these
        ((0, 1, 1), 4096, 0),
    ],
)
def test_as_many_ctas_as_run_at_once_divide_a_tile_block(
    grid: Any, columns: int, wanted: int
) -> None:
    arguments, of_clusters = of_k(columns), RecordingGpu().multiprocessors_of_clusters

    def choose(predicate: LaunchPredicate) -> bool:
        return suits(predicate, arguments, grid, of_clusters)

    count = PRODUCT.abi.wanted(choose).few_ctas
    assert count == wanted
    numbers = [one.unsuited(132) for one in PRODUCT.abi.few_tile_blocks if choose(one)]
    assert not any(prod(grid) in unsuited for unsuited in numbers)


def test_clusters_are_counted_where_all_multiprocessors_would_suffice() -> None:
    """The driver is asked about a kernel that has to be loaded for that."""
    asked: list[int] = []

    def of_clusters(count: int) -> int:
        asked.append(count)
        return 132

    PRODUCT.abi.wanted(lambda one: suits(one, of_k(4096), (64, 64, 1), of_clusters))
    assert set(asked) == {1}
    PRODUCT.abi.wanted(lambda one: suits(one, of_k(1024), (4, 4, 1), of_clusters))
    assert set(asked) == {1, 4}


@pytest.mark.parametrize("columns", [0, MIN_BYTES // LOADED * 64])
def test_what_loads_little_is_not_divided(columns: int) -> None:
    """A tile block of one CTA is done before a specialization would be loaded."""
    predicate = PRODUCT.abi.few_tile_blocks[0]
    assert not predicate.suits(of_k(columns), (4, 1, 1), 132)
    assert predicate.may_suit(of_k(columns)) is bool(columns)
    assert predicate.suits(of_k(MIN_BYTES // LOADED * 64 + 64), (4, 1, 1), 132)


def test_loops_of_unknown_length_are_divided() -> None:
    """A number that each launch of a plan gives anew; what iterations take has to be known."""
    most, alone = PRODUCT.abi.few_tile_blocks[0], PRODUCT.abi.few_tile_blocks[-1]
    unknown = of_k(None)
    assert most.may_suit(unknown)
    assert not most.suits(unknown, (4, 1, 1), 132)
    assert replace(most, sums=()).suits(unknown, (4, 1, 1), 132)
    assert not replace(most, sums=()).suits(unknown, (64, 1, 1), 132)
    assert alone.suits(unknown, (4, 1, 1), 132)


def test_the_last_tile_block_counts_where_loops_differ() -> None:
    """The loop over keys of causal attention ends at the queries of a tile block."""
    steps = ("block x", "64", "muli 0 1", "0", "1")
    loops = PRODUCT.abi.few_tile_blocks[0].loops
    predicate = FewTileBlocks(2, steps, (type(loops[0])(LOADED, ((3, 2, 4),)),))
    assert predicate.suits((), (8, 1, 1), 132)
    assert not predicate.suits((), (1, 1, 1), 132)


def test_rows_are_loaded_by_whole_sectors() -> None:
    """Eight CTAs would load 32 bytes of a row each; no CTA has a part of what is summed."""
    kernel = tileas.compile(
        sum_of_columns, signature="x: f32[?, ?%4], y: f32[?], rows=64, columns=64", target="sm_90a"
    )
    assert [one.count for one in kernel.abi.few_tile_blocks] == [4, 2, 1]


def test_code_keeps_what_it_asks() -> None:
    stored = Executable("sm_90a", PRODUCT.abi, PRODUCT.ptx, b"").to_bytes()
    assert Executable.from_bytes(stored).abi == PRODUCT.abi
    divided = PRODUCT.divided(4)
    assert divided.abi.specialization == Specialization(few_ctas=4)
    assert (
        divided.abi.wanted(lambda one: one in PRODUCT.abi.few_tile_blocks)
        == divided.abi.specialization
    )


@pytest.mark.parametrize("count", [1, 2, 4])
def test_ctas_that_are_alone_load_ahead_as_far_as_memory_goes(count: int) -> None:
    """Both warpgroups multiply, and each product is waited for behind the next one."""
    alone = PRODUCT.divided(count)
    assert alone.abi.runs_at_once
    assert 160 << 10 < alone.abi.shared_bytes < 227 << 10
    assert alone.abi.threads == 3 * 128
    assert "wgmma.wait_group.sync.aligned 1;" in alone.ptx
    assert not PRODUCT.abi.runs_at_once
    assert "wgmma.wait_group.sync.aligned 1;" not in PRODUCT.ptx


def test_warpgroups_of_a_cta_that_is_alone_share_what_they_compute_for_a_product() -> None:
    """Both unpack weights for 64 rows, of which one alone would multiply; stages are one ring."""
    matrices = "a: f16[?, ?%8], words: i32[?, ?%4], zeros: i32[?, ?%4], scales: f16[?, ?%8]"
    kernel = tileas.compile(
        packed_matmul,
        signature=f"{matrices}, c: f16[?, ?%8], tm=16, tn=64, tk=128, group=128",
        target="sm_90a",
    )
    alone = kernel.divided(1)
    assert (kernel.abi.threads, alone.abi.threads) == (2 * 128, 3 * 128)
    assert alone.ptx.count("mbarrier.try_wait") == kernel.ptx.count("mbarrier.try_wait")
    assert alone.assemble().spills == 0


def test_what_neither_multiplies_nor_loads_in_rounds_has_no_form_for_ctas_that_are_alone() -> None:
    kernel = tileas.compile(
        softmax, signature="x: f32[?, ?%4], y: f32[?, ?%4], rows=4, columns=64", target="sm_90a"
    )
    assert 1 not in [one.count for one in kernel.abi.few_tile_blocks]


CASES = (
    (product_problem("matmul", "f16", "f32", (120, 520, 136), (128, 256, 64)), 4),
    (product_problem("matmul", "f16", "f16", (120, 264, 328), (128, 128, 64)), 1),
    (product_problem("matmul_bt", "bf16", "bf16", (200, 120, 136), (128, 128, 64)), 4),
    (next(p for p in problems("attention") if "1x1x128x192x128 bf16" in str(p)), 2),
)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize(("problem", "count"), CASES, ids=str)
@pytest.mark.sample(3)
def test_the_result_is_the_same(problem: Problem, count: int, target: str) -> None:
    choose = OfFewTileBlocks(count)
    kernel = specialized(problem.kernel, *problem.arguments(), choose=choose, target=target)
    assert kernel.abi.specialization == Specialization(few_ctas=count)
    assert evaluated(problem, kernel).is_right
    assert simulated(problem, kernel).is_right
    assert emulated(problem, kernel, order="random", seed=1).is_right


@pytest.mark.parametrize(
    ("tiles", "counts"),
    [((64, 64), [1]), ((64, 128), [2, 1]), ((128, 64), [2, 1]), ((128, 128), [4, 2, 1])],
)
def test_a_cta_multiplies_for_as_long_as_it_reads(tiles: Any, counts: Sequence[int]) -> None:
    tm, tn = tiles
    signature = f"a: {HALVES}, b: {HALVES}, c: {HALVES}, tm={tm}, tn={tn}, tk=64"
    abi = tileas.compile(matmul, signature=signature, target="sm_90a").abi
    assert [one.count for one in abi.few_tile_blocks] == counts
