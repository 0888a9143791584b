"""Loops by computed schedules: materialised, lowered to PTX, and run on the emulator."""

from __future__ import annotations

import pytest
from xdsl.utils.arg_spec import ArgSpec

from kernels.cutile.attention import Attention
from kernels.cutile.matmul import PROBLEMS as PRODUCTS
from kernels.cutile.problem import Problem, emulated
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.pipelines import PIPELINES

pytest.importorskip("cuda.tile")

MATERIALIZE, GENERATE = "tileas-materialize-schedule", "tileas-generate-schedule"


def scheduled(problem: Problem) -> CompiledKernel:
    """A kernel for sm_90a whose loops have the schedules that are computed for them."""
    passes = list(PIPELINES["tileas-to-ptx"].passes)
    place = [spec.name for spec in passes].index(MATERIALIZE)
    passes.insert(place, ArgSpec(GENERATE, {}))
    return compile(problem.kernel, *problem.arguments(), target="sm_90a", passes=passes)


PRODUCT = next(problem for problem in PRODUCTS if "128x128x64" in problem.name)
SMALL = Attention(1, 1, 64, 150, 64).problem()
LARGE = Attention(1, 1, 128, 384, 128, tm=128, tn=128).problem()


@pytest.mark.parametrize("problem", [PRODUCT, SMALL], ids=str)
def test_a_scheduled_loop_is_right(problem: Problem) -> None:
    kernel = scheduled(problem)
    assert "agent_switch" in kernel.ir(MATERIALIZE)
    found = emulated(problem, kernel, order="random")
    assert found.is_right, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("problem", [PRODUCT, SMALL, LARGE], ids=str)
def test_no_order_of_completion_makes_it_wrong(problem: Problem, order: str) -> None:
    found = emulated(problem, scheduled(problem), seed=1, order=order)
    assert found.is_right, str(found)


def test_chunks_of_rows_load_their_queries_again() -> None:
    """The last product of a chunk that reads its queries is awaited behind the rotated loop."""
    problem = Attention(1, 1, 256, 96, 64, tm=256, tn=32).problem()
    found = emulated(problem, problem.compiled("sm_90a"), order="lazy")
    assert found.is_right, str(found)
