"""Names of operations that listings use for operations of the dialect."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand

from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp
from tileas_xdsl.dialects.nv_tileas.syntax.ops import reading_sugar
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.operation_sugar import OperationSugar
from tileas_xdsl.layout.memory.elements import ELEMENT_TYPES


class ExpandDimOp(OperationSugar):
    """`expand_dims`."""

    name = "nv_tileas.expand_dim"
    MEANS = ExpandDimsOp


class WgmmaOp(OperationSugar):
    """`dot`, with the wgmma of the operands' elements where no atom is given.

    `wgmma %a, %b, %acc : T` has only the type of the accumulator; A and B are defined before it.
    """

    name = "nv_tileas.wgmma"
    MEANS = DotOp

    @classmethod
    def parse(cls, parser: Parser) -> DotOp:
        with reading_sugar(parser):
            return _parse_wgmma(parser)


def _parse_wgmma(parser: Parser) -> DotOp:
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    if len(operands) != 3:
        parser.raise_error(f"a product has the operands A, B and C, not {len(operands)}")
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    start = parser.pos
    types: list[Attribute] = parser.parse_comma_separated_list(
        parser.Delimiter.NONE, parser.parse_type
    )
    arrow = parser.parse_optional_punctuation("->")
    result = types[-1] if arrow is None else parser.parse_type()
    if len(types) == 1:
        types = [*_known_types(parser, operands[:2]), *types]
    a, b, c = parser.resolve_operands(operands, types, start)
    properties = {
        name: attributes.pop(name)
        for name in ("atom", "signedness_a", "signedness_b")
        if name in attributes
    }
    properties.setdefault("atom", _wgmma_of(parser, (a, b, c), start))
    return DotOp.create(
        operands=[a, b, c], result_types=[result], properties=properties, attributes=attributes
    )


def _known_types(parser: Parser, operands: Sequence[UnresolvedOperand]) -> list[Attribute]:
    found: list[Attribute] = []
    for operand in operands:
        values = parser.ssa_values.get(operand.operand_name, ())
        if operand.index >= len(values):
            parser.raise_error(
                f"the type of %{operand.operand_name} is not known here; "
                "write the types of A, B and C",
                operand.span.start,
            )
        found.append(values[operand.index].type)
    return found


def _wgmma_of(parser: Parser, operands: Sequence[SSAValue], position: int) -> AtomAttr:
    tiles = [as_tile(value.type) for value in operands]
    names = [element_name(tile.element_type) for tile in tiles if tile is not None]
    if len(names) != len(tiles):
        parser.raise_error("a product multiplies tiles", position)
    for name in names:
        if name not in ELEMENT_TYPES:
            parser.raise_error(f"no wgmma multiplies elements of type {name}", position)
    return AtomAttr.of(f"wgmma_{'_'.join(names)}")
