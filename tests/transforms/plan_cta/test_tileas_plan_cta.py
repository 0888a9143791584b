"""Kernels with `num_ctas`: CTAs that divide tile blocks and share loads compute the same."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile import Problem, emulated, evaluated, problems, simulated
from kernels.cutile.matmul import product_problem
from tests.transforms.plan_cta import cta_kernels as kernels
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import collecting_diagnostics
from tileas_xdsl.explanation.compilation.reasons import reasons_in
from tileas_xdsl.transforms.kernels.tileas_plan_cta import NOT_DIVIDED


def with_ctas(problem: Problem, count: int) -> Problem:
    return replace(problem, kernel=problem.kernel.replace_hints(num_ctas=count))


ATTENTION = next(p for p in problems("attention") if "1x1x128x192x128 bf16" in str(p))

CASES = (
    (product_problem("matmul", "f16", "f32", (264, 136, 136), (256, 128, 64)), 2, ".multicast"),
    (product_problem("matmul", "f16", "f32", (72, 264, 136), (64, 256, 64)), 4, ".multicast"),
    (next(problems("rms_norm")), 2, ""),
    (ATTENTION, 2, ".multicast"),
)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize(("problem", "count", "has"), CASES, ids=str)
@pytest.mark.sample(3)
def test_the_result_is_the_same(problem: Problem, count: int, has: str, target: str) -> None:
    """Attention on sm_100a has warps that come to the same `tcgen05.ld` at different times."""
    problem = with_ctas(problem, count)
    kernel = problem.compiled(target)
    assert (kernel.abi.tile_block_ctas == count) is bool(has)
    assert kernel.abi.cluster == ((count, 1, 1) if has else (1, 1, 1))
    assert has in kernel.ptx
    assert evaluated(problem, kernel).is_right
    assert simulated(problem, kernel).is_right
    assert emulated(problem, kernel, order="random", seed=1).is_right


def test_a_grid_counts_tile_blocks() -> None:
    """`ct.num_blocks` and `ct.bid` are those of the program, whatever a launch has of CTAs."""
    x = np.full(192, -1, np.int32)
    kernel = compile(kernels.numbers, x, target="sm_90a")
    assert kernel.abi.ctas((3, 1, 1)) == (12, 1, 1)
    wanted = np.concatenate([100 * i + 3 + np.arange(64) for i in range(3)])
    for run in (kernel.evaluate, kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(x, grid=3).arrays[0], wanted)


def test_what_cannot_be_divided_runs_as_one_cta_and_says_why() -> None:
    x, total = np.zeros(128, np.int32), np.zeros(1, np.int32)
    with collecting_diagnostics() as log:
        kernel = compile(kernels.counted, x, total, target="sm_90a")
    (remark,) = [str(one) for one in log.diagnostics if "num_ctas" in str(one)]
    why = "'nv_tileas.atomic_rmw' would run once for each CTA"
    assert why in remark
    module = kernel.module_after("tileas-plan-cta")
    assert [(one.what, one.why) for one in reasons_in([module])] == [("CTAs", why)]
    assert any(NOT_DIVIDED in op.attributes for op in module.ops)
    assert kernel.emulate(x, total, grid=2).arrays[1] == [2]
