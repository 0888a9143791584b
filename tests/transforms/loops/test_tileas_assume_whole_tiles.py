"""Code for extents that tiles divide is right, and has no masks and no loop for another tile."""

import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile.attention import Attention
from tests.support.compiling import OfWholeTiles, specialized
from tileas_xdsl.compiler import compile
from tileas_xdsl.target.launches.specializations import unspecialized
from tileas_xdsl.target.launches.whole_tiles import WholeTiles
from tileas_xdsl.transforms.loops.tileas_assume_whole_tiles import TileasAssumeWholeTiles

WHOLE = Attention(1, 2, 128, 256, 64)
CAUSAL = Attention(1, 1, 192, 192, 64, "bf16", causal=True)


@pytest.mark.parametrize("sizes", [WHOLE, CAUSAL], ids=str)
def test_keys_that_fill_tiles_are_right(sizes: Attention) -> None:
    problem = sizes.problem()
    args = problem.make(np.random.default_rng(0))
    found = specialized(problem.kernel, *args, choose=OfWholeTiles())
    assert found.abi.fills_tiles
    ran = found.emulate(*args, grid=problem.grid)
    assert not ran.findings
    assert problem.check(args, ran.arrays).is_right


def comparisons(ptx: str) -> int:
    return len(re.findall(r"\bsetp\.\w+\.s32", ptx))


@pytest.mark.parametrize("sizes", [WHOLE, CAUSAL], ids=str)
def test_they_are_not_compared_with(sizes: Attention) -> None:
    problem = sizes.problem()
    args = problem.make(np.random.default_rng(0))
    whole = specialized(problem.kernel, *args, choose=OfWholeTiles())
    each = compile(problem.kernel, *args, target="sm_90a")
    assert each.abi.whole_tiles == whole.abi.whole_tiles
    assert not each.abi.fills_tiles
    assert comparisons(whole.ptx) + 30 < comparisons(each.ptx)


def test_a_launch_is_asked_about_the_extent() -> None:
    problem = WHOLE.problem()
    args = problem.make(np.random.default_rng(0))
    asked = compile(problem.kernel, *args, target="sm_90a").abi.whole_tiles
    assert asked is not None
    assert asked.tiles == (64,)
    flat: list[Any] = [None] * (asked.arguments[0] + 1)
    for keys, suits in ((256, True), (200, False), (0, True), (None, False)):
        flat[-1] = keys
        assert asked.suits(flat, (1, 1, 1), 132) is suits


def test_unspecialized_code_is_for_any_extent() -> None:
    assert not unspecialized(WholeTiles((0,), (64,)))


def test_other_modes_are_refused() -> None:
    with pytest.raises(ValueError, match="maybe"):
        TileasAssumeWholeTiles(mode="maybe")
