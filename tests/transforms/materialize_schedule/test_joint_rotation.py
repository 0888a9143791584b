# pyright: basic
"""Loops that go on with what a rotated one carries, on numbers that an interpreter computes."""

from __future__ import annotations

import pytest
from support.ir import parse
from xdsl.dialects import func, scf
from xdsl.interpreter import Interpreter
from xdsl.interpreters.arith import ArithFunctions
from xdsl.interpreters.func import FuncFunctions
from xdsl.interpreters.scf import ScfFunctions

from tileas_xdsl.transforms.materialize_schedule.joint_rotation import rotate_through

EARLY, LATE = (
    f'{{tileas.schedule = {{stage = {stage} : i32, order = ORDER : i32, role = "consumer"}}}}'
    for stage in (0, 1)
)

LOOPS = """
func.func @loops(%n: i32, %m: i32, %factor: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %end = arith.addi %n, %m : i32
  %a:2 = scf.for %i = %zero to %n step %one iter_args(%sum = %one, %most = %three)
      -> (i32, i32) : i32 {
    %scaled = arith.muli %most, %three EARLY0 : i32
    %next = arith.addi %scaled, %i EARLY1 : i32
    %faded = arith.muli %sum, FACTOR LATE2 : i32
    %total = arith.addi %faded, %next LATE3 : i32
    scf.yield %total, %next : i32, i32
  }
  %b:2 = scf.for %j = %n to %end step %one iter_args(%sum = %a#0, %most = %a#1)
      -> (i32, i32) : i32 {
    %scaled = arith.muli %most, %three : i32
    %masked = arith.muli %j, %three : i32
    %next = arith.addi %scaled, %masked : i32
    %faded = arith.muli %sum, OTHER : i32
    %total = arith.addi %faded, %next : i32
    scf.yield %total, %next : i32, i32
  }
  func.return %b#0, RESULT : i32, i32
}
"""
"""The sum runs a round behind the numbers that are added; those of the second loop are others."""


def module(factor: str = "%factor", other: str = "%factor", result: str = "%b#1"):
    text = LOOPS.replace("FACTOR", factor).replace("OTHER", other).replace("RESULT", result)
    for order in range(4):
        text = text.replace(f"EARLY{order}", EARLY.replace("ORDER", str(order)))
        text = text.replace(f"LATE{order}", LATE.replace("ORDER", str(order)))
    return parse(text)


def loops_of(found) -> list[scf.ForOp]:
    return [op for op in found.walk() if isinstance(op, scf.ForOp)]


def computed(found, *numbers: int) -> tuple[int, ...]:
    interpreter = Interpreter(found)
    for functions in (ArithFunctions(), FuncFunctions(), ScfFunctions()):
        interpreter.register_implementations(functions)
    return interpreter.call_op("loops", numbers)


def test_any_numbers_of_iterations_give_what_they_gave() -> None:
    plain, rotated = module(), module()
    first, second = rotate_through(loops_of(rotated)[0])
    rotated.verify()
    assert loops_of(rotated) == [first, second]
    for n in range(4):
        for m in range(4):
            assert computed(rotated, n, m, 5) == computed(plain, n, m, 5), (n, m)


def test_the_second_loop_has_late_operations_of_the_first_behind_its_own_early_ones() -> None:
    found = module()
    _, second = rotate_through(loops_of(found)[0])
    names = [op.name for op in second.body.block.ops if "tileas.schedule" in op.attributes]
    assert names == ["arith.muli", "arith.addi", "arith.muli", "arith.addi"]
    assert len(second.iter_args) == 2, "the sum, and the number that is added to it"


@pytest.mark.parametrize(
    ("factor", "other", "result"),
    [
        ("%factor", "%three", "%b#1"),
        ("%factor", "%j", "%b#1"),
        ("%i", "%j", "%b#1"),
        ("%factor", "%factor", "%a#1"),
    ],
    ids=["another factor", "by the index", "both by the index", "a result between"],
)
def test_other_loops_stay_as_they_are(factor: str, other: str, result: str) -> None:
    found = module(factor, other, result)
    before = str(found)
    assert not rotate_through(loops_of(found)[0])
    assert str(found) == before
    assert isinstance(found.body.block.first_op, func.FuncOp)
