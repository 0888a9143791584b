"""Tiles made of the elements of others: the emulator, the tile interpreter and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.plain_checks import TARGETS, check
from tests.transforms.lower_tiles.memory.generated_kernels import CASES, Case
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.errors import DiagnosticError


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", CASES)
def test_every_element_comes_from_where_it_should(name: str) -> None:
    case = CASES[name]
    numbers, outputs = case.arguments(np.random.default_rng(7))
    target = TARGETS[len(name) % 2]
    check(case.text, (numbers, outputs), case.expected(numbers), targets=(target,))


def _barriers(case: Case, *, computed: bool = True) -> int:
    """Of a tile that is computed with, beside the elements that are taken of it, or only loaded."""
    lines = case.text.split("\n")
    kept = [line for line in lines if computed or "%u = arith" not in line]
    return compile("\n".join(kept)).ptx.count("bar.sync")


def test_threads_meet_only_where_elements_change_warps() -> None:
    """A row of 64 for all rows is loaded by every thread that computes with it."""
    row = CASES["one row of a matrix for all rows"]
    assert _barriers(row) == 0
    assert _barriers(row, computed=False) == 0
    assert _barriers(CASES["by position"]) == 0
    assert _barriers(CASES["from the last column on"]) == 0
    assert _barriers(CASES["transposed f32 by 1 warps"]) == 0
    assert _barriers(CASES["transposed f32 by 4 warps"]) == 1


def test_code_grows_with_the_registers_of_a_thread() -> None:
    """Four times the elements are four times the instructions, not sixteen times."""
    lines: list[int] = []
    for n in (32, 64, 128):
        case = Case(f"{n}x{n}", f"{n}x{n}", "%e = tensor.extract %t[%j, %i] : SRC", np.transpose)
        lines.append(compile(case.text).ptx.count("\n"))
    assert lines[1] < 4.5 * lines[0]
    assert lines[2] < 4.5 * lines[1]


def test_elements_outside_of_a_tile_are_refused() -> None:
    body = """%c = arith.constant 1 : index
    %p = arith.addi %i, %c : index
    %e = tensor.extract %t[%p, %j] : SRC"""
    case = Case("8x32", "8x32", body, np.array)
    with pytest.raises(DiagnosticError, match="element 8 along dimension 0 of a tile of 8x32"):
        compile(case.text)


def test_elements_in_loops_of_a_body_are_refused_with_the_way_out() -> None:
    body = """%c = arith.constant 1 : index
    %n = arith.constant 4 : index
    %none = arith.constant 0.0 : f32
    %e = scf.for %k = %zero to %n step %c iter_args(%s = %none) -> (f32) {
      %v = tensor.extract %t[%i, %k] : SRC
      %r = arith.addf %s, %v : f32
      scf.yield %r : f32
    }"""
    case = Case("8x32", "8x32", body, np.array)
    with pytest.raises(DiagnosticError, match="generate the tile inside of the loop"):
        compile(case.text)
