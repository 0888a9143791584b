"""Debug info: the files, functions and lexical blocks that operations come from.

The location of an operation with a scope is `fused<SCOPE>["FILE":LINE:COLUMN]`, the form in which
MLIR attaches data to a location, so that every tool can show the source line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tileas_xdsl.dialects.clauses import Clause, ClausedType, Form


def _string(parser: AttrParser) -> Attribute:
    return StringAttr(parser.parse_str_literal())


STRING = Form(_string)


@irdl_attr_definition
class DIFileAttr(ClausedType):
    """`#cuda_tile.di_file<"kernel.py" in "/home/user">`."""

    name = "cuda_tile.di_file"
    file_name: StringAttr
    directory: StringAttr

    CLAUSES = (Clause(STRING), Clause(STRING, "in", " ", before=" "))


Field = tuple[str, Callable[[AttrParser], Attribute], bool]
"""The name of a parameter, what reads it, and whether it may be left out."""


def _parse_struct(parser: AttrParser, fields: Sequence[Field]) -> list[Attribute]:
    """`<name = value, ...>` in any order."""
    found: dict[str, Attribute] = {}
    readers = {name: read for name, read, _ in fields}

    def parse_field() -> None:
        name = parser.parse_optional_identifier()
        if name is None:
            parser.raise_error("expected a parameter name in struct")
        if name not in readers or name in found:
            parser.raise_error(f"'{name}' is not one of {', '.join(readers)}, each at most once")
        parser.parse_punctuation("=")
        found[name] = readers[name](parser)

    with parser.in_angle_brackets():
        parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_field)
    missing = [name for name, _, optional in fields if name not in found and not optional]
    if missing:
        parser.raise_error(f"struct is missing required parameter: {missing[0]}")
    return [found.get(name, NoneAttr()) for name, _, _ in fields]


def _print_struct(printer: Printer, attribute: ParametrizedAttribute, names: Sequence[str]) -> None:
    pairs = zip(names, attribute.parameters, strict=True)
    given = [pair for pair in pairs if not isinstance(pair[1], NoneAttr)]
    with printer.in_angle_brackets():
        printer.print_list(given, lambda pair: _print_field(printer, *pair))


def _print_field(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_string(f"{name} = ")
    if isinstance(value, IntAttr):
        printer.print_string(str(cast("IntAttr[int]", value).data))
        return
    printer.print_attribute(value)


def _number(parser: AttrParser) -> Attribute:
    return IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))


def _one_of(*definitions: type[ParametrizedAttribute]) -> Callable[[AttrParser], Attribute]:
    """An attribute; where only one kind is possible it may stand without its name."""

    def read(parser: AttrParser) -> Attribute:
        position = parser.pos
        attribute = parser.parse_optional_attribute()
        if attribute is None and len(definitions) == 1:
            return definitions[0].new(definitions[0].parse_parameters(parser))
        if not isinstance(attribute, definitions):
            names = " or ".join(f"#{definition.name}" for definition in definitions)
            parser.raise_error(f"expected {names}", at_position=position)
        return attribute

    return read


@irdl_attr_definition
class DICompileUnitAttr(ParametrizedAttribute):
    """`#cuda_tile.di_compile_unit<file = #file>`: what was compiled at once."""

    name = "cuda_tile.di_compile_unit"
    file: DIFileAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return _parse_struct(parser, [("file", _one_of(DIFileAttr), False)])

    def print_parameters(self, printer: Printer) -> None:
        _print_struct(printer, self, ["file"])


_SUBPROGRAM = ("file", "line", "name", "linkageName", "compileUnit", "scopeLine")


@irdl_attr_definition
class DISubprogramAttr(ParametrizedAttribute):
    """A function: `#cuda_tile.di_subprogram<file = ..., line = 1, name = "f", ...>`."""

    name = "cuda_tile.di_subprogram"
    file: DIFileAttr
    line: IntAttr
    function_name: StringAttr
    linkage_name: StringAttr
    compile_unit: DICompileUnitAttr
    scope_line: IntAttr | NoneAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        readers = (
            _one_of(DIFileAttr),
            _number,
            _string,
            _string,
            _one_of(DICompileUnitAttr),
            _number,
        )
        fields = [
            (name, read, name == "scopeLine")
            for name, read in zip(_SUBPROGRAM, readers, strict=True)
        ]
        return _parse_struct(parser, fields)

    def print_parameters(self, printer: Printer) -> None:
        _print_struct(printer, self, _SUBPROGRAM)

    def located(self, location: FileLineColLoc) -> DILocAttr:
        """Return a location in this scope, as Tile IR writes it."""
        return DILocAttr(location, self)


_BLOCK = ("scope", "file", "line", "column")


@irdl_attr_definition
class DILexicalBlockAttr(ParametrizedAttribute):
    """A block inside a function or another block; a scope of its own."""

    name = "cuda_tile.di_lexical_block"
    scope: Attribute
    file: DIFileAttr
    line: IntAttr
    column: IntAttr | NoneAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        readers = (_one_of(*LOCAL_SCOPES), _one_of(DIFileAttr), _number, _number)
        fields = [
            (name, read, name == "column") for name, read in zip(_BLOCK, readers, strict=True)
        ]
        return _parse_struct(parser, fields)

    def print_parameters(self, printer: Printer) -> None:
        _print_struct(printer, self, _BLOCK)

    def located(self, location: FileLineColLoc) -> DILocAttr:
        """Return a location in this scope, as Tile IR writes it."""
        return DILocAttr(location, self)


LOCAL_SCOPES = (DISubprogramAttr, DILexicalBlockAttr)
"""The scopes that an operation may be in."""


@irdl_attr_definition
class DILocAttr(ParametrizedAttribute):
    """`#cuda_tile.di_loc<loc("kernel.py":3:5) in #scope>`: a location and its scope."""

    name = "cuda_tile.di_loc"
    source_location: FileLineColLoc
    scope: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            location = parser.parse_optional_location() or parse_location(parser)
            if not isinstance(location, FileLineColLoc):
                parser.raise_error('expected loc("FILE":LINE:COLUMN)', at_position=position)
            parser.parse_keyword("in")
            return location, _one_of(*LOCAL_SCOPES)(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.source_location)
            printer.print_string(" in ")
            printer.print_attribute(self.scope)

    def as_location(self) -> FusedLoc:
        """Return this debug location as the location of an operation."""
        return FusedLoc((self.source_location,), self.scope)


def parse_location(parser: AttrParser) -> LocationAttr:
    """What stands between the parentheses of `loc(...)`."""
    return parser._parse_location()  # pyright: ignore[reportPrivateUsage]


def subprogram_of(scope: Attribute) -> DISubprogramAttr | None:
    """The function around a scope; None for what is no scope of an operation."""
    while isinstance(scope, DILexicalBlockAttr):
        scope = scope.scope
    return scope if isinstance(scope, DISubprogramAttr) else None
