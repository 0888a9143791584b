"""Kernels of cuTile as text and as bytecode: reading what was written gives the same program."""

from __future__ import annotations

import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile import MODULES, Problem, problems
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode
from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode
from tileas_xdsl.frontend.cutile.kernels import parameters_of
from tileas_xdsl.frontend.cutile.tile_ir import kernel_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.printing import module_text

FIRST = [next(problems(name)) for name in MODULES]


def check(problem: Problem) -> None:
    ctx = registered_context()
    module = kernel_module(problem.kernel, parameters_of(problem.kernel, problem.arguments()))
    text = module_text(module, {}, ctx.loaded_dialects)
    again = parse_module(ctx, text, "kernel.mlir")
    again.verify()
    assert again.is_structurally_equivalent(module)
    assert module_text(again, {}, ctx.loaded_dialects) == text
    assert read_bytecode(write_bytecode(again)).is_structurally_equivalent(module)


@pytest.mark.parametrize("problem", FIRST, ids=str)
@pytest.mark.sample(12)
def test_text_and_bytecode_say_the_same(problem: Problem) -> None:
    check(problem)


@pytest.mark.slow
@pytest.mark.parametrize("problem", [*problems()], ids=str)
def test_all_say_the_same(problem: Problem) -> None:
    check(problem)
