"""Formats of operations are read on first use; here all of them are."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    PyRDLOpDefinitionError,
    operand_def,
    opt_operand_def,
    opt_prop_def,
)

from tileas_xdsl.dialects.op_definition import assembly_program, irdl_op_definition
from tileas_xdsl.installed import registered_context


def test_every_format_is_valid() -> None:
    ctx = registered_context()
    for name in ctx.registered_dialect_names:
        ctx.load_registered_dialect(name)
    programs = [assembly_program(op) for op in ctx.loaded_ops]
    assert sum(program is not None for program in programs) > 200


def test_a_wrong_format_is_an_error_on_first_use() -> None:
    class WrongOp(IRDLOperation):
        name = "test.wrong"
        operand = operand_def()
        assembly_format = "$missing attr-dict"

    with pytest.raises(PyRDLOpDefinitionError, match="format of test"):
        assembly_program(irdl_op_definition(WrongOp))


def test_options_follow_from_fields() -> None:
    class FewOp(IRDLOperation):
        name = "test.few"
        a = operand_def()
        mask = opt_operand_def()
        shown = opt_prop_def(UnitAttr)
        assembly_format = "$a (`,` $mask^)? (`shown` $shown^)? attr-dict `:` type($a)"

    class ManyOp(IRDLOperation):
        name = "test.many"
        a = operand_def()
        mask = opt_operand_def()
        token = opt_operand_def()
        hidden = opt_prop_def(UnitAttr)
        assembly_format = "$a (`,` $mask^)? (`after` $token^)? attr-dict `:` type($a)"

    few, many = (irdl_op_definition(op).get_irdl_definition() for op in (FewOp, ManyOp))
    assert few.options == []
    assert many.options == [ParsePropInAttrDict(), AttrSizedOperandSegments(as_property=True)]
    assert AttrSizedOperandSegments.attribute_name in many.properties


def test_an_operation_that_is_made_of_its_parts_has_its_fields() -> None:
    """`Operation.create` does not ask for the definition; nor does it stay in the way."""

    class PartsOp(IRDLOperation):
        name = "test.parts"
        flag = opt_prop_def(UnitAttr)

    made = irdl_op_definition(PartsOp).create(properties={"flag": UnitAttr()})
    assert made.flag == UnitAttr()
    assert "create" not in vars(PartsOp)
