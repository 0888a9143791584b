"""Regions of operations: the blocks they have, what ends them, and what they may stand in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp
from tileas_xdsl.dialects.cuda_tile.constraints import ANY
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import parse_types, print_types
from tileas_xdsl.dialects.cuda_tile.types.view_types import TensorViewType, TileView


def check_blocks(op: CudaTileOp, region: Region, index: int, name: str) -> None:
    """The region has one block; what ends it others look at."""
    block = region.blocks.first
    if block is None or region.blocks.last is not block:
        raise op.refuse("cuda_tile.region.blocks", index=index, name=name)


def types_of_values(values: Iterable[SSAValue]) -> list[Attribute]:
    """The type of each value."""
    return [value.type for value in values]


def quoted_types(types: Iterable[Attribute]) -> str:
    """`'!cuda_tile.tile<f32>', '!cuda_tile.token'`: types as messages show them."""
    return ", ".join(map(quoted, types))


def check_no_views(
    op: CudaTileOp, types: Sequence[Attribute], tensor_key: str, tile_key: str
) -> None:
    """Views are not handed on; the keys are those of the messages for the two kinds."""
    for index, type_ in enumerate(types):
        if isinstance(type_, TensorViewType):
            raise op.refuse(tensor_key, index=index)
        if isinstance(type_, TileView):
            raise op.refuse(tile_key, index=index)


class TerminatorOp(CudaTileOp):
    """An operation that ends a block and hands values on."""

    PARENTS: ClassVar[tuple[str, ...]]
    """The operations that it may stand in."""

    values = var_operand_def(ANY)
    traits = traits_def(IsTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> TerminatorOp:
        position = parser.pos
        operands = (
            parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
            )
            or []
        )
        attributes = parser.parse_optional_attr_dict()
        values: Sequence[SSAValue] = []
        if operands:
            parser.parse_punctuation(":")
            values = parser.resolve_operands(operands, parse_types(parser), position)
        return cls.create(operands=values, attributes=attributes)

    def print(self, printer: Printer) -> None:
        if self.values:
            printer.print_string(" ")
            printer.print_list(self.values, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        if self.values:
            printer.print_string(" : ")
            print_types(printer, types_of_values(self.values))

    def check(self) -> None:
        parent = self.parent_op()
        if parent is None or parent.name not in self.PARENTS:
            raise self.refuse("cuda_tile.expects.parent_op", ops=", ".join(self.PARENTS))
        self.check_values(parent)

    def check_values(self, parent: Operation) -> None:
        """What else must hold inside `parent`."""
