"""Agents run functions: structured and plain control flow, calls, waits in the middle of it all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import test

from tests.support.ir import parse
from tileas_xdsl.interpreters.tile.execution.agent import AgentInterpreter, Language
from tileas_xdsl.interpreters.tile.execution.control_flow import SCALAR
from tileas_xdsl.interpreters.tile.execution.scheduler import (
    Adversarial,
    RoundRobin,
    Scheduler,
    Wait,
)
from tileas_xdsl.interpreters.tile.faults import SimulationError


def run(text: str, name: str, *args: Any, language: Language = SCALAR) -> tuple[Any, ...]:
    agent = AgentInterpreter(parse(text), language)
    scheduler = Scheduler(RoundRobin())
    process = scheduler.add("agent", agent.call(name, args))
    scheduler.run()
    return process.result


SUMS = """
func.func @sums(%n: index) -> (index, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a, %b = scf.for %i = %zero to %n step %one iter_args(%s = %zero, %t = %one) -> (index, index) {
    %odd = arith.andi %i, %one : index
    %is_odd = arith.cmpi eq, %odd, %one : index
    %u = scf.if %is_odd -> (index) {
      %v = arith.addi %s, %i : index
      scf.yield %v : index
    } else {
      scf.yield %s : index
    }
    %w = arith.muli %t, %one : index
    %x = arith.addi %w, %t : index
    scf.yield %u, %x : index, index
  }
  func.return %a, %b : index, index
}
"""


@pytest.mark.parametrize("n", [0, 1, 7, 20])
def test_loops_and_branches(n: int) -> None:
    assert run(SUMS, "sums", n) == (sum(range(1, n, 2)), 2**n)


def test_a_loop_down_runs_not_at_all() -> None:
    assert run(SUMS, "sums", -3) == (0, 1)


GCD = """
func.func @gcd(%a: i32, %b: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r, %s = scf.while (%x = %a, %y = %b) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %y, %zero : i32
    scf.condition(%more) %x, %y : i32, i32
  } do {
  ^bb0(%x: i32, %y: i32):
    %m = arith.remsi %x, %y : i32
    scf.yield %y, %m : i32, i32
  }
  func.return %r : i32
}
"""


def test_while_loops() -> None:
    rng = np.random.default_rng(5)
    for a, b in rng.integers(1, 10000, (20, 2)).tolist():
        assert run(GCD, "gcd", a, b) == (np.gcd(a, b),)


FACTORIAL = """
func.func @factorial(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %small = arith.cmpi sle, %n, %one : i64
  cf.cond_br %small, ^end(%one : i64), ^more
^more:
  %m = arith.subi %n, %one : i64
  %f = func.call @factorial(%m) : (i64) -> i64
  %p = arith.muli %n, %f : i64
  cf.br ^end(%p : i64)
^end(%r: i64):
  func.return %r : i64
}
"""


def test_calls_have_frames_of_their_own() -> None:
    assert run(FACTORIAL, "factorial", 10) == (3628800,)


BRANCHES = """
func.func @count(%n: index) -> (index, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  cf.br ^head(%zero, %zero : index, index)
^head(%i: index, %s: index):
  %go = arith.cmpi slt, %i, %n : index
  cf.cond_br %go, ^body, ^end
^body:
  %t = arith.addi %s, %i : index
  %j = arith.addi %i, %one : index
  cf.br ^head(%j, %t : index, index)
^end:
  func.return %i, %s : index, index
}
"""


def test_blocks_run_again_without_growing_the_frame() -> None:
    agent = AgentInterpreter(parse(BRANCHES), SCALAR)
    scheduler = Scheduler(RoundRobin())
    process = scheduler.add("agent", agent.call("count", [3000]))
    scheduler.run()
    assert process.result == (3000, 4498500)
    assert agent.steps == 3 + 3000 * 5 + 2 + 1


SWITCHES = """
func.func @scf(%i: index) -> i32 {
  %r = scf.index_switch %i -> i32
  case 2 {
    %a = arith.constant 20 : i32
    scf.yield %a : i32
  }
  case 5 {
    %b = arith.constant 50 : i32
    scf.yield %b : i32
  }
  default {
    %c = arith.constant -1 : i32
    scf.yield %c : i32
  }
  func.return %r : i32
}
func.func @cf(%i: i32) -> i32 {
  %a = arith.constant 10 : i32
  %b = arith.constant 20 : i32
  cf.switch %i : i32, [
    default: ^end(%i : i32),
    7: ^end(%a : i32),
    9: ^end(%b : i32)
  ]
^end(%r: i32):
  func.return %r : i32
}
"""


def test_switches() -> None:
    assert [run(SWITCHES, "scf", i) for i in (2, 5, 3)] == [(20,), (50,), (-1,)]
    assert [run(SWITCHES, "cf", i) for i in (7, 9, 3)] == [(10,), (20,), (3,)]


def test_tiles_are_values() -> None:
    text = """
