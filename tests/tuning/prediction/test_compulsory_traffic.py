"""Bytes of a launch, and those that DRAM moves at least."""

import pytest
from xdsl.dialects import func

pytest.importorskip("cuda.tile")

from kernels.cutile import Problem
from kernels.cutile.matmul import product_problem
from kernels.cutile.vector_add import PROBLEMS
from tileas_xdsl.runtime.arguments.cutile_arguments import flattened
from tileas_xdsl.tuning.prediction.compulsory_traffic import Traffic, traffic_of
from tileas_xdsl.tuning.prediction.scalar_values import ScalarValues, numbers_of, sampled_blocks


def traffic(problem: Problem) -> Traffic:
    kernel = problem.compiled("sm_90a")
    (function,) = kernel.module_after("tileas-choose-tma").ops
    assert isinstance(function, func.FuncOp)
    assert kernel.parameters is not None
    flat = numbers_of(flattened(kernel.parameters, problem.arguments()))
    x, y, z = grid = problem.grid
    blocks = [ScalarValues(flat, grid, one) for one in sampled_blocks(grid)]
    return traffic_of(function, blocks, x * y * z)


def test_elements_that_are_read_and_written_once_all_come_from_dram() -> None:
    problem = next(one for one in PROBLEMS if str(one) == "vector_add 4096 f32")
    assert traffic(problem) == Traffic(3 * 4096 * 4, 3 * 4096 * 4)


def test_operands_of_a_product_are_read_again_from_the_cache() -> None:
    """2 x 3 blocks: A is read by three columns of blocks, B by two rows of them, in 4 rounds."""
    sizes, tiles = (128, 192, 256), (64, 64, 64)
    found = traffic(product_problem("matmul", "f16", "f32", sizes, tiles))
    a, b, c = 128 * 256 * 2, 256 * 192 * 2, 128 * 192 * 4
    assert found == Traffic(3 * a + 2 * b + c, a + b + c)
