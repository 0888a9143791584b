"""Random kernels full of branches, loops and exits mean the same after a pass over Tile IR."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass

from tests.support.random_branches import random_branches
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.cuda_tile.launch import evaluate
from tileas_xdsl.transforms.loops.loop_split import LoopSplit

FEW, MANY = 5, 2000

CHUNK = 25
"""Seeds of a case: that many cases fewer to collect in every run of the suite."""

PASSES = (CanonicalizePass(), LoopSplit())


def _same(seed: int, pass_: ModulePass) -> None:
    text, arguments = random_branches(seed)
    before, after = (parse_module(registered_context(), text) for _ in range(2))
    verify_module(before)
    pass_.apply(registered_context(), after)
    verify_module(after)
    found = [evaluate(module, arguments).arrays[-1] for module in (before, after)]
    assert np.array_equal(*found), seed


@pytest.mark.parametrize("pass_", PASSES, ids=lambda pass_: pass_.name)
def test_a_few_kernels(pass_: ModulePass) -> None:
    for seed in range(FEW):
        _same(seed, pass_)


@pytest.mark.slow
@pytest.mark.parametrize("pass_", PASSES, ids=lambda pass_: pass_.name)
@pytest.mark.parametrize("first", range(FEW, MANY, CHUNK))
def test_many_kernels(first: int, pass_: ModulePass) -> None:
    for seed in range(first, min(first + CHUNK, MANY)):
        _same(seed, pass_)
