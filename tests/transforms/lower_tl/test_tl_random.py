"""Random tl programs: checked layouts, and PTX that agrees with the tile interpreter.

A program without a layout is an error that names the place and something concrete.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from tests.support.ir import parse
from tests.support.tl_programs import KINDS, one_access, program, programs
from tests.support.tl_programs.outcomes import FINE, Outcome, Verdict, asked, layouts, outcome
from tileas_xdsl.inference.checking import Rule, check
from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.modes import infer

LAYOUTS, RUNS, SWEEP = 12, 6, 400


def text_of(found: Outcome) -> str:
    return f"{found.verdict}: {found.detail}"


def test_the_checker_accepts_what_is_inferred() -> None:
    found = {one.seed: layouts(one.text)[0] for one in programs(LAYOUTS, first=100)}
    assert [text_of(each) for each in found.values() if each.verdict not in FINE] == []


TILELANG = {Rule.PADDING, Rule.VECTOR}
"""What TileLang leaves to lowering: steps beyond the loop, and wide accesses across an edge."""


def test_what_tilelang_decides_is_right_but_for_its_guards() -> None:
    for one in programs(LAYOUTS, first=100):
        question = asked(parse(one.text))
        with suppress(InferenceError):
            findings = check(question, infer(question, "parity"))
            assert {finding.rule for finding in findings} <= TILELANG, findings


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(RUNS))
def test_the_emulator_gives_what_the_program_says(seed: int) -> None:
    found = outcome(program(seed))
    assert found.verdict in FINE, text_of(found)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1000 + SWEEP, 20))
def test_sweep_over_random_programs(first: int) -> None:
    wrong = {
        one.seed: text_of(found)
        for one in programs(20, first)
        if (found := outcome(one)).verdict not in FINE
    }
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_access_alone(kind: str) -> None:
    found = [outcome(one_access(kind, seed)) for seed in range(8)]
    assert [text_of(each) for each in found if each.verdict not in FINE] == []
    assert any(each.verdict is Verdict.RIGHT for each in found)


def test_programs_of_a_seed_are_the_same() -> None:
    assert program(7).text == program(7).text
    assert program(7).text != program(8).text
