"""Loops and branches of Tile IR, left early in every way, become structured and mean the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.tile_ir import entry, lowered, run
from tests.transforms.cudatile_to_tileaa.tile_ir_programs import STARTS, program, wanted
from tileas_xdsl.interpreters.tile.launch import simulate

NUMBER = "tile<i32>"
POINTER = "tile<ptr<i32>>"
STORE = f"""%t = store_ptr_tko weak %p, %r : {POINTER}, {NUMBER} -> token"""
ARGUMENTS = f"%p: {POINTER}, %n: {NUMBER}"
CONSTANTS = """%zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %five = constant <i32: 5> : tile<i32>
    """


def result(body: str, n: int) -> int:
    text = entry(ARGUMENTS, CONSTANTS + body)
    return int(run(text, np.full(1, -1, np.int32), n)[0][0])


@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_counted_loop(n: int) -> None:
    body = f"""%r = for %i in (%zero to %n, step %one) : {NUMBER} iter_values(%a = %zero) -> ({NUMBER}) {{
      %s = addi %a, %i : {NUMBER}
      continue %s : {NUMBER}
    }}
    {STORE}"""  # noqa: E501
    assert result(body, n) == sum(range(n))


@pytest.mark.parametrize(("last", "step", "runs_once"), [(1, 1, True), (3, 5, True), (2, 1, False)])
def test_a_loop_that_runs_once_is_its_body(last: int, step: int, runs_once: bool) -> None:
    """Also where the body ends early."""
    body = f"""%last = constant <i32: {last}> : {NUMBER}
    %step = constant <i32: {step}> : {NUMBER}
    %r = for %i in (%zero to %last, step %step) : {NUMBER} iter_values(%a = %five) -> ({NUMBER}) {{
      %less = cmpi less_than %n, %a, signed : {NUMBER} -> tile<i1>
      if %less {{ continue %i : {NUMBER} }}
      %s = addi %a, %n : {NUMBER}
      continue %s : {NUMBER}
    }}
    {STORE}"""
    text = entry(ARGUMENTS, CONSTANTS + body)
    assert ("scf.for" not in str(lowered(text))) == runs_once
    for n in (3, 7):
        carried = 5
        for i in range(0, last, step):
            carried = i if n < carried else carried + n
        assert result(body, n) == carried


def test_a_loop_that_counts_without_sign() -> None:
    body = f"""%most = constant <i32: -2> : {NUMBER}
    %r = for unsigned %i in (%n to %most, step %most) : {NUMBER} iter_values(%a = %zero) -> ({NUMBER}) {{
      %s = addi %a, %i : {NUMBER}
      continue %s : {NUMBER}
    }}
    {STORE}"""  # noqa: E501
    assert result(body, 3) == 3


@pytest.mark.parametrize("n", [0, 3, 11])
def test_break_and_continue(n: int) -> None:
    body = f"""%two = addi %one, %one : {NUMBER}
    %r = loop iter_values(%i = %zero, %a = %zero) : {NUMBER}, {NUMBER} -> {NUMBER} {{
      %done = cmpi greater_than_or_equal %i, %n, signed : {NUMBER} -> tile<i1>
      if %done {{ break %a : {NUMBER} }}
      %next = addi %i, %one : {NUMBER}
      %rest = remi %i, %two signed : {NUMBER}
      %odd = cmpi equal %rest, %one, signed : {NUMBER} -> tile<i1>
      if %odd {{ continue %next, %a : {NUMBER}, {NUMBER} }}
      %s = addi %a, %i : {NUMBER}
      continue %next, %s : {NUMBER}, {NUMBER}
    }}
    {STORE}"""
    assert result(body, n) == sum(range(0, n, 2))


@pytest.mark.parametrize(("n", "wanted"), [(3, 13), (5, 10), (7, 2)])
def test_a_loop_that_every_path_leaves_is_none(n: int, wanted: int) -> None:
    """As functions become that return early."""
    body = f"""%r = loop iter_values(%a = %five) : {NUMBER} -> {NUMBER} {{
      %less = cmpi less_than %n, %a, signed : {NUMBER} -> tile<i1>
      if %less {{
        %s = addi %n, %a : {NUMBER}
        %t0 = addi %s, %five : {NUMBER}
        break %t0 : {NUMBER}
      }}
      %is = cmpi equal %n, %a, signed : {NUMBER} -> tile<i1>
      if %is {{
        %d = addi %a, %n : {NUMBER}
        break %d : {NUMBER}
      }}
      %e = subi %n, %a : {NUMBER}
      break %e : {NUMBER}
    }}
    {STORE}"""
    assert result(body, n) == wanted
    module = lowered(entry(ARGUMENTS, CONSTANTS + body))
    assert not any(op.name == "scf.while" for op in module.walk())


@pytest.mark.parametrize(("n", "wanted"), [(3, 8), (7, 2)])
def test_a_branch(n: int, wanted: int) -> None:
    body = f"""%less = cmpi less_than %n, %five, signed : {NUMBER} -> tile<i1>
    %r = if %less -> ({NUMBER}) {{
      %s = addi %n, %five : {NUMBER}
      yield %s : {NUMBER}
    }} else {{
      %s = subi %n, %five : {NUMBER}
      yield %s : {NUMBER}
    }}
    {STORE}"""
    assert result(body, n) == wanted


@pytest.mark.parametrize(("n", "wanted"), [(3, -1), (7, 7)])
def test_the_kernel_may_end_early(n: int, wanted: int) -> None:
    body = f"""%less = cmpi less_than %n, %five, signed : {NUMBER} -> tile<i1>
    if %less {{ return }}
    %r = addi %n, %zero : {NUMBER}
    {STORE}"""
    assert result(body, n) == wanted


@pytest.mark.parametrize(("n", "wanted"), [(2, 6), (5, -1), (9, -1)])
def test_the_kernel_may_end_in_a_loop(n: int, wanted: int) -> None:
    body = f"""%r = loop iter_values(%i = %n) : {NUMBER} -> {NUMBER} {{
      %is = cmpi equal %i, %five, signed : {NUMBER} -> tile<i1>
      if %is {{ return }}
      %big = cmpi greater_than %i, %five, signed : {NUMBER} -> tile<i1>
      if %big {{ break %i : {NUMBER} }}
      %s = muli %i, %n : {NUMBER}
      %t2 = addi %s, %n : {NUMBER}
      continue %t2 : {NUMBER}
    }}
    %nine = constant <i32: 9> : {NUMBER}
    %is9 = cmpi equal %r, %nine, signed : {NUMBER} -> tile<i1>
    if %is9 {{ return }}
    {STORE}"""
    assert result(body, n) == wanted


def test_tiles_pointers_and_tokens_are_carried() -> None:
    tile, pointers = "tile<8xi32>", "tile<8xptr<i32>>"
    body = f"""%io = iota : {tile}
    %p1 = reshape %p : {POINTER} -> tile<1xptr<i32>>
    %ps = broadcast %p1 : tile<1xptr<i32>> -> {pointers}
    %to = offset %ps, %io : {pointers}, {tile} -> {pointers}
    %t0 = make_token : token
    %r, %e = loop iter_values(%i = %zero, %v = %io, %q = %to, %t = %t0) : {NUMBER}, {tile}, {pointers}, token -> {tile}, token {{
      %t1 = store_ptr_tko weak %q, %v token = %t : {pointers}, {tile} -> token
      %done = cmpi equal %i, %n, signed : {NUMBER} -> tile<i1>
      if %done {{ break %v, %t1 : {tile}, token }}
      %next = addi %i, %one : {NUMBER}
      %w = addi %v, %v : {tile}
      %eight = constant <i32: 8> : {tile}
      %q2 = offset %q, %eight : {pointers}, {tile} -> {pointers}
      continue %next, %w, %q2, %t1 : {NUMBER}, {tile}, {pointers}, token
    }}
    %t9 = store_ptr_tko weak %to, %r token = %e : {pointers}, {tile} -> token"""  # noqa: E501
    found = run(entry(ARGUMENTS, CONSTANTS + body), np.zeros(32, np.int32), 3)[0]
    rows = np.arange(8) * np.array([8, 2, 4, 8])[:, None]
    np.testing.assert_array_equal(found, rows.reshape(-1))


def _check(seed: int) -> None:
    text, statements = program(seed)
    module = lowered(text)
    for start in STARTS:
        found = simulate(module, [np.full(2, -7, np.int32), *start]).arrays[0]
        assert found.tolist() == wanted(statements, start), f"seed {seed} from {start}"


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    _check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_random_programs(seed: int) -> None:
    _check(seed)
