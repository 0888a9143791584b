"""Branches between blocks, and ends of threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    UnitAttr,
)
from xdsl.ir import Block, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    successor_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from tileas_xdsl.dialects.op_definition import irdl_op_definition, member_op
from tileas_xdsl.dialects.ptx.base import REG, PtxOp, Value
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import reg


@irdl_op_definition
class BraOp(PtxOp):
    """`bra`: to a block; what it passes becomes moves into the block's arguments, if any."""

    name = "ptx.bra"

    arguments = var_operand_def(REG)
    target = successor_def()

    traits = traits_def(IsTerminator())

    def __init__(self, target: Block, *arguments: Value) -> None:
        self.fill((arguments,))
        self.successors = [target]

    def emit(self, out: Writer) -> None:
        """Nothing: the printer knows which block comes next."""

    def check(self) -> None:
        """What is passed fits the arguments."""
        _check_edge(self, self.target, self.arguments)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `^target(%a, %b : types)`."""
        target, values = _parse_edge(parser)
        return cls.create(
            operands=values,
            successors=[target],
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        """Print what `parse` reads."""
        printer.print_string(" ")
        _print_edge(printer, self.target, self.arguments)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class CondBraOp(PtxOp):
    """`@p bra`: to one block where the predicate holds, else to the other one."""

    name = "ptx.cond_bra"

    condition = operand_def(REG)
    then_arguments = var_operand_def(REG)
    else_arguments = var_operand_def(REG)
    uniform = opt_prop_def(UnitAttr)
    then_target = successor_def()
    else_target = successor_def()

    traits = traits_def(IsTerminator())

    def __init__(
        self,
        condition: Value,
        then_target: Block,
        then_arguments: Sequence[Value],
        else_target: Block,
        else_arguments: Sequence[Value],
        *,
        uniform: bool = False,
    ) -> None:
        """`uniform` promises that all threads of a warp go the same way (`bra.uni`)."""
        self.fill((condition, then_arguments, else_arguments), (), uniform=uniform)
        self.successors = [then_target, else_target]

    def emit(self, out: Writer) -> None:
        """Nothing: the printer knows which block comes next."""

    def check(self) -> None:
        """What is passed fits the arguments."""
        if self.condition.type != reg("pred"):
            raise self.error(f"expects a predicate, but got {self.condition.type}")
        _check_edge(self, self.then_target, self.then_arguments)
        _check_edge(self, self.else_target, self.else_arguments)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `%p, ^then(%a : type), ^else {uniform}`."""
        condition = parser.resolve_operand(parser.parse_unresolved_operand(), reg("pred"))
        parser.parse_punctuation(",")
        then_target, then_values = _parse_edge(parser)
        parser.parse_punctuation(",")
        else_target, else_values = _parse_edge(parser)
        attributes = parser.parse_optional_attr_dict()
        op = cls(
            condition,
            then_target,
            then_values,
            else_target,
            else_values,
            uniform="uniform" in attributes,
        )
        op.attributes.update({k: v for k, v in attributes.items() if k != "uniform"})
        return op

    def print(self, printer: Printer) -> None:
        """Print what `parse` reads."""
        printer.print_string(" ")
        printer.print_operand(self.condition)
        printer.print_string(", ")
        _print_edge(printer, self.then_target, self.then_arguments)
        printer.print_string(", ")
        _print_edge(printer, self.else_target, self.else_arguments)
        uniform = {"uniform": self.properties["uniform"]} if self.flag("uniform") else {}
        printer.print_op_attributes({**uniform, **self.attributes})


def _check_edge(op: PtxOp, target: Block, values: Sequence[SSAValue]) -> None:
    given, taken = [v.type for v in values], [argument.type for argument in target.args]
    if given != taken:
        passed, wanted = (", ".join(map(str, types)) or "nothing" for types in (given, taken))
        raise op.error(f"passes {passed} to a block that takes {wanted}")


def _parse_edge(parser: Parser) -> tuple[Block, Sequence[SSAValue]]:
    target = parser.parse_successor()
    if not parser.parse_optional_punctuation("("):
        return target, ()
    operands: list[UnresolvedOperand] = parser.parse_comma_separated_list(
        parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    position = parser.pos
    parser.parse_punctuation(")")
    return target, parser.resolve_operands(operands, types, position)


def _print_edge(printer: Printer, target: Block, values: Sequence[SSAValue]) -> None:
    printer.print_block_name(target)
    if not values:
        return
    printer.print_string("(")
    printer.print_list(values, printer.print_ssa_value)
    printer.print_string(" : ")
    printer.print_list([value.type for value in values], printer.print_attribute)
    printer.print_string(")")


class EndOp(PtxOp):
    """Base: a terminator without operands."""

    traits = traits_def(IsTerminator())

    def emit(self, out: Writer) -> None:
        out.line(self.name[4:])


RetOp = member_op(EndOp, "RetOp", "ptx.ret", "`ret`: the end of the entry.")
ExitOp = member_op(EndOp, "ExitOp", "ptx.exit", "`exit`: the end of the thread.")
