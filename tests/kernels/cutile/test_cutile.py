"""Kernels of cuTile Python by their meaning, as tiles and on the emulator, against numpy."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile import MODULES, Problem, emulated, evaluated, problems, simulated
from tileas_xdsl.backend.nvidia_tools import find_tool

PROBLEMS = list(problems())
FIRST = [next(problems(name)) for name in MODULES]
SEEDS = 4


@pytest.mark.sample(8)
@pytest.mark.parametrize(("number", "problem"), [*enumerate(FIRST)], ids=str)
def test_meaning_and_code_are_right(number: int, problem: Problem) -> None:
    """The first problem of each file, for one target and the next for the other."""
    target = problem.targets[number % len(problem.targets)]
    kernel = problem.compiled(target)
    for run in (evaluated, simulated):
        meant = run(problem, kernel, seed=1)
        assert meant.is_right, (run.__name__, str(meant))
    order = ("random", "drift")[number // 2 % 2]
    found = emulated(problem, kernel, seed=2, order=order)
    assert found.is_right, (order, str(found))
    if find_tool("ptxas"):
        assert kernel.assemble().spills == 0


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_code_and_meaning_are_right_on_other_data(problem: Problem) -> None:
    for target in problem.targets:
        kernel = problem.compiled(target)
        for seed in range(SEEDS):
            for run in (evaluated, simulated, emulated):
                found = run(problem, kernel, seed)
                assert found.is_right, (target, run.__name__, seed, str(found))
        if find_tool("ptxas"):
            assert kernel.assemble().spills == 0


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_warps_may_fall_behind(problem: Problem) -> None:
    for target in problem.targets:
        kernel = problem.compiled(target)
        for seed in range(SEEDS):
            found = emulated(problem, kernel, seed, order="drift")
            assert found.is_right, (target, seed, str(found))


def test_every_file_of_kernels_is_listed() -> None:
    package = find_spec("kernels.cutile")
    assert package is not None
    folder = Path(str(package.origin)).parent
    others = {"__init__", "__main__", "problem", "table"}
    assert {path.stem for path in folder.glob("*.py")} - others == set(MODULES)


def test_names_that_are_none_are_refused() -> None:
    command = [sys.executable, "-m", "kernels.cutile", "nothing"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert "there is no 'nothing'; there are vector_add" in run.stderr
