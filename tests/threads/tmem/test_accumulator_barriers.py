"""Accumulators of persistent loops: one tile is read and stored while the next is multiplied."""

from __future__ import annotations

import re
from functools import cache

import pytest

from kernels.compiled import TWO_ORDERS
from kernels.cutile import emulated
from kernels.cutile.persistent import PROBLEMS, persistent_problem
from kernels.cutile.problem import Problem
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.runtime.arguments.cutile_arguments import held
from tileas_xdsl.runtime.emulation import emulate

CASES: dict[str, Problem] = {
    "for": persistent_problem("bf16", (256, 136, 136), (128, 64, 64), 2),
    "while": PROBLEMS[-1],
}
"""Loops over tiles, the second with a branch around the product."""


WAIT = r"^\$W\d+:\n +mbarrier\.try_wait.*\n.*bra.*\n( +tcgen05\.fence::after.*\n)"
"""The first wait for an accumulator: that of the warp that multiplies."""


@cache
def _compiled(name: str) -> CompiledKernel:
    return CASES[name].compiled("sm_100a")


@pytest.mark.parametrize("name", CASES)
def test_accumulators_have_two_copies_where_another_warp_multiplies(name: str) -> None:
    """64 columns, twice; the token of the bulk store that overlaps the next tile is no obstacle."""
    assert re.findall(r"tcgen05\.alloc\S* \[\S+\], (\d+);", _compiled(name).ptx) == ["128"]


@pytest.mark.parametrize("order", TWO_ORDERS)
@pytest.mark.parametrize("name", CASES)
def test_they_are_right(name: str, order: tuple[Order, int]) -> None:
    found = emulated(CASES[name], _compiled(name), order=order[0])
    assert found.is_right, str(found)


def test_a_copy_that_is_not_waited_for_is_found() -> None:
    """The third tile of a block takes the copy of the first, whose sums may not be read yet."""
    kernel, problem = _compiled("for"), CASES["for"]
    ptx, count = re.subn(WAIT, r"\1", kernel.ptx, count=1, flags=re.M)
    assert count == 1
    arguments = held(kernel.parameters, problem.arguments())
    assert emulate(ptx, kernel.abi, arguments, problem.grid, order="lazy").findings
