"""Iterations at once give what iterations one by one give, in whatever order those come."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.simulating import module_of
from tests.support.tl_programs import KINDS, TlProgram, one_access, program
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.interpreters.tile.tl_kernels import parallel_loops as iterations

SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 45)]


def one_by_one(run: iterations.LoopRun) -> None:
    """Run a loop as a machine with one thread might."""
    order = np.random.default_rng(run.lanes.count).permutation(run.lanes.count)
    for number in order:
        alone = run.lanes.select(np.array([number]))
        iterations.run_block(run, alone, run.op.body.block)
    run.end()


def check(made: TlProgram, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the program does anything; what it does is the same both ways."""
    module = module_of(made.text)
    at_once = simulate(module, made.arrays(), grid=made.blocks).arrays
    with monkeypatch.context() as patch:
        patch.setattr(iterations.LoopRun, "run", one_by_one)
        alone = simulate(module, made.arrays(), grid=made.blocks).arrays
    for one, other in zip(at_once, alone, strict=True):
        np.testing.assert_array_equal(one, other)
    return any(
        not np.array_equal(one, other) for one, other in zip(at_once, made.arrays(), strict=True)
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", [*range(5), *SLOW])
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch):
    assert check(program(seed), monkeypatch)


@pytest.mark.sample(9)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_access(kind: str, monkeypatch: pytest.MonkeyPatch):
    assert any([check(one_access(kind, seed), monkeypatch) for seed in (3, 4)])
