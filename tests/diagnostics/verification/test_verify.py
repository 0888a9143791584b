"""Each invalid operation is reported where it is, and once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import arith, func, test
from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.ir import Block, Region
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.diagnostics.verification.verify import (
    operation_errors,
    verify_errors,
    verify_module,
)


def headlines(module) -> list[str]:
    return [error.headline for error in verify_errors(module)]


def test_a_valid_module_has_no_errors(parse):
    verify_module(parse("func.func @f(%a: i32) -> i32 {\n  func.return %a : i32\n}"))


def test_constraints(parse):
    module = parse('%a = "test.op"() : () -> i32\n%0 = "arith.addi"(%a, %a) : (i32, i32) -> i64')
    assert headlines(module) == [
        "k.mlir:2:6: error: 'arith.addi' op result 'result' at position 0 does not verify: "
        "attribute i32 expected from variable 'T', but got i64"
    ]


def test_custom_verifiers(parse):
    module = parse("func.func @f(%a: i32) -> i64 {\n  func.return %a : i32\n}")
    assert headlines(module) == [
        "k.mlir:2:3: error: 'func.return' op Expected arguments to have the same types as the "
        "function output types: expected [i64], got [i32]"
    ]


def test_all_errors_are_found_in_the_order_of_the_text(parse):
    module = parse("""\
func.func @f(%a: i32) -> i64 {
  func.return %a : i32
}
func.func @g(%a: i32) -> i32 {
  %0 = arith.addi %1, %a : i32
  %1 = arith.addi %a, %a : i32
  func.return %0 : i32
}
func.func @h(%a: i32) -> i64 {
  func.return %a : i32
}
""")
    assert [error.location.line for error in verify_errors(module)] == [2, 5, 10]


def test_users_and_parents_of_a_wrong_operation_are_not_blamed(parse):
    module = parse("""\
func.func @f(%a: i32) -> i32 {
  %0 = "arith.addi"(%a, %a) : (i32, i32) -> i64
  %1 = "arith.addi"(%0, %0) : (i64, i64) -> i32
  func.return %1 : i32
}
""")
    assert [error.location.line for error in verify_errors(module)] == [2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '"test.op"() ({\n  "test.op"() : () -> ()\n}) : () -> ()',
            "2:3: error: block with no terminator, has 'test.op'",
        ),
        (
            '"test.op"() ({\n^a:\n}) : () -> ()',
            "1:1: error: empty block: expect at least a terminator",
        ),
        (
            '"test.op"() ({\n^a:\n  cf.br ^b\n^b:\n  cf.br ^a\n}) : () -> ()',
            "1:1: error: entry block of region may not have predecessors",
        ),
        (
            '"test.op"() ({\n^a:\n  "test.op"()[^b] : () -> ()\n  cf.br ^b\n^b:\n'
            '  "test.termop"() : () -> ()\n}) : () -> ()',
            "3:3: error: operation with block successors must terminate its parent block",
        ),
        (
            "func.func @f() { func.return }\nfunc.func @f() { func.return }",
            "1:1: error: 'builtin.module' op Redefinition of symbol \"f\"",
        ),
        (
            '%0 = "test.op"() : () -> i32\nfunc.func @f() -> i32 {\n  func.return %0 : i32\n}',
            "3:3: error: 'func.return' op using value defined outside the region",
        ),
    ],
)
def test_structure(parse, text, expected):
    assert headlines(parse(text)) == [f"k.mlir:{expected}"]


def test_a_branch_into_another_region(parse):
    module = parse("""\
"test.op"() ({
  cf.br ^a
^a:
  "test.termop"() : () -> ()
}, {
  cf.br ^b
^b:
  "test.termop"() : () -> ()
}) : () -> ()
""")
    first, second = module.body.block.first_op.regions
    first.blocks[0].last_op.successors = (second.blocks[1],)
    assert headlines(module) == [
        "k.mlir:2:3: error: 'cf.br' op branching to block of a different region"
    ]


def test_erased_operands_are_named(parse):
    module = parse('%0 = "test.op"() : () -> i32\n"test.op"(%0) : (i32) -> ()')
    Rewriter.erase_op(module.body.block.first_op, safe_erase=False)
    assert headlines(module) == ["k.mlir:2:1: error: 'test.op' op operand #0 was erased by a pass"]


class Verbatim(test.TestOp):
    def verify_(self) -> None:
        raise op_error(self, " kept byte for byte \n")


class Broken(test.TestOp):
    def verify_(self) -> None:
        raise KeyError("a bug")


def test_messages_of_located_errors_are_kept():
    assert operation_errors(Verbatim())[0].text == "'test.op' op  kept byte for byte \n"


def test_a_bug_in_a_verifier_is_called_one():
    (error,) = operation_errors(Broken())
    assert error.message.startswith("internal error in the verifier of 'test.op': KeyError: ")
    assert "TILEAS_TRACEBACK=1" in error.message


def test_a_verifier_that_trips_over_a_wrong_operation_says_nothing():
    module = ModuleOp([Broken(), Verbatim()])
    assert [error.text for error in verify_errors(module)] == [
        "'test.op' op  kept byte for byte \n"
    ]


def test_the_traceback_comes_on_demand(monkeypatch, capsys):
    monkeypatch.setenv("TILEAS_TRACEBACK", "1")
    (error,) = operation_errors(Broken())
    assert "TILEAS_TRACEBACK" not in error.message
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_the_pass_that_broke_the_module_is_named(parse):
    module = parse('%a = "test.op"() : () -> i32\n%0 = "arith.addi"(%a, %a) : (i32, i32) -> i64')
    with pytest.raises(OpError) as caught:
        verify_module(module, after="bad-pass")
    (error,) = caught.value.diagnostics
    assert error.notes[0].headline == (
        "k.mlir:2:6: note: the IR is no longer valid after pass 'bad-pass'"
    )


def random_module(choices: list[int]) -> ModuleOp:
    """Return a function of valid and invalid operations, according to the choices."""
    body = Block(arg_types=[i32, i64])
    values = list(body.args)
    for choice in choices:
        left, right = values[choice % len(values)], values[choice // 7 % len(values)]
        kind = (left.type, i32, i64)[choice // 49 % 3]
        op = arith.AddiOp.build(operands=[left, right], result_types=[kind])
        body.add_op(op)
        values.append(op.results[0])
    if choices and choices[-1] % 5:
        body.add_op(func.ReturnOp())
    return ModuleOp([func.FuncOp("f", ((i32, i64), ()), Region(body))])


@given(st.lists(st.integers(0, 1000), max_size=5))
def test_verdicts_agree_with_xdsl(choices: list[int]):
    module = random_module(choices)
    try:
        module.verify()
        valid = True
    except VerifyException:
        valid = False
    assert (not verify_errors(module)) == valid


class Plain(test.TestOp):
    def verify_(self) -> None:
        raise Exception("expected an index for each dimension")


def test_a_plain_exception_is_a_message_of_xdsl():
    assert operation_errors(Plain())[0].text == "'test.op' op expected an index for each dimension"
