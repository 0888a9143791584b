"""Faults of a rotated loop's schedule, planted in its PTX: the emulator finds each kind.

The loop is attention's: the product of keys of this round is issued before that of values of the
round before, stages of both are waited for, read and released a product apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import pytest

from kernels.cutile.attention import Attention
from kernels.cutile.problem import Problem
from tests.support.ptx_edits import Edit, changing
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.runtime.arguments.cutile_arguments import held
from tileas_xdsl.runtime.emulation import emulate

pytest.importorskip("cuda.tile")

PROBLEM = Attention(1, 1, 64, 384, 64).problem()
"""Six rounds of 64 keys, four stages: each ring goes around."""

TWO_GROUPS = Attention(1, 1, 128, 384, 64, tm=128, tn=64).problem()
"""Two warpgroups of consumers, which take turns at the products."""

FULL = r"^\$W\d+:\n +mbarrier\.try_wait.*\n.*bra.*\n"
"""A wait for a stage, with the branch that repeats it."""

RELEASE = r"^ +elect\.sync.*\n(?: +\.loc.*\n)?.*mbarrier\.arrive\.shared.*\n"


@cache
def right(problem: Problem = PROBLEM) -> CompiledKernel:
    """The kernel as it is compiled."""
    return problem.compiled("sm_90a")


def in_loop(edit: Edit) -> Edit:
    """An edit of the steady state alone: the loop that leaves one group of products running."""

    def edited(ptx: str) -> str:
        waits = ptx.index("wgmma.wait_group.sync.aligned 1;")
        begin = [m.start() for m in re.finditer(r"^\$L\d+:\n", ptx, re.M) if m.start() < waits][-1]
        end = re.compile(r"^ +bra \$L\d+;\n", re.M).search(ptx, waits)
        assert end is not None
        return ptx[:begin] + edit(ptx[begin : end.end()]) + ptx[end.end() :]

    return edited


def moved(text: str) -> str:
    """The release of the values' stage in front of the wait for their product.

    That of the keys' may come early: the producer waits for the stage of values first, and that
    is released behind both products.
    """
    *_, release = re.finditer(RELEASE, text, re.M)
    rest = text[: release.start()] + text[release.end() :]
    return changing(r"^( +wgmma\.wait_group\.sync\.aligned 0;\n)", release[0] + r"\1")(rest)


def next_barrier(found: re.Match[str]) -> str:
    """The same arrival, at the barrier of the next stage."""
    return f"{found[1]}{int(found[2]) + 8}"


FAULTS: Mapping[str, tuple[Edit, str]] = {
    "a wait for a stage is missing": (in_loop(changing(FULL, "")), "race-RAW"),
    "a wait has the other parity": (
        in_loop(changing(r"(try_wait.*\], )%r\d+;", r"\g<1>0;")),
        "race-RAW",
    ),
    "a stage is never released": (in_loop(changing(RELEASE, "")), "deadlock"),
    "another stage is released": (
        in_loop(changing(r"(mbarrier\.arrive\.shared.*\+)(\d+)", next_barrier)),
        "barrier-arrivals",
    ),
    "a stage is released before the wait for its reader": (in_loop(moved), "race-WAR"),
    "a wait leaves one product too many": (
        in_loop(changing(r"wait_group\.sync\.aligned 1;", "wait_group.sync.aligned 2;")),
        "wgmma-wait",
    ),
    "the last wait leaves a product": (
        in_loop(changing(r"wait_group\.sync\.aligned 0;", "wait_group.sync.aligned 1;")),
        "wgmma-wait",
    ),
    "a load fills the next stage": (
        changing(r"(shared::cluster\.global.*\[%r\d+\+)1024\]", r"\g<1>9216]"),
        "race-RAW",
    ),
    "a load announces no bytes": (
        changing(r"(mbarrier\.arrive)\.expect_tx(\S* _, \[%r\d+\+\d+\]), 8192;", r"\1\2;"),
        "race-RAW",
    ),
    "the reader has a stage too few": (
        in_loop(changing(r"(setp\.eq\.s32.*, )4;", r"\g<1>3;")),
        "deadlock",
    ),
    "the producer keeps registers that consumers ask for": (
        changing(r"^ +setmaxnreg\.dec.*\n", ""),
        "deadlock",
    ),
    "roles ask for more registers than the block has": (
        changing(r"(setmaxnreg\.inc\S+) \d+;", r"\1 240;"),
        "deadlock",
    ),
    "a role gives back fewer registers than it has": (
        changing(r"(setmaxnreg)\.dec(\S+) \d+;", r"\1.dec\2 232;"),
        "registers",
    ),
}
"""Edits of the PTX, and what the emulator calls them."""


TURN_FAULTS: Mapping[str, tuple[Edit, str]] = {
    "a turn is not passed on": (changing(r"^ +bar\.arrive %r\d+, 256;\n", ""), "deadlock"),
    "a turn is missing": (changing(r"^ +bar\.sync %r\d+, 256;\n", ""), "named-barrier"),
}
"""The same of two warpgroups."""


def found_in(
    ptx: str, problem: Problem = PROBLEM, order: Order = "lazy", seed: int = 0
) -> set[str]:
    """The kinds of findings of a run, in which operations complete late if nothing is said."""
    kernel = right(problem)
    assert kernel.parameters is not None
    arguments = held(kernel.parameters, problem.arguments())
    run = emulate(ptx, kernel.abi, arguments, problem.grid, order=order, seed=seed)
    return {one.kind for one in run.findings}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str) -> None:
    """Also where warps fall behind, whatever shows first then."""
    edit, kind = FAULTS[name]
    wrong = edit(right().ptx)
    assert kind in found_in(wrong)
    assert found_in(wrong, order="drift")


@pytest.mark.parametrize("name", TURN_FAULTS)
def test_a_fault_of_a_turn_is_found(name: str) -> None:
    edit, kind = TURN_FAULTS[name]
    wrong = edit(right(TWO_GROUPS).ptx)
    assert kind in found_in(wrong, TWO_GROUPS)
    assert kind in found_in(wrong, TWO_GROUPS, "drift")


@pytest.mark.parametrize("problem", [PROBLEM, TWO_GROUPS], ids=["one group", "two groups"])
def test_the_schedule_as_it_is_has_none(problem: Problem) -> None:
    assert not found_in(right(problem).ptx, problem)
    assert not any(found_in(right(problem).ptx, problem, "drift", seed) for seed in range(4))
