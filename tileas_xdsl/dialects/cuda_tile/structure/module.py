"""Modules, kernels and globals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import opt_prop_def, prop_def, region_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure, SymbolOpInterface, SymbolTable

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import SCALAR_POINTER
from tileas_xdsl.dialects.cuda_tile.enums import SymbolVisibility, SymbolVisibilityAttr
from tileas_xdsl.dialects.cuda_tile.hints import OF_ENTRY, OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.memory.access_checks import check_hints, pointee_of
from tileas_xdsl.dialects.cuda_tile.memory.access_directives import parse_hints
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.structure.control import ReturnOp
from tileas_xdsl.dialects.cuda_tile.structure.debug_checks import (
    check_function,
    check_function_body,
    check_globals,
)
from tileas_xdsl.dialects.cuda_tile.structure.regions import check_blocks, types_of_values
from tileas_xdsl.dialects.cuda_tile.syntax.directives import Type
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import (
    ensure_terminator,
    parse_type,
    parse_types,
    print_body,
    print_type,
    print_types,
)
from tileas_xdsl.dialects.cuda_tile.types.dense import parse_dense, print_dense, tile_type_of
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType, element_of


@cuda_tile_op
class ModuleOp(CudaTileOp):
    """What is compiled at once: kernels and globals."""

    name = "cuda_tile.module"

    sym_name = prop_def(SymbolNameConstraint())
    producer = opt_prop_def(StringAttr)
    body = region_def()

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface(), SymbolTable())

    @classmethod
    def parse(cls, parser: Parser) -> ModuleOp:
        name = parser.parse_symbol_name()
        given = parser.parse_optional_attr_dict_with_keyword()
        attributes = {} if given is None else dict(given.data)
        properties: dict[str, Attribute] = {"sym_name": name}
        if "producer" in attributes:
            properties["producer"] = attributes.pop("producer")
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        return cls.create(properties=properties, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(_name_of(self))
        attributes = dict(self.attributes)
        if self.producer is not None:
            attributes["producer"] = self.producer
        printer.print_op_attributes(attributes, print_keyword=True)
        printer.print_string(" ")
        print_body(printer, self.body)

    def check(self) -> None:
        for op in self.body.block.ops:
            if not op.has_trait(SymbolOpInterface):
                raise op_error(op, message("cuda_tile.module.symbols"))
        check_globals(self)


def _name_of(op: CudaTileOp) -> str:
    name = op.properties["sym_name"]
    assert isinstance(name, StringAttr)
    return name.data


Argument = tuple[Parser.Argument, dict[str, Attribute]]
"""An argument of a kernel and its attributes."""


def _parse_argument(parser: Parser) -> Argument:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation(":")
    resolved = argument.resolve(parse_type(parser))
    attributes = parser.parse_optional_attr_dict()
    resolved.location = parser.parse_optional_location()
    return resolved, attributes


def _parse_results(parser: Parser) -> Sequence[Attribute]:
    """Parse `-> TYPE` or `-> (TYPES)`; the verifier of kernels rejects results."""
    if parser.parse_optional_punctuation("->") is None:
        return []
    if parser.parse_optional_punctuation("(") is None:
        return [parse_type(parser)]
    if parser.parse_optional_punctuation(")") is not None:
        return []
    types = parse_types(parser)
    parser.parse_punctuation(")")
    return types


@cuda_tile_op
class EntryOp(CudaTileOp):
    """A kernel: what one block of tiles does."""

    name = "cuda_tile.entry"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> EntryOp:
        properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_argument(parser)
        )
        types = [argument.type for argument, _ in arguments]
        properties["function_type"] = FunctionType.from_lists(types, _parse_results(parser))
        if any(attributes for _, attributes in arguments):
            properties["arg_attrs"] = ArrayAttr([DictionaryAttr(a) for _, a in arguments])
        hints = parse_hints(parser)
        if hints is not None and hints.value.data:
            properties["optimization_hints"] = hints
        body = _parse_entry_body(parser, [argument for argument, _ in arguments])
        return cls.create(
            properties=properties,
            attributes=parser.parse_optional_attr_dict(),
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(_name_of(self))
        self._print_arguments(printer)
        if results := self.function_type.outputs.data:
            printer.print_string(" -> (")
            print_types(printer, results)
            printer.print_string(")")
        hints = self.optimization_hints
        if hints is not None and hints.value.data:
            printer.print_string(" optimization_hints=")
            hints.print_parameters(printer)
        printer.print_string(" ")
        print_body(printer, self.body)
        printer.print_op_attributes(self.attributes)

    def _print_arguments(self, printer: Printer) -> None:
        arguments = self.body.block.args
        given = [] if self.arg_attrs is None else [a.data for a in self.arg_attrs]
        with printer.in_parens():
            for index, argument in enumerate(arguments):
                if index:
                    printer.print_string(", ")
                printer.print_ssa_value(argument)
                printer.print_string(": ")
                print_type(printer, argument.type)
                if index < len(given):
                    printer.print_op_attributes(given[index])

    def check(self) -> None:
        if self.function_type.outputs.data:
            raise self.refuse("cuda_tile.entry.results")
        for type_ in self.function_type.inputs.data:
            if isinstance(type_, TileType) and type_.rank:
                raise self.refuse("cuda_tile.entry.scalars")
        check_function(self, _name_of(self))
        check_hints(self, OF_ENTRY)
        check_blocks(self, self.body, 0, "body")
        self._check_arguments(types_of_values(self.body.block.args))
        check_function_body(self, self.body)

    def _check_arguments(self, given: Sequence[Attribute]) -> None:
        """The block has the arguments of the type."""
        wanted = self.function_type.inputs.data
        if len(given) != len(wanted):
            raise self.refuse("cuda_tile.entry.argument_count", expected=len(wanted))
        for index, (type_, expected) in enumerate(zip(given, wanted, strict=True)):
            if type_ != expected:
                types = (quoted(type_), quoted(expected))
                raise self.refuse(
                    "cuda_tile.entry.argument_type", index=index, given=types[0], expected=types[1]
                )
        terminator = self.body.block.last_op
        if not isinstance(terminator, ReturnOp):
            raise self.refuse(
                "cuda_tile.region.end", expected=ReturnOp.name, given=terminator and terminator.name
            )


def _parse_entry_body(parser: Parser, arguments: Sequence[Parser.Argument]) -> Region:
    body = parser.parse_region(arguments)
    if not body.blocks:
        body.add_block(Block(arg_types=[argument.type for argument in arguments]))
    ensure_terminator(body, ReturnOp)
    return body


@cuda_tile_op
class GlobalOp(CudaTileOp):
    """`global @g alignment = 16 <f32: [0.0, 1.0]> : tile<2xf32>`: memory of known contents."""

    name = "cuda_tile.global"

    sym_name = prop_def(SymbolNameConstraint())
    value = prop_def(DenseIntOrFPElementsAttr)
    alignment = opt_prop_def(IntegerAttr.constr(i64))
    constant = opt_prop_def(UnitAttr)
    symbol_visibility = opt_prop_def(SymbolVisibilityAttr)

    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> GlobalOp:
        properties: dict[str, Attribute] = {"symbol_visibility": _parse_visibility(parser)}
        if parser.parse_optional_keyword("constant") is not None:
            properties["constant"] = UnitAttr()
        properties["sym_name"] = parser.parse_symbol_name()
        alignment = 0
        if parser.parse_optional_keyword("alignment") is not None:
            parser.parse_punctuation("=")
            alignment = parser.parse_integer(allow_boolean=False)
        properties["alignment"] = IntegerAttr(alignment, i64)
        attributes = parser.parse_optional_attr_dict()
        properties["value"], _ = parse_dense(parser)
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        visibility = self.symbol_visibility
        if visibility is not None and visibility.data is not SymbolVisibility.PUBLIC:
            printer.print_string(f" {visibility.data}")
        if self.constant is not None:
            printer.print_string(" constant")
        printer.print_string(" ")
        printer.print_symbol_name(_name_of(self))
        if self.alignment is not None and self.alignment.value.data:
            printer.print_string(f" alignment = {self.alignment.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        value: Any = self.value
        print_dense(printer, value, tile_type_of(value))

    def check(self) -> None:
        value: Any = self.value
        if tile_type_of(value).rank != 1:
            raise self.refuse("cuda_tile.global.rank")


def _parse_visibility(parser: Parser) -> SymbolVisibilityAttr:
    for visibility in SymbolVisibility:
        if parser.parse_optional_keyword(visibility.value) is not None:
            return SymbolVisibilityAttr(visibility)
    return SymbolVisibilityAttr(SymbolVisibility.PUBLIC)


@cuda_tile_op
class GetGlobalOp(CudaTileOp):
    """The address of a global."""

    name = "cuda_tile.get_global"

    symbol = prop_def(FlatSymbolRefAttr, prop_name="name")
    result = result_def(SCALAR_POINTER)

    traits = traits_def(Pure())
    custom_directives = (Type,)
    assembly_format = "$name attr-dict `:` custom<Type>(type($result))"

    def check(self) -> None:
        symbol = self.symbol.string_value()
        found = SymbolTable.lookup_symbol(self, symbol)
        if not isinstance(found, GlobalOp):
            raise self.refuse("cuda_tile.get_global.unknown", symbol=symbol)
        value: Any = found.value
        element = tile_type_of(value).element_type
        if pointee_of(self.result.type) != element:
            pointer = quoted(element_of(self.result.type))
            raise self.refuse(
                "cuda_tile.get_global.pointee",
                result=pointer,
                pointee=quoted(element),
                symbol=symbol,
            )
