"""Random programs of Tile IR are on every level what they mean; wrong ones are shrunk."""

from __future__ import annotations

import pytest

from tests.support.random_tile_ir import Verdict, judge, random_program, shrunk
from tests.support.random_tile_ir.judge import TARGETS, Kind, difference
from tests.support.random_tile_ir.program import Program, written
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.cuda_tile.launch import evaluate

FEW, MANY = 5, 2000


def is_fine(verdict: Verdict) -> bool:
    """Refusals are counted by the benchmark `tile_ir_programs`; here nothing may be wrong."""
    return verdict.kind not in (Kind.WRONG, Kind.BROKEN)


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(FEW))
def test_a_few_programs(seed: int) -> None:
    verdict = judge(random_program(seed), TARGETS[seed % 2 :][:1])
    assert is_fine(verdict), verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FEW, MANY))
def test_many_programs(seed: int) -> None:
    verdict = judge(random_program(seed))
    assert is_fine(verdict), verdict


def test_programs_are_those_of_their_seed() -> None:
    assert written(random_program(4)).text == written(random_program(4)).text
    assert written(random_program(4)).text != written(random_program(5)).text


def test_what_is_told_is_still_true_of_a_shrunk_program() -> None:
    """A lowering that took products for sums: the smallest program with a product is left."""

    def has_wrong_products(program: Program) -> bool:
        text = written(program)
        if "muli %v" not in text.text:
            return False
        wrong = text.text.replace("muli %v", "addi %v")
        first, second = (
            evaluate(
                parse_module(registered_context(), source), text.arguments, grid=program.blocks
            ).arrays
            for source in (text.text, wrong)
        )
        return any(difference(x, y, exact=True) for x, y in zip(first, second, strict=True))

    program = next(p for p in map(random_program, range(200)) if has_wrong_products(p))
    found = shrunk(program, has_wrong_products)
    assert has_wrong_products(found)
    assert found.size < program.size
    assert len(list(found.every())) <= 4
    assert max(node.type.count for node in found.every()) <= 4
