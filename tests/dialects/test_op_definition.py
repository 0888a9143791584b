"""Formats of operations are read on first use; here all of them are."""

from __future__ import annotations

import pytest
from xdsl.irdl import IRDLOperation, PyRDLOpDefinitionError, operand_def

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
