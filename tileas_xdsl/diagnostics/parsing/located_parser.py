"""An MLIR parser that says where: every operation gets its location, every error too.

xDSL keeps no positions and lets many errors of its parsers escape without one: a type mismatch in
a declarative format, an attribute whose `verify` fails, a `ValueError` on odd input.  Here all of
them become a `LocatedParseError` that points to the token it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NoReturn, Protocol, runtime_checkable

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    StringAttr,
    UnregisteredOp,
)
from xdsl.ir import (
    Attribute,
    AttributeInvT,
    BlockArgument,
    Operation,
    Region,
    SSAValue,
)
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.lexer import Input, Position, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.attribute_parser import AttributeParser
from tileas_xdsl.diagnostics.parsing.mlir_wording import mlir_wording
from tileas_xdsl.diagnostics.parsing.parse_errors import (
    LocatedParseError,
    decode_source,
    error_at,
    explain_exception,
    located_parse_error,
)
from tileas_xdsl.diagnostics.parsing.sources import SourceText, remember_source
from tileas_xdsl.diagnostics.suggest import did_you_mean

_COMMENT = re.compile(r"//[^\n\"]*$")
_DEFINITION = re.compile(r"^[#!][\w$]+[ \t]*=", re.MULTILINE)
"""Where an alias is defined; MLIR defines them at the beginning of lines only."""

_UNDEFINED_VALUES = "values used but not defined"
_UNDECLARED = "use of undeclared SSA value name"
"""What xDSL says of such values, and what MLIR does."""


def parse_module(
    ctx: Context,
    source: str | bytes,
    name: str = "<unknown>",
    *,
    line_offset: int = 0,
    implicit_module: bool = True,
) -> ModuleOp:
    """Parse a module whose operations all carry their location in `name`.

    `line_offset` is the number of lines of the file before this text.  Raises `LocatedParseError`
    for every input that is not a module, whatever it is; nothing else escapes.
    """
    return LocatedParser(ctx, source, name, line_offset).parse_module(implicit_module)


class _LinearTimeLexer(MLIRLexer):
    """xDSL's pattern of a string literal takes exponential time if the closing quote is missing.

    The possessive quantifiers make the same pattern linear.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


@runtime_checkable
class DialectLocation(Protocol):
    """An attribute of a dialect that stands for a location."""

    def as_location(self) -> LocationAttr:
        """The location of an operation that has this attribute as its location."""
        ...


