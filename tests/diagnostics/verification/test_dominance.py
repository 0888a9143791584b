"""Use before definition, everywhere it can happen; the wording is MLIR's."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Region
from xdsl.irdl.dominance import DominanceInfo

from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.verification.dominance import dominance_errors
from tileas_xdsl.diagnostics.verification.dominator_tree import DominatorTree


def reports(module) -> list[str]:
    lines = []
    for error in dominance_errors(module):
        lines.append(error.headline)
        lines += [note.headline for note in error.notes]
    return lines


def test_order_in_a_block(parse):
    module = parse("""\
func.func @f(%a: i32) -> i32 {
  %1 = arith.addi %0, %a : i32
  %0 = arith.addi %a, %a : i32
  func.return %1 : i32
}
""")
    assert reports(module) == [
        "k.mlir:2:8: error: operand #0 does not dominate this use",
        "k.mlir:3:8: note: operand defined here (op in the same block)",
    ]


def test_an_operation_cannot_use_its_own_result(parse):
    module = parse('func.func @f() {\n  %0 = "test.op"(%0) : (i1) -> i1\n  func.return\n}')
    assert reports(module)[0] == "k.mlir:2:8: error: operand #0 does not dominate this use"


def test_inner_regions_see_what_comes_before_them(parse):
    assert not reports(
        parse("""\
func.func @f(%c: i1, %a: i32) {
  %0 = arith.addi %a, %a : i32
  scf.if %c {
    %1 = arith.addi %0, %a : i32
    scf.if %c {
      %2 = arith.addi %1, %0 : i32
    }
  }
  func.return
}
""")
    )


def test_inner_regions_do_not_see_what_comes_after_them(parse):
    module = parse("""\
func.func @f(%c: i1, %a: i32) {
  scf.if %c {
    %1 = arith.addi %0, %a : i32
  }
  %0 = arith.addi %a, %a : i32
  func.return
}
""")
    assert reports(module) == [
        "k.mlir:3:10: error: operand #0 does not dominate this use",
        "k.mlir:5:8: note: operand defined here (op in a parent region)",
    ]


def test_inner_regions_do_not_see_the_results_of_their_own_operation(parse):
    module = parse("""\
func.func @f() {
  %0 = "test.op"() ({
    "test.termop"(%0) : (i32) -> ()
  }) : () -> i32
  func.return
}
""")
    assert len(reports(module)) == 2


def test_values_of_inner_regions_are_not_seen_outside(parse):
    """The parser keeps such names apart, so the use is made by hand."""
    module = parse("""\
func.func @f() {
  "test.op"() ({
    %0 = "test.termop"() : () -> i32
  }) : () -> ()
  %1 = "test.op"() : () -> i32
  "test.op"(%1) : (i32) -> ()
  func.return
}
""")
    outer, _, user, _ = module.body.block.first_op.body.block.ops
    user.operands[0] = outer.regions[0].block.first_op.results[0]
    assert reports(module) == [
        "k.mlir:6:3: error: operand #0 does not dominate this use",
        "k.mlir:3:10: note: operand defined here (op in a child region)",
    ]


def test_siblings_do_not_see_each_other(parse):
    module = parse("""\
func.func @f() {
  "test.op"() ({
    %0 = "test.termop"() : () -> i32
  }, {
    %1 = "test.termop"() : () -> i32
  }) : () -> ()
  func.return
}
""")
    op = module.body.block.first_op.body.block.first_op
    first, second = op.regions
    second.block.first_op.operands = (first.block.first_op.results[0],)
    assert reports(module)[1] == (
        "k.mlir:3:10: note: operand defined here (op is neither in a parent nor in a child region)"
    )


def test_a_block_that_may_be_skipped_does_not_dominate(parse):
    module = parse("""\
func.func @f(%c: i1) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  %0 = arith.constant 1 : i32
  cf.br ^b
^b:
  func.return %0 : i32
}
""")
    assert reports(module) == [
        "k.mlir:7:3: error: operand #0 does not dominate this use",
        "k.mlir:4:8: note: operand defined here (op in the same region)",
    ]


def test_arguments_of_a_block_that_does_not_dominate(parse):
    module = parse("""\
func.func @f(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^b
^a(%0: i32):
  cf.br ^b
^b:
  func.return %0 : i32
}
""")
    assert reports(module) == [
        "k.mlir:6:3: error: operand #0 does not dominate this use",
        "k.mlir:1:1: note: operand defined as a block argument (block #1 in the same region)",
    ]


def test_loops_see_what_is_defined_before_them(parse):
    assert not reports(
        parse("""\
func.func @f(%c: i1) -> i32 {
  %0 = arith.constant 1 : i32
  cf.br ^loop
^loop:
  %1 = arith.addi %0, %0 : i32
  cf.cond_br %c, ^loop, ^done
^done:
  func.return %1 : i32
}
""")
    )


def test_unreachable_blocks_are_tolerated(parse):
    assert not reports(
        parse("""\
func.func @f() -> i32 {
  %0 = arith.constant 1 : i32
  func.return %0 : i32
^dead:
  %1 = arith.addi %2, %0 : i32
  %2 = arith.addi %1, %1 : i32
  cf.br ^dead2
^dead2:
  func.return %2 : i32
}
""")
    )


def test_definitions_in_unreachable_blocks_do_not_dominate(parse):
    module = parse("""\
func.func @f() -> i32 {
  cf.br ^a
^dead:
  %0 = arith.constant 1 : i32
  cf.br ^a
^a:
  func.return %0 : i32
}
""")
    assert reports(module)[0] == "k.mlir:7:3: error: operand #0 does not dominate this use"


def test_isolation_is_not_crossed(parse):
    module = parse("""\
