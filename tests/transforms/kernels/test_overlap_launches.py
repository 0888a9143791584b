# pyright: basic
"""Kernels wait for those before them in front of everything that accesses global memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct
from support.cutile_programs import add

import tileas_xdsl as tileas
from kernels.compiled import compiled as made
from kernels.cutile import problems
from kernels.cutile.matmul import matmul
from kernels.cutile.softmax import softmax
from kernels.sass import GEMMS
from tests.support.assembling import needs_ptxas
from tests.support.plain_checks import TARGETS


@ct.kernel
def overlapping(x, tile: ct.Constant[int], step):
    """Let the next kernel in, as the program wants it."""
    i = ct.bid(0)
    ct.store(x, (i,), ct.load(x, (i,), (tile,)) + step)
    ct.grid_dependency_control_launch_dependents()


RNG = np.random.default_rng(3)
ACCESS = re.compile(
    r"griddepcontrol\.\w+|(?:ld|st|red|atom)\.(?:\w+\.)*global|cp\.(?:async|reduce)\S*global"
)


def floats(*shape: int, dtype: Any = np.float16) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


CASES: Sequence[tuple[Any, Sequence[Any], int | tuple[int, ...]]] = (
    (add, (*(floats(300, dtype=np.float32) for _ in range(3)), 128), 3),
    (softmax, (floats(64, 256), floats(64, 256), 2, 256), 32),
    (matmul, (floats(128, 192), floats(192, 128), floats(128, 128), 128, 128, 64), (1, 1)),
    (matmul, (floats(48, 40), floats(40, 56), floats(48, 56), 32, 32, 32), (2, 2)),
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("kernel", "arguments", "grid"), CASES)
def test_the_wait_stands_in_front_of_all_accesses(
    kernel: Any, arguments: Sequence[Any], grid: int | tuple[int, ...], target: str
) -> None:
    compiled = tileas.compile(kernel, *arguments, target=target)
    first, second, *rest = ACCESS.findall(compiled.ptx)
    assert (first, second) == ("griddepcontrol.wait", "griddepcontrol.launch_dependents")
    assert rest
    assert not any(access.startswith("griddepcontrol") for access in rest)
    assert compiled.abi.waits_first
    assert ".nc" not in compiled.ptx  # of memory that nothing writes from the kernel's start on
    simulated, emulated = (
        compiled.simulate(*arguments, grid=grid),
        compiled.emulate(*arguments, grid=grid),
    )
    assert not emulated.findings
    for one, other in zip(simulated.arrays, emulated.arrays, strict=True):
        np.testing.assert_allclose(
            np.asarray(one, np.float64), np.asarray(other, np.float64), 2e-3, 2e-3
        )


@pytest.mark.parametrize("target", TARGETS)
def test_threads_wait_before_they_are_divided(target: str) -> None:
    """Barriers are initialised and maps are fetched before; warps become agents behind."""
    kernel, arguments, _ = CASES[2]
    ptx = tileas.compile(kernel, *arguments, target=target).ptx
    wait = ptx.index("griddepcontrol.wait")
    assert ptx.rindex("mbarrier.init") < wait < ptx.index("elect.sync")
    assert "prefetch.tensormap" in ptx[:wait]


def test_kernels_of_many_ctas_let_the_next_one_in_as_they_end() -> None:
    kernel, arguments, _ = CASES[0]
    ptx = tileas.compile(kernel, *arguments, target="sm_90a").ptx
    test, jump = ptx[: ptx.index("griddepcontrol.launch")].rsplit("setp.", 1)[1].split("\n")[:2]
    assert re.match(r"lt\.u32 %p\d+, %r\d+, 1025;", test)
    assert "bra" in jump


def test_ctas_that_take_tile_after_tile_do_not_ask_how_many_they_are() -> None:
    problem = next(problems("persistent"))
    lines = problem.compiled("sm_90a").ptx.splitlines()
    bare = "\n".join(line for line in lines if not line.lstrip().startswith(".loc"))
    assert re.search(r"griddepcontrol\.wait;\s+griddepcontrol\.launch_dependents;", bare)


@needs_ptxas
def test_a_pair_whose_ctas_take_tile_after_tile_spills_nothing() -> None:
    """With the test for few CTAs in front of its agents ptxas 13.5 spilled 36 bytes."""
    (pairs,) = (kernel for kernel in GEMMS if kernel.pair > 1 and kernel.persistent)
    assert made(pairs).assemble().spills == 0


def test_programs_that_control_it_are_left_alone() -> None:
    compiled = tileas.compile(overlapping, floats(64, dtype=np.float32), 64, 1.5, target="sm_90a")
    assert ACCESS.findall(compiled.ptx)[-1] == "griddepcontrol.launch_dependents"
    assert "griddepcontrol.wait" not in compiled.ptx
    assert not compiled.abi.waits_first