class LocatedParser(AttributeParser):
    """A `Parser` that stamps operations and block arguments with `FileLineColLoc`.

    An explicit `loc(...)` in the input is kept.  An operation is located at its name, as in MLIR.
    Raises `LocatedParseError`, already when it is made if the first token or the encoding is bad.
    """

    source: SourceText
    _file: StringAttr
    _numbers: dict[int, IntAttr]
    _op_names: list[Span[str]]
    _first_uses: dict[str, Span[str]]
    _first_spans: dict[str, Span[str]]
    """Where values are defined, by name."""
    _defined_later: dict[SSAValue, SSAValue]
    """By the stand-in for a value that was used first: the value that was defined then."""
    _defined_ahead: set[Position]
    """Where definitions of aliases start that were read before their turn."""

    def __init__(
        self, ctx: Context, input: str | bytes, name: str = "<unknown>", line_offset: int = 0
    ) -> None:
        self.source = SourceText(name, decode_source(input, name, line_offset), line_offset)
        remember_source(self.source)
        self._file = StringAttr(name)
        self._numbers = {}
        self._op_names = []
        self._first_uses = {}
        self._first_spans = {}
        self._defined_later = {}
        self._defined_ahead = set()
        super().__init__(ctx, "", name)
        try:
            self._parser_state = ParserState(_LinearTimeLexer(Input(self.source.text, name)))
        except ParseError as error:
            raise error_at(self.source, _text_span(error), error.msg) from error

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Parse the whole input.  Without any operation it is an empty module, as in MLIR.

        A module that the input does not write is located at the first token.
        """
        start = self._current_token.span.start
        try:
            module = self._parse_module(allow_implicit_module)
        except LocatedParseError:
            raise
        except Exception as error:
            raise located_parse_error(error, self._current_token.span, self.source) from error
        if module.location is UNKNOWN_LOC:
            module.location = self._location(start)
        return module

    def _parse_module(self, allow_implicit_module: bool) -> ModuleOp:
        if allow_implicit_module and self._current_token.kind is MLIRTokenKind.EOF:
            return ModuleOp([])
        try:
            module = super().parse_module(allow_implicit_module)
        except ParseError as error:
            if error.msg.startswith(_UNDEFINED_VALUES):
                self._raise_undefined_values(error)
            raise
        if self._current_token.kind is not MLIRTokenKind.EOF:
            self.raise_error("expected the end of the input after the module")
        if references := _all_references(self):
            _raise_undefined_block(references[0])
        return module

    def _raise_undefined_values(self, error: ParseError) -> NoReturn:
        """xDSL points to the end of the file; the first use of each value is the place to look."""
        spans = [self._first_uses[name] for name in self.forward_ssa_references]
        found = [error_at(self.source, span, f"{_UNDECLARED} {span.text}") for span in spans]
        reports = [report for each in found for report in each.diagnostics]
        raise LocatedParseError(spans[0], *reports) from error

    def parse_operation(self) -> Operation:
        depth = len(self._op_names)
        try:
            op = super().parse_operation()
        except ParseError:
            raise
        except Exception as error:
            raise self._locate_in_op(error, depth) from error
        name = self._op_names[depth]
        del self._op_names[depth:]
        if op.location is UNKNOWN_LOC:
            op.location = self._location(name.start)
        if self._defined_later:
            self._use_definitions(op)
        return op

    def _locate_in_op(self, error: Exception, depth: int) -> ParseError:
        """A verifier speaks of the whole operation, any other failure of the current token."""
        if not isinstance(error, VerifyException) or len(self._op_names) <= depth:
            return ParseError(self._current_token.span, explain_exception(error))
        name = self._op_names[depth]
        if isinstance(error, DiagnosticError):
            return ParseError(name, explain_exception(error))
        op_name = name.text.strip('"')
        return ParseError(name, f"'{op_name}' op {explain_exception(error)}")

    def _parse_op_result_list(self) -> list[tuple[Span[str], int]]:
        results = super()._parse_op_result_list()
        self._op_names.append(self._current_token.span)
        return results

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """The operation; one of no dialect, where allowed, is written in the generic form only."""
        try:
            found = super()._get_op_by_name(name)
        except ParseError as error:
            hint = self._unknown_operation_hint(name)
            raise ParseError(self._op_names[-1], error.msg + hint) from error
        if issubclass(found, UnregisteredOp) and self._op_names[-1].text[0] != '"':
            raise ParseError(self._op_names[-1], self._unknown_custom_operation(name))
        return found

    def _unknown_custom_operation(self, name: str) -> str:
        """MLIR's text: what else was tried in the default dialect."""
        tried = "" if "." in name else f" (tried '{self._in_default_dialect(name)}' as well)"
        return f"custom op '{name}' is unknown{tried}"

    def _in_default_dialect(self, name: str) -> str:
        return f"{next(reversed(self._parser_state.dialect_stack), 'builtin')}.{name}"

    def _unknown_operation_hint(self, name: str) -> str:
        dialect, dot, _ = name.partition(".")
        whole = name if dot else self._in_default_dialect(name)
        if hint := did_you_mean(whole, (op.name for op in self.ctx.loaded_ops)):
            return f"; {hint}"
        if dot and dialect not in (known := list(self.ctx.registered_dialect_names)):
            return f"; there is no dialect '{dialect}', {did_you_mean(dialect, known)}".rstrip(", ")
        return ""

    def _parse_location(self) -> LocationAttr:
        """A location; MLIR reads more of them than xDSL.

        Aliases may be defined after their first use, an attribute of a dialect that knows its
        `as_location` is one, and fused locations have metadata.
        """
        token = self._current_token
        if token.kind is MLIRTokenKind.HASH_IDENT:
            return self._location_attribute()
        if token.kind is not MLIRTokenKind.BARE_IDENT or token.text != "fused":
            return super()._parse_location()
        self.parse_keyword("fused")
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(tuple(parts), metadata)

    def _location_attribute(self) -> LocationAttr:
        token = self._current_token
        if token.text not in self.attribute_aliases:
            self._define_ahead(token.text)
        found = self.parse_attribute()
        if isinstance(found, DialectLocation):
            return found.as_location()
        if not isa(found, LocationAttr):
            raise ParseError(token.span, "expected location attribute")
        return found

    def _define_ahead(self, alias: str) -> None:
        """Read the definitions that stand further down, in order, up to that of an alias."""
        definitions = _DEFINITION.finditer(self.source.text, self._current_token.span.end)
        lexer, before = self.lexer, self._current_token
        after = lexer.pos
        while alias not in self.attribute_aliases and (definition := next(definitions, None)):
            if definition.start() in self._defined_ahead:
                continue
            self._defined_ahead.add(definition.start())
            lexer.pos = definition.start()
            self._parser_state.current_token = lexer.lex()
            super()._parse_alias_def()
        lexer.pos, self._parser_state.current_token = after, before

    def _parse_alias_def(self) -> None:
        start, name = self._current_token.span.start, self._current_token.text
        if start in self._defined_ahead:
            self.attribute_aliases.pop(name, None)
        super()._parse_alias_def()

    def parse_optional_region(
        self, arguments: Iterable[Parser.Argument] | None = None
    ) -> Region | None:
        try:
            return super().parse_optional_region(arguments)
        except MultipleSpansParseError as error:
            references = _all_references(self)
            if references and [span for span, _ in error.refs] == references:
                _raise_undefined_block(references[0])
            raise

    def raise_error(
        self,
        msg: str,
        at_position: Span[str] | Position | None = None,
        end_position: Position | None = None,
    ) -> NoReturn:
        """Raise what MLIR would say."""
        if end_position is not None:
            assert isinstance(at_position, Position)
            at_position = Span(at_position, end_position, self.lexer.input)
        text = mlir_wording(msg)
        here = self._current_token.span
        if at_position in (None, here, here.start) and text.startswith("expected '"):
            at_position = self._end_of_line_before()
        super().raise_error(text, at_position)

    def _end_of_line_before(self) -> Span[str] | None:
        """Where punctuation is missed, if the next token stands on a line of its own (as MLIR)."""
        start = self._current_token.span.start
        lines = self.source.text[:start].split("\n")
        if len(lines) == 1 or lines.pop().strip():
            return None
        while lines and not _COMMENT.sub("", lines[-1]).strip():
            lines.pop()
        if not lines:
            return None
        end = sum(len(line) + 1 for line in lines[:-1]) + len(_COMMENT.sub("", lines[-1]).rstrip())
        return Span(end, end, self.lexer.input)

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        name = operand.operand_name
        if name not in self.ssa_values and name not in self.forward_ssa_references:
            self._first_uses[name] = operand.span
        before = self._resolved(operand)
        if before is not None and before.type != type:
            self._raise_other_type(operand, type, before)
        return super().resolve_operand(operand, type)

    def _use_definitions(self, op: Operation) -> None:
        """Give an operation the values that were defined inside it, after its operands were read.

        `iter_args(%a = %y)` with a `%y` of the loop's body is an error of dominance then.
        """
        for index, operand in enumerate(op.operands):
            if (found := self._defined_later.get(operand)) is not None:
                op.operands[index] = found

    def _resolved(self, operand: UnresolvedOperand) -> SSAValue | None:
        """The value, if it is defined or was used before."""
        values = self.ssa_values.get(operand.operand_name)
        if values is None:
            references = self.forward_ssa_references.get(operand.operand_name, {})
            return references.get(operand.index)
        return values[operand.index] if operand.index < len(values) else None

    def _raise_other_type(
        self, operand: UnresolvedOperand, type: Attribute, before: SSAValue
    ) -> NoReturn:
        text = (
            f"use of value '{operand.span.text}' expects different type than prior uses: "
            f"'{type}' vs '{before.type}'"
        )
        span = self._first_spans.get(operand.operand_name)
        if span is None:
            raise ParseError(operand.span, text)
        raise MultipleSpansParseError(operand.span, text, None, [(span, "prior use here")])

    def _register_ssa_definition(
        self, name: str, values: Sequence[SSAValue], span: Span[str]
    ) -> None:
        used_before = self.forward_ssa_references.get(name, {})
        super()._register_ssa_definition(name, values, span)
        self._defined_later.update({used: values[index] for index, used in used_before.items()})
        self._first_spans[name] = span
        for value in values:
            if isinstance(value, BlockArgument) and value.location is UNKNOWN_LOC:
                value.location = self._location(span.start)

    def _location(self, position: Position) -> FileLineColLoc:
        line, column = self.source.line_and_column(position)
        return FileLineColLoc(self._file, self._number(line), self._number(column))

    def _number(self, value: int) -> IntAttr:
        if (number := self._numbers.get(value)) is None:
            number = self._numbers[value] = IntAttr(value)
        return number


def _text_span(error: ParseError) -> Span[str]:
    """The span of an error in text; xDSL types it as text or bytes, an MLIR parser reads text."""
    start, end, source = error.span.start, error.span.end, error.span.input
    assert isinstance(source.content, str)
    return Span(start, end, Input(source.content, source.name))


def _all_references(parser: Parser) -> list[Span[str]]:
    """Where blocks were named that are not defined so far, in the order of the text."""
    found = (span for spans in parser.forward_block_references.values() for span in spans)
    return sorted(found, key=lambda span: span.start)


def _raise_undefined_block(reference: Span[str]) -> NoReturn:
    raise ParseError(reference, f"reference to an undefined block {reference.text}")
