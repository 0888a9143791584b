"""Bit fields, functions of three words, and funnel shifts; tuples element by element."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.constraints import number_among
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    INTEGER,
    REG,
    ElementwiseOp,
    Value,
    count_of,
    elementwise,
)
from tileas_xdsl.dialects.ptx.checks import check_keyword, check_kind, check_tuples, check_type
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import reg
from tileas_xdsl.target.isa.views import ARITHMETIC


@irdl_op_definition
class BfiOp(ElementwiseOp):
    """`bfi`: b with its bits [position, position + length) replaced by the low ones of a."""

    name = "ptx.bfi"

    a = operand_def(REG)
    b = operand_def(REG)
    position = operand_def(REG)
    length = operand_def(REG)
    type = prop_def(StringAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self, a: Value, b: Value, position: Value, length: Value, type: str = "b32"
    ) -> None:
        self.fill((a, b, position, length), (reg(type, count_of(b)),), type=type)

    def check(self) -> None:
        type = self.text("type")
        check_keyword(self, "type", type, ARITHMETIC["bfi"])
        for what, operand in (("a", self.a), ("b", self.b), ("its result", self.result)):
            check_type(self, what, operand, type)
        for operand in (self.position, self.length):
            check_kind(self, "a number of bits", operand, "b32")
        check_tuples(self, self.operands, self.result)

    def emit(self, out: Writer) -> None:
        elementwise(out, f"bfi.{self.text('type')}", self.results[0], *self._operands)


@irdl_op_definition
class Lop3Op(ElementwiseOp):
    """`lop3.b32`: any function of three bits; bit 4 * a + 2 * b + c of `table` is its value."""

    name = "ptx.lop3"

    a = operand_def(REG)
    b = operand_def(REG)
    c = operand_def(REG)
    table = prop_def(number_among(INTEGER, range(256), "has a table of 8 bits, not {given}"))
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, a: Value, b: Value, c: Value, table: int) -> None:
        count = max(count_of(a), count_of(b), count_of(c))
        self.fill((a, b, c), (reg("b32", count),), table=table)

    def check(self) -> None:
        _check_words(self)

    def emit(self, out: Writer) -> None:
        tail = f", {self.number('table')}"
        elementwise(out, "lop3.b32", self.results[0], *self._operands, tail=tail)


@irdl_op_definition
class ShfOp(ElementwiseOp):
    """`shf`: the 64 bits of high and low shifted by a count, 32 of them kept."""

    name = "ptx.shf"

    low = operand_def(REG)
    high = operand_def(REG)
    amount = operand_def(REG)
    direction = prop_def(StringAttr)
    mode = prop_def(StringAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self, low: Value, high: Value, amount: Value, direction: str, mode: str = "wrap"
    ) -> None:
        """`direction` is l or r, `mode` wrap or clamp."""
        count = max(count_of(low), count_of(high), count_of(amount))
        self.fill((low, high, amount), (reg("b32", count),), direction=direction, mode=mode)

    def check(self) -> None:
        check_keyword(self, "direction", self.text("direction"), ("l", "r"))
        check_keyword(self, "mode", self.text("mode"), ("wrap", "clamp"))
        _check_words(self)

    def emit(self, out: Writer) -> None:
        head = f"shf.{self.text('direction')}.{self.text('mode')}.b32"
        elementwise(out, head, self.results[0], *self._operands)


def _check_words(op: Lop3Op | ShfOp) -> None:
    for index, operand in enumerate(op.operands):
        check_kind(op, f"operand {index}", operand, "b32")
    check_kind(op, "its result", op.result, "b32")
    check_tuples(op, op.operands, op.result)
