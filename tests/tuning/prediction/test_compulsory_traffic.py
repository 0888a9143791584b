"""Bytes of a launch, and those that DRAM moves at least."""

from dataclasses import dataclass
from typing import Any

import pytest
from xdsl.dialects import func

pytest.importorskip("cuda.tile")

from kernels.cutile import Problem
from kernels.cutile.gather_scatter import PROBLEMS as GATHERS
from kernels.cutile.matmul import product_problem
from kernels.cutile.softmax import problem as rows_problem
from kernels.cutile.softmax import softmax_online
from kernels.cutile.vector_add import PROBLEMS
from tileas_xdsl.runtime.arguments.cutile_arguments import flattened
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.tuning.prediction.compulsory_traffic import Traffic, traffic_of
from tileas_xdsl.tuning.prediction.scalar_values import ScalarValues, numbers_of, sampled_blocks

CLOCK = latencies("sm_90a")


def traffic(problem: Problem, resident: int = 1, clock: Any = CLOCK) -> Traffic:
    kernel = problem.compiled("sm_90a")
    (function,) = kernel.module_after("tileas-choose-tma").ops
    assert isinstance(function, func.FuncOp)
    assert kernel.parameters is not None
    flat = numbers_of(flattened(kernel.parameters, problem.arguments()))
    x, y, z = grid = problem.grid
    blocks = [ScalarValues(flat, grid, one) for one in sampled_blocks(grid)]
    return traffic_of(function, blocks, x * y * z, resident, clock)


def test_elements_that_are_read_and_written_once_all_come_from_dram() -> None:
    problem = next(one for one in PROBLEMS if str(one) == "vector_add 4096 f32")
    assert traffic(problem) == Traffic(3 * 4096 * 4, 2 * 4096 * 4, 4096 * 4)


def test_operands_of_a_product_are_read_again_from_the_cache() -> None:
    """2 x 3 blocks: A is read by three columns of blocks, B by two rows of them, in 4 rounds."""
    sizes, tiles = (128, 192, 256), (64, 64, 64)
    found = traffic(product_problem("matmul", "f16", "f32", sizes, tiles))
    a, b, c = 128 * 256 * 2, 256 * 192 * 2, 128 * 192 * 4
    assert found == Traffic(3 * a + 2 * b + c, a + b, c)


def test_rows_that_are_gathered_are_bytes_of_their_table() -> None:
    """37 words of a table of 100 rows: three blocks of 16 words and two of 64 columns."""
    problem = next(one for one in GATHERS if str(one).startswith("embedding"))
    table, words, y, *_ = problem.arguments()
    found = traffic(problem)
    assert found.written == y.nbytes
    assert words.nbytes < found.read - words.nbytes <= table.nbytes


def test_what_a_block_loads_twice_is_lost_where_many_blocks_move_more() -> None:
    """Of the 8 KB that a block stores half count: 384 KB of 32 blocks, half of the cache."""
    rows, columns = 64, 2048
    problem = rows_problem(softmax_online, "f32", rows, columns, 1, 1024)
    whole = rows * columns * 4
    found = traffic(problem, 32, SmallCache(1.5 * whole / 1e6))
    assert (found.read, found.written) == (1.5 * whole, whole)


@dataclass
class SmallCache:
    """An L2 cache that loses what it has until so many megabytes have been moved."""

    lost: float

    def lost_part(self, count: float) -> float:
        return min(count / 1e6 / self.lost, 1.0)


def test_the_cache_loses_lines_while_others_are_moved() -> None:
    """As when an H200 reads 256 MiB twice with 26, 52 and 104 MB under way."""
    found = [latencies("sm_90a").lost_part(1e6 * count) for count in (26, 52, 104)]
    assert found == [pytest.approx(0.02, abs=0.01), pytest.approx(0.6, abs=0.01), 1.0]


MIB = 1 << 20


@pytest.mark.parametrize(
    ("read", "written", "microseconds"),
    [(128, 0, 40.7), (512, 0, 127.7), (128, 128, 70.0), (512, 512, 266.1), (512, 256, 191.0)],
)
def test_dram_takes_as_long_as_measured(read: int, written: int, microseconds: float) -> None:
    """On an H200 behind writes of 256 MiB, with the launch around."""
    clock = latencies("sm_90a")
    seconds = Traffic(0, read * MIB, written * MIB).seconds(clock)
    assert 1e6 * seconds + clock.grid_launch / 1e3 == pytest.approx(microseconds, rel=0.04)
