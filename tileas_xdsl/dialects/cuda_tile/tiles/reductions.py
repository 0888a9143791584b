"""Reductions and scans: the elements along one dimension, combined by a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    Float16Type,
    IntegerAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Region, TypedAttribute
from xdsl.irdl import prop_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import TILE
from tileas_xdsl.dialects.cuda_tile.matches import SAME_OPERAND_SHAPES
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.structure.control import YieldOp
from tileas_xdsl.dialects.cuda_tile.structure.regions import (
    check_blocks,
    quoted_types,
    types_of_values,
)
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import (
    parse_arguments,
    parse_types,
    print_arguments,
    print_body,
    print_types,
)
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType, element_of
from tileas_xdsl.dialects.ir_queries import is_side_effect_free


class _AggregateOp(CudaTileOp):
    """Base of a reduction and a scan."""

    REVERSIBLE: ClassVar[bool] = False

    values = var_operand_def(TILE)
    dim = prop_def(IntegerAttr.constr(i32))
    identities = prop_def(ArrayAttr)
    results_ = var_result_def(TILE)
    body = region_def()

    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> _AggregateOp:
        position = parser.pos
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        properties = _parse_properties(parser, reversible=cls.REVERSIBLE)
        parser.parse_punctuation(":")
        values = parser.resolve_operands(operands or [], parse_types(parser), position)
        parser.parse_punctuation("->")
        results = parse_types(parser)
        arguments = parse_arguments(parser)
        body = parser.parse_region(arguments or None)
        return cls.create(
            operands=values,
            result_types=results,
            properties=properties,
            attributes=attributes,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.values, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" dim={self.dim.value.data}")
        if self.REVERSIBLE:
            printer.print_string(f" reverse={_word(self.properties['reverse'])}")
        printer.print_string(" identities=")
        printer.print_attribute(self.identities)
        printer.print_string(" : ")
        print_types(printer, types_of_values(self.values))
        printer.print_string(" -> ")
        print_types(printer, types_of_values(self.results))
        with printer.indented():
            printer.print_string("\n")
            print_arguments(printer, self.body.block)
            printer.print_string(" ")
            print_body(printer, self.body)

    def check(self) -> None:
        if not self.values:
            raise self.refuse("cuda_tile.expected.operands", expected=1, given=0)
        if self.dim.value.data < 0:
            raise self.refuse(
                "cuda_tile.attribute.constraint",
                name="dim",
                constraint=message("cuda_tile.attribute.non_negative"),
            )
        if len(self.results) != len(self.values):
            raise self.refuse("cuda_tile.aggregate.results")
        self._check_identities()
        first = self.values[0].type
        rank = first.rank if isinstance(first, TileType) else 0
        if self.dim.value.data >= rank:
            raise self.refuse(
                "cuda_tile.aggregate.dimension", dimension=self.dim.value.data, rank=rank
            )
        self.check_results()
        check_blocks(self, self.body, 0, "body")
        self._check_arguments(self.body.block)
        self._check_yield(self.body)
        self._check_effects(self.body.block)

    def check_results(self) -> None:
        """The results have the types that follow from those of the operands."""

    def _check_identities(self) -> None:
        if len(self.identities) != len(self.values):
            raise self.refuse(
                "cuda_tile.aggregate.identities",
                operands=len(self.values),
                identities=len(self.identities),
            )
        for index, (value, identity) in enumerate(zip(self.values, self.identities, strict=True)):
            element, given = element_of(value.type), _type_of(identity)
            if element != given and {type(element), type(given)} != {Float16Type, BFloat16Type}:
                types = (quoted(element), quoted(given))
                raise self.refuse(
                    "cuda_tile.aggregate.identity_type",
                    index=index,
                    operand_type=types[0],
                    identity_type=types[1],
                )

    def _check_arguments(self, block: Block) -> None:
        count = 2 * len(self.values)
        if len(block.args) != count:
            raise self.refuse(
                "cuda_tile.aggregate.arguments", expected=count, given=len(block.args)
            )
        types = types_of_values(block.args)
        for index, type_ in enumerate(types):
            if not isinstance(type_, TileType) or type_.rank:
                raise self.refuse(
                    "cuda_tile.aggregate.argument_rank", index=index, type=quoted(type_)
                )
        elements = [element_of(type_) for type_ in types]
        for index in range(0, count, 2):
            pair = elements[index], elements[index + 1]
            if pair[0] != pair[1]:
                raise self.refuse(
                    "cuda_tile.aggregate.argument_pair",
                    first=index,
                    second=index + 1,
                    first_type=quoted(pair[0]),
                    second_type=quoted(pair[1]),
                )
        for index, value in enumerate(self.values):
            pair = element_of(value.type), elements[2 * index]
            if pair[0] != pair[1]:
                raise self.refuse(
                    "cuda_tile.aggregate.argument_type",
                    operand=index,
                    argument=2 * index,
                    operand_type=quoted(pair[0]),
                    argument_type=quoted(pair[1]),
                )

    def _check_yield(self, body: Region) -> None:
        terminator = body.block.last_op
        if not isinstance(terminator, YieldOp):
            raise self.refuse(
                "cuda_tile.region.end", expected=YieldOp.name, given=terminator and terminator.name
            )
        if len(terminator.values) != len(self.values):
            counts = (len(terminator.values), len(self.values))
            raise self.refuse(
                "cuda_tile.aggregate.yield_count", given=counts[0], expected=counts[1]
            )
        for index, pair in enumerate(zip(self.values, terminator.values, strict=True)):
            value, yielded = (element_of(v.type) for v in pair)
            if not isinstance(pair[1].type, TileType):
                types = (quoted(pair[0].type), quoted(pair[1].type))
                raise self.refuse(
                    "cuda_tile.aggregate.yield_tile", operand_type=types[0], yielded_type=types[1]
                )
            if value != yielded:
                types = (quoted(value), quoted(yielded))
                raise self.refuse(
                    "cuda_tile.aggregate.yield_type",
                    operand=index,
                    yielded=index,
                    operand_type=types[0],
                    yielded_type=types[1],
                )

    def _check_effects(self, block: Block) -> None:
        for op in block.ops:
            if op is not block.last_op and not is_side_effect_free(op):
                raise op_error(op, message("cuda_tile.aggregate.effects", op=self.name))


def _type_of(identity: Attribute) -> Attribute:
    return identity.get_type() if isinstance(identity, TypedAttribute) else identity


def _word(flag: Attribute) -> str:
    assert isinstance(flag, IntegerAttr)
    return "true" if flag.value.data else "false"


def _parse_properties(parser: Parser, *, reversible: bool) -> dict[str, Attribute]:
    """`dim=0 [reverse=false] identities=[0.0 : f32]`."""
    properties: dict[str, Attribute] = {}
    parser.parse_keyword("dim")
    parser.parse_punctuation("=")
    dimension = parser.parse_integer(allow_boolean=False)
    properties["dim"] = IntegerAttr(dimension, i32)
    if reversible:
        parser.parse_keyword("reverse")
        parser.parse_punctuation("=")
        properties["reverse"] = BoolAttr.from_bool(parser.parse_boolean())
    parser.parse_keyword("identities")
    parser.parse_punctuation("=")
    identities: Sequence[Attribute] = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_attribute
    )
    properties["identities"] = ArrayAttr(identities)
    return properties


@cuda_tile_op
class ReduceOp(_AggregateOp):
    """Reduce the elements along a dimension; the order of the reduction is unspecified."""

    name = "cuda_tile.reduce"
    MATCHES: ClassVar = (SAME_OPERAND_SHAPES,)

    def check_results(self) -> None:
        """The dimension is gone."""
        inferred = [_without(value.type, self.dim.value.data) for value in self.values]
        given = types_of_values(self.results)
        if given != inferred:
            raise self.refuse(
                "cuda_tile.inferred_types",
                inferred=quoted_types(inferred),
                declared=quoted_types(given),
            )


def _without(type_: Attribute, dimension: int) -> TileType:
    assert isinstance(type_, TileType)
    shape = type_.get_shape()
    return TileType([e for i, e in enumerate(shape) if i != dimension], type_.element_type)


@cuda_tile_op
class ScanOp(_AggregateOp):
    """Each element becomes the combination of all up to it, or of all from it on."""

    name = "cuda_tile.scan"
    REVERSIBLE: ClassVar = True
    reverse = prop_def(BoolAttr)
    MATCHES: ClassVar = (SAME_OPERAND_SHAPES,)

    def check_results(self) -> None:
        """The shapes stay."""
        for index, (value, result) in enumerate(zip(self.values, self.results, strict=True)):
            if value.type != result.type:
                raise self.refuse("cuda_tile.scan.result_type", index=index)
