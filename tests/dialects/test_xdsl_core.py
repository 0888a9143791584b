"""`xdsl_core`: xDSL's classes answer as before, and by the methods that do less."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, fields
from types import FunctionType
from typing import Any, TypeVar

import pytest
from xdsl import irdl
from xdsl.dialects import arith, cf, scf
from xdsl.dialects import test as ir
from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
    i32,
    i64,
)
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    ErasedSSAValue,
    Operation,
    OpResult,
    Region,
    SSAValue,
)
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParametrizedAttribute,
    irdl_attr_definition,
    result_def,
    traits_def,
)
from xdsl.utils import hints
from xdsl.utils.exceptions import PyRDLTypeError, VerifyException
from xdsl.utils.hints import isa

from tileas_xdsl.dialects import xdsl_core
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.xdsl_core import PlainTests, accelerate

KINDS = (Attribute, Operation, SSAValue, OpResult, Block, Region, ModuleOp, i32.__class__, DotOp)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_ir_are_tested_plainly(kind: type) -> None:
    assert type(kind) is PlainTests


def test_tests_of_classes_answer_as_before() -> None:
    op = arith.ConstantOp(IntegerAttr(3, i32))
    one = IntegerAttr(3, i32)
    found = {kind for kind in (*KINDS, arith.ConstantOp, IntegerAttr) if isinstance(op, kind)}
    assert found == {Operation, arith.ConstantOp}
    assert isinstance(one, Attribute)
    assert not isinstance(one, IntegerType)
    assert isinstance(op.result, OpResult | BlockArgument)
    assert issubclass(DotOp, Operation)
    assert not issubclass(DotOp, ModuleOp)
    assert isinstance(ArrayAttr([one]), ArrayAttr)
    assert isinstance(op.operands, Sequence)


def test_a_class_that_is_defined_later_is_tested_plainly_and_stays_abstract() -> None:
    class Later(IRDLOperation, metaclass=ABCMeta):
        name = "test.later"

        @abstractmethod
        def missing(self) -> None: ...

    assert type(Later) is PlainTests
    with pytest.raises(TypeError, match="abstract"):
        Later()


def test_values_and_nodes_are_equal_by_identity() -> None:
    first, second = ir.TestOp(result_types=[i32]), ir.TestOp(result_types=[i32])
    nodes = (first, second, first.results[0], second.results[0], Block(), Region(), Block())
    assert len({*nodes}) == len(nodes) == len({node: None for node in nodes})
    assert all(hash(node) == object.__hash__(node) for node in nodes)
    assert hash(IntegerAttr(3, i32)) == hash(IntegerAttr(3, i32))


def test_an_operation_has_its_parts_and_is_used() -> None:
    value, target = ir.TestOp(result_types=[i64]).results[0], Block()
    inner, location = Region(Block()), ModuleOp([]).location
    op = ir.TestOp.create(
        operands=[value, value],
        result_types=[i32],
        properties={"p": StringAttr("x")},
        attributes={"a": IntAttr(1)},
        successors=[target],
        regions=[inner],
    )
    assert [use.index for use in value.uses] == [1, 0]
    assert tuple(op.operands) == (value, value)
    assert tuple(op.successors) == (target,)
    assert [use.operation for use in target.uses] == [op]
    assert op.results[0].owner is op
    assert op.results[0].type == i32
    assert (op.properties, op.attributes) == ({"p": StringAttr("x")}, {"a": IntAttr(1)})
    assert op.regions == (inner,)
    assert inner.parent is op
    assert op.location is location


def test_parts_of_one_operation_are_its_own() -> None:
    first, second = ir.TestOp.create(), ir.TestOp.create()
    first.attributes["a"] = IntAttr(1)
    first.properties["p"] = IntAttr(1)
    assert second.attributes == second.properties == {}
    given = {"a": IntAttr(2)}
    ir.TestOp.create(attributes=given).attributes["b"] = IntAttr(3)
    assert given == {"a": IntAttr(2)}


def test_operands_are_changed_through_their_view() -> None:
    first, second = (ir.TestOp(result_types=[i32]).results[0] for _ in range(2))
    op = ir.TestOp.create(operands=[first])
    op.operands[0] = second
    assert not first.uses
    assert [use.operation for use in second.uses] == [op]
    op.operands = (first, second)
    assert tuple(op.operands) == (first, second)
    assert op.operands[1:] == (second,)
    branch = cf.BranchOp(there := Block())
    branch.successors = [other := Block()]
    assert not there.uses
    assert tuple(branch.successors) == (other,)


def test_defaults_of_properties_and_wrong_attributes_are_seen() -> None:
    constant = arith.ConstantOp(IntegerAttr(1, i32))
    added = arith.AddiOp(constant, constant)
    assert "overflowFlags" in added.properties
    with pytest.raises(VerifyException):
        IntegerAttr.new([StringAttr("one"), i32])
    assert isinstance(scf.YieldOp(constant), scf.YieldOp)


def test_once_more_changes_nothing() -> None:
    before = {name: vars(Operation)[name] for name in ("clone", "__init__")}
    accelerate()
    assert all(vars(Operation)[name] is method for name, method in before.items())
    assert vars(Operation)["clone"] is vars(xdsl_core)["clone"]


def test_parts_at_fixed_places_are_found() -> None:
    bound = arith.ConstantOp(IntegerAttr.from_index_int_value(3))
    loop = scf.ForOp(bound, bound, bound, [], Block(arg_types=[IndexType()]))
    assert loop.ub is bound.result
    assert bound.result.owner is bound
    assert loop.body is loop.regions[0]
    there = Block()
    assert cf.BranchOp(there).successor is there
    with pytest.raises(AttributeError):
        _ = scf.ForOp.ub


def test_attributes_are_data_classes_whose_methods_are_compiled_on_use() -> None:
    @irdl_attr_definition
    class Pair(ParametrizedAttribute):
        name = "test.pair"
        first: IntAttr
        second: StringAttr

    assert not isinstance(vars(Pair)["__eq__"], FunctionType)
    pair, equal, other = (Pair(IntAttr(n), StringAttr("x")) for n in (1, 1, 2))
    assert pair == equal != other
    assert hash(pair) == hash(equal)
    assert isinstance(vars(Pair)["__eq__"], FunctionType)
    assert [each.name for each in fields(Pair)] == ["first", "second"]
    with pytest.raises(FrozenInstanceError):
        pair.first = IntAttr(3)
    with pytest.raises(VerifyException):
        Pair(StringAttr("x"), StringAttr("y"))


def test_operations_of_xdsl_read_their_fields_on_use() -> None:
    def defined(module: str) -> type[IRDLOperation]:
        members = {"__module__": module, "name": "test.one", "traits": traits_def()}
        made = type("OneOp", (IRDLOperation,), {**members, "result": result_def(i32)})
        return irdl.irdl_op_definition(made)

    later, now = defined("xdsl.dialects.later"), defined(__name__)
    assert "create" in vars(later)
    assert "create" not in vars(now)
    for kind in (later, now):
        op: Any = kind.create(result_types=[i32])
        op.verify()
        assert op.result is op.results[0]
    assert "create" not in vars(later)


def test_an_operation_goes_into_one_block_and_none_of_its_own() -> None:
    inner, outer = Block(), Block()
    op, around = ir.TestOp(), ir.TestOp(regions=[Region(inner)])
    inner.add_op(op)
    outer.add_op(around)
    assert op.parent is inner
    assert around.parent is outer
    with pytest.raises(ValueError, match="already attached"):
        outer.add_op(op)
    around.detach()
    with pytest.raises(ValueError, match="contained in the operation"):
        inner.add_op(around)


def test_operations_of_a_block_may_be_erased_on_the_way() -> None:
    block = Block([ir.TestOp() for _ in range(4)])
    found = []
    for op in block.ops:
        found.append(op)
        if len(found) % 2:
            op.detach()
            op.erase()
    assert len(found) == 4
    assert list(block.ops) == found[1::2]


def test_a_value_that_is_read_is_not_erased() -> None:
    made = ir.TestOp(result_types=[i32, i32])
    reader = ir.TestOp(operands=[made.results[0]])
    with pytest.raises(ValueError, match="still has uses"):
        made.erase()
    made.erase(safe_erase=False)
    assert isinstance(reader.operands[0], ErasedSSAValue)


def test_constraints_of_hints_are_made_once() -> None:
    tile, hint = TensorType(i32, [2]), TensorType[IntegerType]
    assert isa(tile, hint)
    assert not isa(TensorType(f32, [2]), hint)
    assert not isa(i32, hint)
    constraint = irdl.irdl_to_attr_constraint(hint)
    assert irdl.irdl_to_attr_constraint(TensorType[IntegerType]) is constraint
    with pytest.raises(PyRDLTypeError, match="unexpected context"):
        irdl.irdl_to_attr_constraint(TypeVar("T", bound=Attribute))
    assert irdl.irdl_to_attr_constraint(Attribute) == AnyAttr()


def test_what_is_of_another_class_is_told_apart_without_a_message() -> None:
    @irdl_attr_definition
    class Silent(ParametrizedAttribute):
        name = "test.silent"

        def __str__(self) -> str:
            raise AssertionError("nobody reads this")

    assert not hints.isa(Silent(), TensorType[Attribute])
    assert hints.isa(TensorType(f32, [2]), TensorType[Attribute])
    assert not hints.isa(TensorType(f32, [2]), TensorType[IntegerType])
    assert hints.isa([i32], list[IntegerType])
    assert not hints.isa([f32], list[IntegerType])
    assert hints.isa(i32, IntegerType | TensorType[Attribute])


def test_operations_of_xdsl_take_parts_as_before() -> None:
    value = ir.TestOp(result_types=[i32])
    added = arith.AddiOp(value, value.results[0])
    assert added.result.type == i32
    assert "overflowFlags" in added.properties
    casted = arith.ExtUIOp(value, i64)
    assert (tuple(casted.operands), casted.result.type) == (tuple(value.results), i64)
    assert scf.YieldOp(value).arguments == tuple(value.results)
    assert [use.operation for use in value.results[0].uses][-1] is added
    with pytest.raises(ValueError, match="Expected 2 operand"):
        IRDLOperation.__init__(
            arith.AddiOp.__new__(arith.AddiOp), operands=[value.results[0]], result_types=[i32]
        )
