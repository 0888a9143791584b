"""What was verified is not verified again, and what was not is: by types, attributes and place."""

from __future__ import annotations

from itertools import count

import pytest
from support.ir import parse
from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region
from xdsl.irdl import OpDef

from tileas_xdsl.diagnostics.verification.isolation import is_isolated
from tileas_xdsl.diagnostics.verification.remembered import FactsFoundRight
from tileas_xdsl.diagnostics.verification.verify import operation_errors


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations whose constraints are looked at."""
    found: list[str] = []
    verify = OpDef.verify

    def counted(definition: OpDef, op: Operation) -> None:
        found.append(op.name)
        verify(definition, op)

    monkeypatch.setattr(OpDef, "verify", counted)
    return found


def constant(value: int) -> ConstantOp:
    """A constant whose attribute no other one has."""
    return ConstantOp(IntegerAttr(value, i32))


NEW = count(47_110_815)
"""Numbers that no other test has a constant of."""


def test_equal_attributes_are_right_once(verified: list[str]) -> None:
    first, second = next(NEW), next(NEW)
    op, twin, other = constant(first), constant(first), constant(second)
    assert op.value is not twin.value
    for one in (op, op, twin, op.clone(), other):
        assert not operation_errors(one)
    assert verified == ["arith.constant"] * 2


def test_other_types_and_names_are_verified(verified: list[str]) -> None:
    op = AddiOp(constant(1), constant(2))
    assert not operation_errors(op)
    verified.clear()
    assert not operation_errors(op)
    assert not verified
    result = op.results[0]
    assert isinstance(result, OpResult)
    result._type = i64
    assert operation_errors(op)
    assert operation_errors(op)
    assert len(verified) == 2
    result._type = i32
    op.properties["fastmath"] = StringAttr("none")
    assert operation_errors(op)
    del op.properties["fastmath"]
    assert not operation_errors(op)


def test_equal_types_and_attributes_in_other_places_are_verified() -> None:
    """The same list of types and attributes, divided or named otherwise."""
    one, two = constant(1).result, constant(2).result
    right = AddiOp(one, two)
    assert not operation_errors(right)
    divided = AddiOp.create(
        operands=[one], result_types=[i32, i32], properties=dict(right.properties)
    )
    assert operation_errors(divided)
    flags = right.properties.pop("overflowFlags")
    right.properties["flags"] = flags
    assert operation_errors(right)


def test_traits_are_verified_each_time() -> None:
    """A terminator is right at the end of its block, and not in front of another operation."""
    end = ReturnOp()
    block = Block([end])
    ModuleOp([FuncOp("f", ([], []), Region(block))])
    assert not operation_errors(end)
    block.add_op(constant(1))
    assert operation_errors(end)


ISOLATED = """
%above = arith.constant 0 : i32
func.func @outer(%a : i32) {
  %t = arith.constant true
  func.func @inner(%b : i32) {
    %c = arith.addi %b, %b : i32
    scf.if %t { %d = arith.addi %c, %b : i32 }
    func.return
  }
  func.return
}"""


def test_values_from_above_are_found_at_any_depth() -> None:
    module = parse(ISOLATED, verify=False)
    outer, inner = (op for op in module.walk() if isinstance(op, FuncOp))
    sum_, deep = (op for op in inner.walk() if isinstance(op, AddiOp))
    branch = deep.parent_op()
    assert branch is not None
    assert is_isolated(outer), "what an isolated operation inside uses is its own matter"
    assert not is_isolated(inner), "the condition is from above"
    branch.operands[0] = sum_.result
    assert is_isolated(inner)
    deep.operands[1] = outer.body.block.args[0]
    assert not is_isolated(inner)
    assert is_isolated(outer)
    above = module.body.block.first_op
    assert isinstance(above, ConstantOp)
    sum_.operands[0] = above.result
    assert not is_isolated(inner)
    assert is_isolated(outer)
    outer.body.block.add_op(AddiOp(above, above))
    assert not is_isolated(outer)


def test_rules_of_types_and_attributes_are_asked_once_and_refuse_again() -> None:
    asked: list[Operation] = []

    def is_not_zero(op: ConstantOp) -> None:
        asked.append(op)
        if op.value == IntegerAttr(0, i32):
            raise ValueError(op.value)

    right = FactsFoundRight()
    first, equal, wrong = constant(5), constant(5), constant(0)
    for op in (first, first, equal, equal):
        right.check(op, is_not_zero)
    assert asked == [first]
    for _ in range(2):
        with pytest.raises(ValueError, match="0"):
            right.check(wrong, is_not_zero)
    assert asked == [first, wrong, wrong]
