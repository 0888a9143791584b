"""Constant tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, TensorType, i1
from xdsl.ir import SSAValue
from xdsl.irdl import prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import NUMBER_TILE
from tileas_xdsl.dialects.cuda_tile.types.dense import Dense, parse_dense, print_dense, tile_type_of
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType


@cuda_tile_op
class ConstantOp(CudaTileOp):
    """`constant <f32: 0.0> : tile<2x4xf32>`: a tile of known elements."""

    name = "cuda_tile.constant"

    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(NUMBER_TILE)

    traits = traits_def(ConstantLike(), Pure(), Canonicalized("cuda_tile.CONSTANT_PATTERNS"))

    @classmethod
    def of(cls, value: Dense) -> ConstantOp:
        """The constant with these elements."""
        return cls(result_types=[tile_type_of(value)], properties={"value": value})

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        value, tile = parse_dense(parser)
        attributes = parser.parse_optional_attr_dict()
        return cls.create(result_types=[tile], properties={"value": value}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        assert isinstance(self.result.type, TileType)
        print_dense(printer, self.value, self.result.type)
        printer.print_op_attributes(self.attributes)

    def check(self) -> None:
        if tile_type_of(self.value) != self.result.type:
            raise self.refuse(
                "cuda_tile.failed_to_verify", predicate="all of {value, result} have same type"
            )


def boolean(value: bool, shape: Sequence[int] = ()) -> ConstantOp:
    """A tile of equal booleans."""
    return ConstantOp.of(DenseIntOrFPElementsAttr.from_list(TensorType(i1, shape), [int(value)]))


def constant_number(value: SSAValue) -> int | None:
    """The integer of a constant of which all elements are the same; None for anything else."""
    owner: Any = value.owner
    if not isinstance(owner, ConstantOp):
        return None
    literal: Any = owner.value
    if not isinstance(literal.get_element_type(), IntegerType):
        return None
    first, *others = literal.get_values()
    return None if any(other != first for other in others) else int(first)
