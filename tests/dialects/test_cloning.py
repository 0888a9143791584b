"""`cloning`: copies of operations, their blocks, values, uses and names."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects import test as ir
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.parser import Parser

from tileas_xdsl.dialects import cloning
from tileas_xdsl.installed import registered_context

LOOPS = """
builtin.module attributes {a = 1 : i32} {
  func.func @f(%n: index, %x: f32) -> f32 {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %y = scf.for %i = %zero to %n step %one iter_args(%sum = %x) -> (f32) {
      %twice = arith.addf %sum, %sum fastmath<fast> : f32
      %z = scf.while (%w = %twice) : (f32) -> f32 {
        %c = arith.cmpf olt, %w, %x : f32
        scf.condition(%c) %w : f32
      } do {
      ^bb0(%v: f32):
        %u = arith.mulf %v, %twice : f32
        scf.yield %u : f32
      }
      scf.yield %z : f32
    }
    func.return %y : f32
  }
}
"""

BRANCHES = """
func.func @g(%c: i1, %n: i32) -> i32 {
  cf.cond_br %c, ^bb0(%n : i32), ^bb1
^bb0(%m: i32):
  %later = arith.addi %m, %m : i32
  func.return %later : i32
^bb1:
  cf.br ^bb0(%n : i32)
}
"""

GRAPH = """
"test.op"() ({
  %0 = "test.op"(%1, %1) {a} : (i32, i32) -> i32
  %1 = "test.op"(%0) <{b}> : (i32) -> i32
}) : () -> ()
"""


def parsed(text: str) -> ModuleOp:
    return Parser(registered_context(), text).parse_module()


@pytest.mark.parametrize("text", [LOOPS, BRANCHES, GRAPH], ids=["loops", "branches", "graph"])
def test_a_copy_reads_alike_and_shares_no_part(text: str) -> None:
    module = parsed(text)
    copy = module.clone()
    assert str(copy) == str(module)
    assert not {*module.walk()} & {*copy.walk()}
    for old, new in zip(module.walk(), copy.walk(), strict=True):
        assert new.location == old.location
        assert new.attributes == old.attributes
        assert new.attributes is not old.attributes
        assert new.properties == old.properties
        assert new.properties is not old.properties
        assert [*map(_index, new.successors)] == [*map(_index, old.successors)]
        assert (new.prev_op is None) == (old.prev_op is None)
        assert new.parent is None or new in new.parent.ops


@pytest.mark.parametrize("text", [LOOPS, BRANCHES, GRAPH], ids=["loops", "branches", "graph"])
def test_uses_are_in_the_order_of_a_region_that_xdsl_copies(text: str) -> None:
    module = parsed(text)
    of_regions = [*module.body.clone().walk()]
    _, *found = module.clone().walk()
    for old, new in zip(of_regions, found, strict=True):
        assert [use_places(v) for v in new.results] == [use_places(v) for v in old.results]
        inner = [argument for region in new.regions for b in region.blocks for argument in b.args]
        other = [argument for region in old.regions for b in region.blocks for argument in b.args]
        assert [*map(use_places, inner)] == [*map(use_places, other)]


def use_places(value: SSAValue) -> list[tuple[str, int]]:
    """The uses of a value, in their order."""
    return [(use.operation.name, use.index) for use in value.uses]


def _index(block: Block) -> int:
    assert block.parent is not None
    return block.parent.get_block_index(block)


def test_operands_outside_stay_and_mappers_say_what_became_of_what() -> None:
    outside, other = (ir.TestOp(result_types=[i32]).results[0] for _ in range(2))
    op = ir.TestOp([outside, other], [i32])
    values: dict[SSAValue, SSAValue] = {other: outside}
    copy = op.clone(values)
    assert tuple(copy.operands) == (outside, outside)
    assert values[op.results[0]] is copy.results[0]
    assert [use.operation for use in outside.uses] == [copy, copy, op]
    target, there = Block(), Block()
    jump = ir.TestTermOp(successors=[target])
    assert tuple(jump.clone({}, {target: there}).successors) == (there,)
    assert tuple(jump.clone().successors) == (target,)


def test_a_copy_may_be_without_operands_and_names() -> None:
    value = ir.TestOp(result_types=[i32]).results[0]
    op = ir.TestOp([value], [i32])
    op.results[0].name_hint = "sum"
    assert not op.clone(clone_operands=False).operands
    assert op.clone(clone_name_hints=False).results[0].name_hint is None
    assert op.clone().results[0].name_hint == "sum"


def test_names_lose_their_number_as_when_they_are_set() -> None:
    op = ir.TestOp(result_types=[i32])
    op.results[0].name_hint = "a_1_2"
    assert op.results[0].name_hint == "a_1"
    assert op.clone().results[0].name_hint == "a"


def test_operations_and_parts_of_regions_are_copied_by_it() -> None:
    assert vars(Operation)["clone"] is cloning.clone
    module = parsed(LOOPS)
    region = module.body.clone()
    assert region.is_structurally_equivalent(module.body)


def test_unregistered_operations_are_copied() -> None:
    ctx = Context(allow_unregistered=True)
    module = Parser(ctx, '"builtin.module"() ({ %0 = "a.b"() {c = "d"} : () -> i32 }) : () -> ()')
    made = module.parse_module()
    assert str(made.clone()) == str(made)
