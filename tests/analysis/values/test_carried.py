"""What loops and branches carry, as operands, arguments and results."""

from __future__ import annotations

import pytest
from xdsl.dialects import scf, test
from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Block, Operation, Region

from tests.support.ir import parse
from tileas_xdsl.analysis.values.loop_carried_values import carried_by, carried_in, is_inside

CARRYING = {
    "scf.for": (
        """%r, %s = scf.for %i = %n to %n step %n iter_args(%u = %x, %v = %y) -> (f32, i32) {
          scf.yield %x, %v : f32, i32
        }""",
        [(("u", "r"), ("x", "x")), (("v", "s"), ("y", "v"))],
    ),
    "scf.while": (
        """%r = scf.while (%u = %x, %v = %y) : (f32, i32) -> (i32) {
          scf.condition(%c) %v : i32
        } do {
        ^bb0(%w: i32):
          scf.yield %x, %w : f32, i32
        }""",
        [(("u",), ("x", "x")), (("v",), ("y", "w")), (("w", "r"), ("v",))],
    ),
    "scf.if": (
        """%r = scf.if %c -> (f32) {
          scf.yield %x : f32
        } else {
          scf.yield %z : f32
        }""",
        [(("r",), ("x", "z"))],
    ),
    "scf.index_switch": (
        """%r = scf.index_switch %n -> f32
        case 3 {
          scf.yield %x : f32
        }
        default {
          scf.yield %z : f32
        }""",
        [(("r",), ("z", "x"))],
    ),
    "nv_tileas.pragma": (
        """%r = nv_tileas.pragma {ocgEnterDirectives = "a"} -> f32 {
          nv_tileas.yield %x : f32
        }""",
        [(("r",), ("x",))],
    ),
    "scf.execute_region": (
        """%r = scf.execute_region -> (f32) {
          cf.cond_br %c, ^one, ^two
        ^one:
          scf.yield %x : f32
        ^two:
          scf.yield %z : f32
        }""",
        [(("r",), ("x", "z"))],
    ),
}


@pytest.mark.parametrize("name", CARRYING)
def test_what_is_carried(name: str) -> None:
    text, expected = CARRYING[name]
    module = parse(f"func.func @f(%c: i1, %n: index, %x: f32, %y: i32, %z: f32) {{\n{text}\n"
                   "func.return\n}")  # fmt: skip
    found = [
        (
            tuple(head.name_hint for head in carried.heads),
            tuple(feed.value.name_hint for feed in carried.feeds),
        )
        for carried in carried_in(module)
    ]
    assert found == expected


def _while(given: int, handed: int, taken: int, yielded: int) -> Operation:
    """A while of which the numbers of values need not agree: no verifier compares them all."""
    source = test.TestOp(result_types=[i1, f32])
    condition, value = source.results
    before, after = Block(arg_types=[f32] * given), Block(arg_types=[f32] * taken)
    before.add_op(scf.ConditionOp(condition, *[value] * handed))
    after.add_op(scf.YieldOp(*[value] * yielded))
    return scf.WhileOp([value] * given, [f32] * taken, [before], [after])


def test_a_while_whose_regions_disagree_carries_nothing_that_is_known() -> None:
    assert len(carried_by(_while(2, 1, 1, 2))) == 3
    assert not carried_by(_while(2, 1, 2, 2))
    assert not carried_by(_while(2, 1, 1, 1))


def test_unknown_operations_and_open_loops_carry_nothing() -> None:
    body = Block(arg_types=[i32, f32])
    body.add_op(test.TestOp())
    count, value = test.TestOp(result_types=[i32, f32]).results
    assert not carried_by(scf.ForOp(count, count, count, [value], Region(body)))
    assert not carried_by(test.TestOp(regions=[Region(Block(arg_types=[f32]))]))


def test_what_is_inside() -> None:
    module = parse("""
      func.func @f(%c: i1, %x: f32) {
        scf.if %c {
          scf.if %c {
            %y = arith.addf %x, %x : f32
          }
        }
        func.return
      }
    """)
    outer, inner = [op for op in module.walk() if isinstance(op, scf.IfOp)]
    assert inner.true_region.block.first_op is not None
    y, x = inner.true_region.block.first_op.results[0], outer.parent.args[1]  # pyright: ignore
    assert is_inside(y, outer)
    assert is_inside(y, inner)
    assert not is_inside(x, outer)
