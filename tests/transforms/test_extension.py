"""Patterns of other packages run inside our passes."""

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tests.support.ir import parse
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.installed import registered_context
from tileas_xdsl.threads.codegen.lowered_values import Scalar
from tileas_xdsl.transforms.extension import EXTENSIBLE_PASSES, add_patterns, added_patterns
from tileas_xdsl.transforms.lower_tiles.handlers import HANDLERS, add_handler
from tileas_xdsl.universe import PASSES, TILEAS_UNIVERSE

KERNEL = """\
func.func @kernel() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  func.return
}
"""
OPTIONS = {"convert-cudatile-to-tileaa": {"compute_capability": 90}}


@irdl_op_definition
class AnswerOp(IRDLOperation):
    """An operation of another package."""

    name = "foreign.answer"

    result = result_def(i32)

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


class LowerAnswer(RewritePattern):
    """The lowering that the other package brings."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AnswerOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, arith.ConstantOp.from_int_and_width(42, i32))


def module_with_answer() -> ModuleOp:
    module = parse(KERNEL)
    (function,) = module.ops
    block = function.regions[0].block
    block.insert_op_before(AnswerOp(), block.first_op)
    return module


def run(name: str, module: ModuleOp) -> None:
    options = OPTIONS.get(name, {})
    ctx = registered_context()
    TILEAS_UNIVERSE.all_passes[name]()(**options).apply(ctx, module)


def has_answer(module: ModuleOp) -> bool:
    return any(isinstance(op, AnswerOp) for op in module.walk())


@pytest.mark.parametrize("name", EXTENSIBLE_PASSES)
def test_a_pattern_of_another_package_runs_inside_the_pass(name):
    module = module_with_answer()
    with added_patterns(name, LowerAnswer):
        run(name, module)
    assert not has_answer(module)


def test_patterns_are_added_to_one_pass_only():
    module = module_with_answer()
    with added_patterns("tileas-canonicalize", LowerAnswer):
        run("tileas-choose-tma", module)
    assert has_answer(module)


def test_added_patterns_go_with_their_block():
    with added_patterns("tileas-choose-tma", LowerAnswer):
        pass
    module = module_with_answer()
    run("tileas-choose-tma", module)
    assert has_answer(module)


def test_only_passes_that_take_patterns_are_accepted():
    with pytest.raises(ValueError, match="'tileas-slicing' takes no patterns"):
        add_patterns("tileas-slicing", LowerAnswer)


def test_extensible_passes_exist():
    assert set(EXTENSIBLE_PASSES) <= set(PASSES)


def test_a_handler_of_another_package_lowers_its_operation_to_threads(monkeypatch):
    module = module_with_answer()
    with pytest.raises(DiagnosticError, match=r"'foreign\.answer' is not lowered to threads yet"):
        run("convert-tileas-to-cute-nvgpu", module_with_answer())
    monkeypatch.setitem(HANDLERS, AnswerOp, None)
    add_handler(
        AnswerOp,
        lambda e, op: [Scalar(e.insert(arith.ConstantOp.from_int_and_width(42, i32)).result)],
    )
    run("convert-tileas-to-cute-nvgpu", module)
    assert not has_answer(module)
    assert any(
        isinstance(op, arith.ConstantOp) and op.value == IntegerAttr(42, i32)
        for op in module.walk()
    )
