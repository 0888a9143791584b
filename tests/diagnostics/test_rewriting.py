"""Rewriting keeps locations and stops patterns that never settle."""

import pytest
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Region
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import BlockInsertPoint, InsertPoint

from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.diagnostics.rewriting import apply_patterns

TEXT = """\
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.subi %0, %a : i32
  func.return %1 : i32
}
"""


class AddToMul(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter):
        rewriter.replace(op, arith.MuliOp(op.lhs, op.rhs))


class MulToAdd(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter):
        rewriter.replace(op, arith.AddiOp(op.lhs, op.rhs))


class WrapAndInsert(RewritePattern):
    """Inserts an operation with another one inside before the matched operation."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter):
        inner = Region(Block([test.TestTermOp()]))
        rewriter.insert(test.TestOp(regions=[inner]))
        rewriter.replace(op, arith.XOrIOp(op.lhs, op.rhs))


class ReplaceTheOther(RewritePattern):
    """Matches the subtraction and replaces the operation that feeds it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter):
        other = op.lhs.owner
        if isinstance(other, arith.AddiOp):
            rewriter.replace(other, arith.MuliOp(other.lhs, other.rhs))


def lines(module) -> list[tuple[str, int]]:
    return [
        (op.name, place.line)
        for op in module.walk()
        if (place := file_location(op.location)) is not None
    ]


def test_a_replacement_inherits_the_location(parse):
    module = parse(TEXT)
    assert apply_patterns(module, [AddToMul()])
    assert ("arith.muli", 2) in lines(module)


def test_inserted_operations_and_those_inside_inherit_it_too(parse):
    module = parse(TEXT)
    apply_patterns(module, [WrapAndInsert()])
    assert lines(module)[3:6] == [("test.op", 3), ("test.termop", 3), ("arith.xori", 3)]


def test_replacing_another_operation_keeps_the_location_of_that_one(parse):
    module = parse(TEXT)
    apply_patterns(module, [ReplaceTheOther()])
    assert ("arith.muli", 2) in lines(module)


def test_arguments_of_inserted_blocks_are_located(parse):
    class InsertWithArgument(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter):
            inner = Region(Block([test.TestTermOp()], arg_types=[i32]))
            body = Region(Block([test.TestOp(regions=[inner])], arg_types=[i32]))
            rewriter.replace(op, test.TestOp(result_types=[i32], regions=[body]))

    module = parse(TEXT)
    apply_patterns(module, [InsertWithArgument()])
    arguments = [argument for block in module.walk_blocks() for argument in block.args]
    assert [file_location(argument.location).line for argument in arguments] == [1, 3, 3]


def test_arguments_of_created_blocks_are_located(parse):
    class Split(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter):
            if len(op.parent.parent.blocks) == 1:
                rewriter.create_block(BlockInsertPoint.after(op.parent), [i32])

    module = parse(TEXT)
    apply_patterns(module, [Split()])
    (argument,) = module.body.block.first_op.body.blocks.last.args
    assert file_location(argument.location).line == 3


def test_what_an_earlier_rewrite_made_is_not_relocated(parse):
    """The product stands for the first addition; later it replaces the second one as well."""

    class ReplaceTheSecond(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter):
            if isinstance(op.rhs.owner, arith.XOrIOp):
                rewriter.replace(op.rhs.owner, [], [op.lhs])

    module = parse("""\
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.xori %a, %a : i32
  %2 = arith.subi %0, %1 : i32
  func.return %2 : i32
}
""")
    apply_patterns(module, [AddToMul(), ReplaceTheSecond()])
    assert lines(module)[2:] == [("arith.muli", 2), ("arith.subi", 4), ("func.return", 5)]


def test_existing_operations_keep_their_location(parse):
    class UseTheFirst(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter):
            rewriter.replace(op, [], [op.lhs])

    module = parse(TEXT)
    apply_patterns(module, [UseTheFirst()])
    assert lines(module)[2:] == [("arith.addi", 2), ("func.return", 4)]


