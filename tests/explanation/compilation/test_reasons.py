"""Every loop of the benchmarks' kernels is divided into agents, or says in words why it is not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from xdsl.dialects import scf

import tileas_xdsl as tileas
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.explanation.compilation.reasons import reasons_at, reasons_in
from tileas_xdsl.explanation.facts import Reason

pytest.importorskip("cuda.tile")

from kernels.cutile import problems
from kernels.cutile.problem import Problem

SAMPLE = ("softmax_online", "count_privately", "split_k_sum")
"""Kernels with loops, of few instructions."""


def _one_of_each_kernel() -> Iterator[Problem]:
    seen: set[str] = set()
    for problem in problems():
        name = problem.kernel._pyfunc.__name__
        if name not in seen:
            seen.add(name)
            yield problem


def _cases() -> Iterator[object]:
    for problem in _one_of_each_kernel():
        name = problem.kernel._pyfunc.__name__
        marks = () if name in SAMPLE else pytest.mark.slow
        yield pytest.param(problem, id=name, marks=marks)


@pytest.mark.parametrize("problem", list(_cases()))
def test_loops_that_are_not_pipelined_say_why(problem: Problem) -> None:
    arguments = problem.make(np.random.default_rng(0))
    kernel = tileas.compile(problem.kernel, *arguments, target="sm_90a")
    module = kernel.module_after("tileas-pipeline-loads")
    loops = [op for op in module.walk() if isinstance(op, scf.ForOp | scf.WhileOp)]
    told = set(reasons_in([module]))
    for loop in loops:
        reasons: list[Reason] = [one for one in reasons_at(loop) if one.what == "pipeline"]
        if enclosing(loop, AgentSwitchOp) is None:
            assert len(reasons) == 1, str(loop)[:300]
        for reason in reasons:
            assert len(reason.why.split()) > 2
            assert reason in told
