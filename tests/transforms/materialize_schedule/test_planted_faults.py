"""Faults planted into the IR of scheduled attention and GEMM, each by one edit, are all found.

release before wait     by the interpreter of tiles
wrong wait count        by the emulator of PTX
missing turn            by the emulator of PTX
one stage too few       by the check of a schedule, and where rings are written
wrong role budget       by the check of a schedule, and by the lowering to threads
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec

from kernels.cutile.attention import Attention
from kernels.cutile.matmul import product_problem
from kernels.cutile.problem import Problem
from tests.support.ir import parse
from tileas_xdsl.compiler import CompiledKernel, compile, passes_to_ptx
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import ConsumerReleaseOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.pipelines.turns import TurnAction, TurnOp
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import Schedule
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.transforms.memory.tileas_assign_buffers import TileasAssignBuffers
from tileas_xdsl.transforms.pipelining.tileas_materialize_schedule import TileasMaterializeSchedule

ATTENTION, GEMM = "attention", "gemm"
MATERIALIZE, TO_THREADS = "tileas-materialize-schedule", "convert-tileas-to-cute-nvgpu"
SOLVED = [*PIPELINES["cudatile-to-tileas"].passes, *PIPELINES["tileas-schedule"].passes]

both = pytest.mark.parametrize("name", [ATTENTION, GEMM])


def problem_of(name: str) -> Problem:
    """Two warpgroups that take turns; products of which each runs while the next is issued."""
    if name == ATTENTION:
        return Attention(1, 1, 128, 200, 64, tm=128, tn=64).problem()
    return product_problem("matmul", "f16", "f32", (128, 128, 504), (128, 128, 64))


@cache
def compiled(name: str) -> CompiledKernel:
    """The kernel by the default passes, whose products run on while the next one is issued."""
    problem = problem_of(name)
    deferring = ArgSpec(MATERIALIZE, dict.fromkeys(("default", "turns", "defer"), (True,)))
    passes = [deferring if one.name == MATERIALIZE else one for one in passes_to_ptx()]
    return compile(problem.kernel, *problem.arguments(), target="sm_90a", passes=passes)


@cache
def solved(name: str) -> str:
    """The tiles of a kernel with the schedule that the solver finds."""
    problem = problem_of(name)
    made = compile(problem.kernel, *problem.arguments(), target="sm_90a", passes=SOLVED)
    return str(made.module)


def edited(name: str, stage: str, edit: Callable[[ModuleOp], None]) -> CompiledKernel:
    """The kernel, compiled on from its IR behind a pass when that has been edited."""
    module = parse(compiled(name).ir(stage))
    edit(module)
    return replace(compile(str(module)), parameters=compiled(name).parameters)


def substituted(text: str, pattern: str, by: str) -> str:
    changed, count = re.subn(pattern, by, text, count=1)
    assert count == 1
    return changed


def findings(name: str, kernel: CompiledKernel) -> Sequence[Any]:
    """What the emulator says of a run in which everything completes as late as it can."""
    problem = problem_of(name)
    return kernel.emulate(*problem.arguments(0), grid=problem.grid, order="lazy").findings


def release_first(module: ModuleOp) -> None:
    """Move each release in front of the wait for the product that reads the stage."""
    for wait in instances_in(module, WaitOp):
        release, block = wait.next_op, wait.parent
        if isinstance(release, ConsumerReleaseOp) and block is not None:
            release.detach()
            block.insert_op_before(release, wait)


@both
def test_a_release_before_the_wait_is_found(name: str) -> None:
    """A product that is under way may read what the producer writes over."""
    problem, adversary = problem_of(name), Schedule("adversarial", 0)
    kernel = edited(name, "tileas-materialize-async", release_first)
    with pytest.raises(
        SimulationError,
        match="releases stage 0 of the pipeline while wgmma product is still reading it",
    ):
        kernel.simulate(*problem.arguments(0), grid=problem.grid, schedule=adversary)


@both
def test_a_wrong_wait_count_is_found(name: str) -> None:
    text = compiled(name).ir(TO_THREADS)
    later = substituted(text, r"wgmma_wait_group 1", "wgmma_wait_group 2")
    kernel = replace(compile(later), parameters=compiled(name).parameters)
    (first, *_) = findings(name, kernel)
    assert re.search("wgmma|tensor-core instruction", first.message)


def test_a_missing_turn_is_found() -> None:
    """Of attention alone: groups of a GEMM, whose products take longest, take none."""

    def drop(module: ModuleOp) -> None:
        passed = [op for op in instances_in(module, TurnOp) if op.action.data == TurnAction.PASS]
        passed[0].detach()

    (first, *_) = findings(ATTENTION, edited(ATTENTION, MATERIALIZE, drop))
    assert first.message == "deadlock: CTA 0 warps 4..7, CTA 0 warps 8..11 wait forever"
    assert "waits at line" in first.notes[0]


@both
def test_one_stage_too_few_is_found(name: str) -> None:
    stages = re.findall(r"value = 0 : i32, stages = (\d+)", solved(name))[0]
    fewer = rf"\g<1>{int(stages) - 1}"
    text = substituted(solved(name), r"(value = 0 : i32, stages = )\d+", fewer)
    with pytest.raises(OpError, match="fails to resolve lifetime") as found:
        TileasAssignBuffers().apply(Context(), parse(text))
    (why,) = found.value.diagnostics[0].notes
    words = f"has {int(stages) - 1} stages, but tiles of {stages} iterations are alive at once"
    assert why.message == words


@both
def test_a_wrong_role_budget_is_found(name: str) -> None:
    """In the schedule, where it is materialised; in the IR of agents, where threads are made."""
    text = substituted(solved(name), r'("producer", warps = 4 : i32, registers = )40', r"\g<1>240")
    with pytest.raises(OpError, match="gives its roles 90112 registers of 65536: 128 threads of"):
        TileasMaterializeSchedule().apply(Context(), parse(text))
    text = substituted(
        compiled(name).ir(MATERIALIZE), r"max_regs = array<i32: 40", "max_regs = array<i32: 240"
    )
    with pytest.raises(OpError, match="its agents want 90112 registers; 384 threads begin with"):
        compile(text)