%0 = "test.op"() : () -> i32
func.func @f() -> i32 {
  func.return %0 : i32
}
""")
    assert reports(module) == [
        "k.mlir:3:3: error: 'func.return' op using value defined outside the region",
        "k.mlir:2:1: note: required by region isolation constraints",
    ]


def test_the_innermost_isolation_is_named(parse):
    inner = """\
builtin.module {
  func.func @f() {
    "test.op"() ({
      "test.op"(%0) : (i32) -> ()
    }) : () -> ()
    func.return
  }
}
"""
    for other in ('%0 = "test.op"() : () -> i32\n', f"func.func @g() {{\n{DEFINED}}}\n"):
        assert reports(parse(f"builtin.module {{\n{inner}{other}}}\n")) == [
            "k.mlir:5:7: error: 'test.op' op using value defined outside the region",
            "k.mlir:3:3: note: required by region isolation constraints",
        ]


DEFINED = '%0 = "test.op"() : () -> i32\nfunc.return\n'


def test_one_function_does_not_see_another(parse):
    """xDSL's parser connects such uses."""
    module = parse("""\
func.func @f() -> i32 {
  func.return %0 : i32
}
func.func @g() {
  %0 = arith.constant 1 : i32
  func.return
}
""")
    assert reports(module)[0].startswith("k.mlir:2:3: error: 'func.return' op using value")


def test_modules_have_no_order(parse):
    assert not reports(parse('"test.op"(%0) : (i32) -> ()\n%0 = "test.op"() : () -> i32'))


def test_regions_of_unregistered_operations_have_no_order(ctx, parse):
    ctx.allow_unregistered = True
    text = """\
func.func @f() {
  "no.such"() ({
    %0 = "test.op"(%1) : (i32) -> i32
    %1 = "test.op"() : () -> i32
  }) : () -> ()
  func.return
}
"""
    assert not reports(parse(text))


def test_every_wrong_operation_is_reported_once(parse):
    module = parse("""\
func.func @f() {
  %a = "test.op"(%c, %b) : (i32, i32) -> i32
  %b = "test.op"(%c) : (i32) -> i32
  %c = "test.op"(%a) : (i32) -> i32
  func.return
}
""")
    assert [error.location.line for error in dominance_errors(module)] == [2, 3]


def test_values_of_detached_operations_are_named(parse):
    module = parse("func.func @f(%a: i32) {\n  %0 = arith.addi %a, %a : i32\n  func.return\n}")
    addition = module.body.block.first_op.body.block.first_op
    addition.operands[1] = test.TestOp(result_types=[i32]).results[0]
    assert reports(module) == [
        "k.mlir:2:8: error: 'arith.addi' op operand #1 is not defined in the module"
    ]


def test_the_pass_raises_all_of_it(ctx, parse):
    from tileas_xdsl.transforms.kernels.verify_dominance import VerifyDominance

    module = parse('func.func @f() {\n  %0 = "test.op"(%0) : (i1) -> i1\n  func.return\n}')
    with pytest.raises(OpError, match="does not dominate this use"):
        VerifyDominance().apply(ctx, module)


def graph(edges: list[list[int]]) -> Region:
    blocks = [Block() for _ in edges]
    for block, targets in zip(blocks, edges, strict=True):
        block.add_op(test.TestTermOp(successors=[blocks[target] for target in targets]))
    return Region(blocks)


@given(st.integers(1, 9), st.integers(0, 2**30))
def test_dominator_tree_agrees_with_the_definition(size: int, seed: int):
    """`a` dominates `b` if `b` cannot be reached without passing through `a`."""
    rng = random.Random(seed)
    edges = [[rng.randrange(size) for _ in range(rng.randrange(3))] for _ in range(size)]
    region = graph(edges)
    blocks = list(region.blocks)
    tree = DominatorTree(region)

    def reachable(without: int | None) -> set[int]:
        seen: set[int] = set()
        stack = [0] if without != 0 else []
        while stack:
            block = stack.pop()
            if block in seen:
                continue
            seen.add(block)
            stack += [target for target in edges[block] if target != without]
        return seen

    alive = reachable(None)
    for b in range(size):
        assert tree.is_reachable(blocks[b]) == (b in alive)
        for a in range(size):
            expected = b not in alive or (a in alive and (a == b or b not in reachable(a)))
            assert tree.dominates(blocks[a], blocks[b]) == expected


@given(st.integers(2, 7), st.integers(0, 2**30))
def test_dominator_tree_agrees_with_xdsl_where_all_is_reachable(size: int, seed: int):
    rng = random.Random(seed)
    edges = [[rng.randrange(size), block + 1] for block in range(size - 1)] + [[]]
    edges = [[target for target in targets if target] for targets in edges]
    region = graph(edges)
    theirs, ours = DominanceInfo(region), DominatorTree(region)
    for a in region.blocks:
        for b in region.blocks:
            assert ours.dominates(a, b) == theirs.dominates(a, b)


def test_an_empty_region_has_no_blocks_to_dominate():
    DominatorTree(Region())


def test_long_chains_of_blocks_need_no_recursion():
    size = 3000
    region = graph([[block + 1] for block in range(size - 1)] + [[]])
    tree = DominatorTree(region)
    first, last = region.blocks.first, region.blocks.last
    assert first is not None
    assert last is not None
    assert tree.dominates(first, last)
    assert not tree.dominates(last, first)


def test_an_empty_module_is_fine():
    assert not dominance_errors(ModuleOp([]))