def test_nothing_to_do_is_no_change(parse):
    assert not apply_patterns(parse(TEXT), [MulToAdd()])


def test_patterns_that_undo_each_other_are_named(parse):
    module = parse(TEXT)
    with pytest.raises(OpError) as caught:
        apply_patterns(module, [AddToMul(), MulToAdd()], max_rewrites=50)
    assert str(caught.value) == (
        "k.mlir:2:8: error: rewriting does not settle: after 50 rewrites AddToMul and MulToAdd "
        "still change 'arith.muli'"
    )


def test_patterns_inside_an_applier_are_named(parse):
    inner = GreedyRewritePatternApplier([Order(), MulToAdd()], dce_enabled=False)
    outer = GreedyRewritePatternApplier([inner, AddToMul()], dce_enabled=False)
    with pytest.raises(OpError, match="AddToMul and MulToAdd still change"):
        apply_patterns(parse(TEXT), [outer], max_rewrites=50)


def test_the_default_limit_is_finite(parse):
    with pytest.raises(OpError, match="does not settle"):
        apply_patterns(parse(TEXT), [AddToMul(), MulToAdd()])


def test_patterns_that_settle_late_are_left_alone(parse):
    class CountDown(RewritePattern):
        left = 30

        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter):
            if self.left:
                self.left -= 1
                rewriter.notify_op_modified(op)

    assert apply_patterns(parse(TEXT), [CountDown()], max_rewrites=20)


def test_one_sweep(parse):
    module = parse(TEXT)
    apply_patterns(module, [AddToMul(), MulToAdd()], apply_recursively=False)
    assert ("arith.muli", 2) in lines(module)


class Order(RewritePattern):
    def __init__(self):
        self.seen = []

    def match_and_rewrite(self, op, rewriter):
        self.seen.append(op.name)


def test_walk_options(parse):
    forward, backward = Order(), Order()
    apply_patterns(parse(TEXT), [forward])
    apply_patterns(parse(TEXT), [backward], walk_reverse=True)
    assert forward.seen == ["func.func", "arith.addi", "arith.subi", "func.return"]
    assert backward.seen == ["func.func", "func.return", "arith.subi", "arith.addi"]


def test_dead_code_waits_to_be_asked(parse):
    text = "func.func @f() {\n  %0 = arith.constant 1 : i32\n  %1 = arith.addi %0, %0 : i32\n"
    text += '  "test.op"(%1) : (i32) -> ()\n  %2 = arith.constant 3 : i32\n  func.return\n}'
    module = parse(text)
    assert not apply_patterns(module, [])
    assert apply_patterns(module, [], dce=True)
    assert [name for name, _ in lines(module)][2:] == [
        "arith.constant",
        "arith.addi",
        "test.op",
        "func.return",
    ]


def test_errors_of_patterns_come_out_as_they_are(parse):
    class Refuse(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter):
            raise op_error(op, "cannot be rewritten")

    with pytest.raises(OpError) as caught:
        apply_patterns(parse(TEXT), [Refuse()])
    assert str(caught.value) == "k.mlir:3:8: error: 'arith.subi' op cannot be rewritten"
    assert not hasattr(caught.value, "__notes__"), "no print of the whole module"


def test_the_region_of_any_operation_will_do(parse):
    function = parse(TEXT).body.block.first_op
    assert apply_patterns(function, [AddToMul()])


def test_unlocated_operations_stay_unlocated(parse):
    block = Block(arg_types=[i32])
    block.add_op(arith.AddiOp(block.args[0], block.args[0]))
    root = test.TestOp(regions=[Region(block)])
    apply_patterns(root, [AddToMul(), InsertPointPattern()])
    assert lines(root) == []


class InsertPointPattern(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter):
        if op.next_op is None:
            rewriter.insert(test.TestOp(), InsertPoint.after(op))
