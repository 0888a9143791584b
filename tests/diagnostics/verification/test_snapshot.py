# pyright: basic
"""IR is verified again exactly when something in it has changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects import arith, cf, func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32, i64
from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter

from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.verification import verify
from tileas_xdsl.diagnostics.verification.snapshot import LAST_PASS, is_same, snapshot
from tileas_xdsl.diagnostics.verification.verify import verify_module

TEXT = """\
func.func @f(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  %d = arith.muli %c, %c : i32
  %t = "test.op"() {"n" = 1 : i32} : () -> i1
  scf.if %t {
    %e = arith.addi %a, %a : i32
    scf.yield
  }
  %g = arith.addi %a, %d : i32
  func.return %d : i32
}
"""


def _find(module: ModuleOp, kind: type[Operation], index: int = 0) -> Operation:
    return [op for op in module.walk() if isinstance(op, kind)][index]


def _operand(module: ModuleOp) -> None:
    _find(module, arith.MuliOp).operands[1] = _find(module, arith.AddiOp).operands[0]


def _result_type(module: ModuleOp) -> None:
    Rewriter.replace_value_with_new_type(_find(module, arith.AddiOp).results[0], i64)


def _type_in_place(module: ModuleOp) -> None:
    _find(module, arith.AddiOp).results[0]._type = i64


def _argument_type(module: ModuleOp) -> None:
    block = _find(module, func.FuncOp).regions[0].block
    Rewriter.replace_value_with_new_type(block.args[0], i64)


def _property(module: ModuleOp) -> None:
    _find(module, func.FuncOp).properties["sym_name"] = StringAttr("g")


def _attribute(module: ModuleOp) -> None:
    _named(module, "test.op").attributes["n"] = IntegerAttr(2, i32)


def _order(module: ModuleOp) -> None:
    first, second = _find(module, arith.AddiOp), _find(module, arith.MuliOp)
    first.detach()
    block = second.parent
    assert block is not None
    block.insert_op_after(first, second)


def _depth(module: ModuleOp) -> None:
    """The last operation of the inner block moves behind the operation that holds it."""
    last, outer = _named(module, "scf.yield"), _named(module, "scf.if")
    last.detach()
    assert outer.parent is not None
    outer.parent.insert_op_after(last, outer)


def _erased(module: ModuleOp) -> None:
    _find(module, arith.AddiOp, 2).detach()


def _named(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


CHANGES = (
    *(_operand, _result_type, _type_in_place, _argument_type, _property),
    *(_attribute, _order, _depth, _erased),
)


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(parse, change: Callable[[ModuleOp], None]) -> None:
    module = parse(TEXT)
    before = snapshot(module)
    assert is_same(before, snapshot(module))
    change(module)
    assert not is_same(before, snapshot(module))


def test_a_change_of_a_successor_is_seen() -> None:
    first, second = Block(), Block()
    branch = cf.BranchOp(first)
    before = snapshot(branch)
    branch.successors[0] = second
    assert not is_same(before, snapshot(branch))


@pytest.mark.parametrize("change", [_result_type, _argument_type, _order, _depth])
def test_what_was_valid_is_refused_when_it_no_longer_is(
    parse, change: Callable[[ModuleOp], None]
) -> None:
    module = parse(TEXT)
    verify_module(module)
    change(module)
    for _ in range(2):
        with pytest.raises(OpError):
            verify_module(module)


def test_what_is_as_it_was_is_verified_once(parse, monkeypatch) -> None:
    module = parse(TEXT)
    verified: list[ModuleOp] = []

    def verify_errors(module: ModuleOp) -> list[object]:
        verified.append(module)
        return []

    monkeypatch.setattr(verify, "verify_errors", verify_errors)
    verify_module(module)
    module.attributes[LAST_PASS] = StringAttr("tileas-slicing")
    verify_module(module)
    _operand(module)
    verify_module(module)
    assert verified == [module, module]


def test_constraints_are_remembered_by_types_and_attributes(parse) -> None:
    """The same operation is right with one type and wrong with another, in any order."""
    verify_module(parse(TEXT))
    module = parse(TEXT)
    _result_type(module)
    for _ in range(2):
        with pytest.raises(OpError, match="attribute i"):
            verify_module(module)
    verify_module(parse(TEXT))
