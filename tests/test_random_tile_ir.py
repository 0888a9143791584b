"""Random programs of Tile IR are on every level what they mean; wrong ones are shrunk."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.random_tile_ir import Verdict, judge, random_program, shrunk
from tests.support.random_tile_ir.judge import TARGETS, Kind, difference
from tests.support.random_tile_ir.program import Program
from tests.support.random_tile_ir.sensitivity import perturbed
from tests.support.random_tile_ir.writing import written
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.cuda_tile.launch import evaluate

FEW, MANY = 5, 2000

CHUNK = 25
"""Seeds of a case: that many cases fewer to collect in every run of the suite."""


def is_fine(verdict: Verdict) -> bool:
    """Refusals are counted by the benchmark `tile_ir_programs`; here nothing may be wrong."""
    return verdict.kind not in (Kind.WRONG, Kind.BROKEN)


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(FEW))
def test_a_few_programs(seed: int) -> None:
    verdict = judge(random_program(seed), TARGETS[seed % 2 :][:1])
    assert is_fine(verdict), verdict


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FEW, MANY, CHUNK))
def test_many_programs(first: int) -> None:
    for seed in range(first, min(first + CHUNK, MANY)):
        verdict = judge(random_program(seed))
        assert is_fine(verdict), (seed, verdict)


def test_programs_are_those_of_their_seed() -> None:
    assert written(random_program(4)).text == written(random_program(4)).text
    assert written(random_program(4)).text != written(random_program(5)).text


SUMS = """cuda_tile.module @m {
  entry @k(%from: tile<ptr<f16>>, %to: tile<ptr<f16>>) {
    %n = iota : tile<64xi32>
    %one = reshape %from : tile<ptr<f16>> -> tile<1xptr<f16>>
    %all = broadcast %one : tile<1xptr<f16>> -> tile<64xptr<f16>>
    %there = offset %all, %n : tile<64xptr<f16>>, tile<64xi32> -> tile<64xptr<f16>>
    %x, %t = load_ptr_tko weak %there : tile<64xptr<f16>> -> tile<64xf16>, token
    %s = scan %x dim=0 reverse=false identities=[0.0 : f16] : tile<64xf16> -> tile<64xf16>
      (%before: tile<f16>, %now: tile<f16>) {
      %sum = addf %before, %now : tile<f16>
      yield %sum : tile<f16>
    }
    %first = reshape %to : tile<ptr<f16>> -> tile<1xptr<f16>>
    %every = broadcast %first : tile<1xptr<f16>> -> tile<64xptr<f16>>
    %here = offset %every, %n : tile<64xptr<f16>>, tile<64xi32> -> tile<64xptr<f16>>
    %u = store_ptr_tko weak %here, %s : tile<64xptr<f16>>, tile<64xf16> -> token
    return
  }
}
"""


def test_sums_in_another_order_are_right_and_without_an_element_wrong() -> None:
    """Numbers of f16 that nearly cancel: two orders differ by more than the usual tolerance."""
    module = parse_module(registered_context(), SUMS)
    values = np.random.default_rng(1).standard_normal(64).astype(np.float16) * 16
    values[-1] = -np.float16(values[:-1].astype(np.float64).sum())
    arguments = [values, np.zeros(64, np.float16)]
    expected = evaluate(module, arguments, grid=1).arrays[1]
    moved = perturbed(module, arguments, 1)[1]
    exact = np.add.accumulate(values.astype(np.float64))
    other = exact.astype(np.float16)
    assert difference(expected, other, exact=False)
    assert not difference(expected, other, exact=False, moved=moved)
    lost = (exact - np.abs(values[0])).astype(np.float16)
    assert difference(expected, lost, exact=False, moved=moved)


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
