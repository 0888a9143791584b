"""What a pass raises reaches the user as a located diagnostic."""

import pytest
from xdsl.dialects.builtin import UnknownLoc
from xdsl.pattern_rewriter import PatternRewriteWalker, RewritePattern
from xdsl.utils.exceptions import PassFailedException, ShrinkException

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.pass_errors import located_failures
from tileas_xdsl.target.errors import UnknownTargetError

TEXT = 'func.func @f() {\n  "test.op"() : () -> ()\n  func.return\n}'


class Raise(RewritePattern):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def match_and_rewrite(self, op, rewriter) -> None:
        if op.name == "test.op":
            raise self.error


def failure(module, error: Exception, *, in_pattern: bool) -> str:
    with pytest.raises(DiagnosticError) as caught:
        run_pass(module, error, in_pattern)
    return str(caught.value)


def run_pass(module, error: Exception, in_pattern: bool) -> None:
    with located_failures("pass 'p'", module):
        if in_pattern:
            PatternRewriteWalker(Raise(error)).rewrite_module(module)
        raise error


def test_failures_are_placed_at_the_operation_of_the_pattern(parse):
    message = failure(parse(TEXT), PassFailedException("no luck"), in_pattern=True)
    assert message == "k.mlir:2:3: error: 'test.op' op no luck"


def test_else_at_the_module(parse):
    message = failure(parse(TEXT), PassFailedException("no luck"), in_pattern=False)
    assert message == "k.mlir:1:1: error: no luck"


def test_bugs_are_internal_errors(parse):
    message = failure(parse(TEXT), KeyError("x"), in_pattern=True)
    assert message == (
        "k.mlir:2:3: error: internal error in pass 'p': KeyError: 'x' "
        "(set TILEAS_TRACEBACK=1 for the traceback)"
    )


def test_bugs_in_a_module_without_a_place_are_at_its_kernel(parse):
    module = parse(TEXT)
    module.location = UnknownLoc()
    message = failure(module, KeyError("x"), in_pattern=False)
    assert message.startswith("k.mlir:1:1: error: internal error in pass 'p': KeyError: 'x'")


def test_wrong_options_are_no_bugs(parse):
    message = failure(parse(TEXT), UnknownTargetError("unknown target 'x'"), in_pattern=False)
    assert message == "k.mlir:1:1: error: unknown target 'x'"


def test_tracebacks_on_demand(parse, monkeypatch, capsys):
    monkeypatch.setenv("TILEAS_TRACEBACK", "1")
    failure(parse(TEXT), KeyError("x"), in_pattern=False)
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_located_errors_pass_unchanged(parse):
    module = parse(TEXT)
    error = op_error(module, "mine")
    with pytest.raises(DiagnosticError) as caught, located_failures("pass 'p'", module):
        raise error
    assert caught.value is error


def test_shrinking_is_not_an_error(parse):
    with pytest.raises(ShrinkException), located_failures("pass 'p'", parse(TEXT)):
        raise ShrinkException