func.func @scale(%x: tensor<4x8xf16>, %y: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %z = arith.mulf %x, %y : tensor<4x8xf16>
  %w = arith.addf %z, %x : tensor<4x8xf16>
  func.return %w : tensor<4x8xf16>
}
"""
    rng = np.random.default_rng(6)
    x, y = (rng.standard_normal((4, 8)).astype(np.float16) for _ in range(2))
    (found,) = run(text, "scale", x, y)
    np.testing.assert_array_equal(found, x * y + x)


COUNTER = """
func.func @give(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    "test.op"() {give} : () -> ()
  }
  func.return
}
func.func @take(%n: index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = scf.for %i = %zero to %n step %one iter_args(%s = %zero) -> (index) {
    %c = "test.op"() : () -> index
    %u = arith.addi %s, %c : index
    scf.yield %u : index
  }
  func.return %t : index
}
"""


@pytest.mark.parametrize("policy", [RoundRobin, Adversarial])
@pytest.mark.parametrize(("given", "taken"), [(5, 5), (5, 3), (4, 5)])
def test_agents_wait_inside_loops(policy: type, given: int, taken: int) -> None:
    stock = [0]

    def step(agent: AgentInterpreter, op: test.TestOp, inputs: Sequence[Any]):
        if "give" in op.attributes:
            yield Wait(lambda: True, "nothing", op)
            stock[0] += 1
            return ()
        yield Wait(lambda: stock[0] > 0, "stock", op)
        stock[0] -= 1
        return (1,)

    module = parse(COUNTER)
    language = SCALAR | Language(behaviours={test.TestOp: step})
    scheduler = Scheduler(policy())
    agents = {name: AgentInterpreter(module, language, name) for name in ("give", "take")}
    scheduler.add("giver", agents["give"].call("give", [given]))
    taker = scheduler.add("taker", agents["take"].call("take", [taken]))
    if given < taken:
        with pytest.raises(SimulationError, match="deadlock: taker wait"):
            scheduler.run()
        return
    scheduler.run()
    assert (taker.result, stock[0]) == ((taken,), given - taken)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('"test.op"() : () -> ()', "'test.op' has no meaning to the interpreter"),
        (
            "%z = arith.constant 0 : index\n scf.for %i = %n to %n step %z {\n }",
            "the step of a loop is positive, not 0",
        ),
        (
            '%f = arith.constant false\n cf.assert %f, "it is false"',
            "assertion failed: it is false",
        ),
        (
            "%z = arith.constant 0 : index\n %q = arith.divsi %n, %z : index",
            "division by zero",
        ),
        ("func.call @nothing() : () -> ()", "@nothing has no body to run"),
    ],
)
def test_faults_have_a_place(body: str, message: str) -> None:
    text = (
        "func.func private @nothing() -> ()\n"
        f"func.func @main(%n: index) {{\n {body}\n func.return\n}}\n"
    )
    with pytest.raises(SimulationError) as caught:
        run(text, "main", 1)
    assert message in str(caught.value)
    assert caught.value.diagnostics[0].location is not None


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(SimulationError, match="@sums takes 1 arguments, but got 2"):
        run(SUMS, "sums", 1, 2)
