"""Pieces of the assembly formats of memory accesses: order, scope, tokens, hints."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    TypeDirective,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.enums import (
    MemoryOrderingSemantics,
    MemoryOrderingSemanticsAttr,
    MemoryScope,
    MemoryScopeAttr,
)
from tileas_xdsl.dialects.cuda_tile.hints import OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.syntax.directives import parse_word
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import parse_type, print_type
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TokenType
from tileas_xdsl.dialects.custom_directive import custom_directive

Order = tuple[MemoryOrderingSemanticsAttr, MemoryScopeAttr | None]
"""Memory order and scope of an access; a weak access has no scope."""


def parse_access(parser: Parser, *, view: bool = False) -> Order:
    """`weak`, or `relaxed device`; through a view `weak device` is refused here already."""
    semantics = parse_word(parser, MemoryOrderingSemanticsAttr, "cuda_tile.access.ordering_keyword")
    assert isinstance(semantics, MemoryOrderingSemanticsAttr)
    position = parser.pos
    word = parser.parse_optional_identifier()
    if word is None:
        return semantics, None
    if view and semantics.data is MemoryOrderingSemantics.WEAK:
        parser.raise_error(message("cuda_tile.access.weak_scope", scope=word), at_position=position)
    if word not in SCOPES:
        parser.raise_error(
            message("cuda_tile.access.scope_keyword", keyword=word), at_position=position
        )
    return semantics, SCOPES[word]


SCOPES = {scope.value: MemoryScopeAttr(scope) for scope in MemoryScope}
"""Memory scopes by keyword."""


def print_access(
    printer: Printer, semantics: MemoryOrderingSemanticsAttr, scope: MemoryScopeAttr | None
) -> None:
    """The text that `parse_access` reads, after a blank."""
    printer.print_string(f" {semantics.data}")
    if scope is not None:
        printer.print_string(f" {scope.data}")


@custom_directive
class Access(CustomDirective):
    """The order of an access, and its scope if there is one."""

    semantics: AttributeVariable
    scope: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        semantics, scope = parse_access(parser)
        self.semantics.set(state, semantics)
        if scope is not None:
            self.scope.set(state, scope)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        semantics, scope = self.semantics.get(op), self.scope.get(op)
        assert isinstance(semantics, MemoryOrderingSemanticsAttr)
        print_access(printer, semantics, scope if isinstance(scope, MemoryScopeAttr) else None)
        state.should_emit_space, state.last_was_punctuation = True, False


@custom_directive
class Scoped(CustomDirective):
    """The order of an atomic access and its scope, which it always has."""

    semantics: AttributeVariable
    scope: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        semantics = parse_word(
            parser, MemoryOrderingSemanticsAttr, "cuda_tile.access.ordering_keyword"
        )
        self.semantics.set(state, semantics)
        self.scope.set(state, parse_word(parser, MemoryScopeAttr, "cuda_tile.access.scope_keyword"))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        semantics, scope = self.semantics.get(op), self.scope.get(op)
        assert isinstance(semantics, MemoryOrderingSemanticsAttr)
        assert isinstance(scope, MemoryScopeAttr)
        print_access(printer, semantics, scope)
        state.should_emit_space, state.last_was_punctuation = True, False


def parse_token(parser: Parser) -> UnresolvedOperand | None:
    """`token = %t` if it is there."""
    if parser.parse_optional_keyword("token") is None:
        return None
    parser.parse_punctuation("=")
    return parser.parse_unresolved_operand()


@custom_directive
class TokenIn(CustomDirective):
    """`token=%t`: what the access comes after, if it is there."""

    TEXT: ClassVar[str] = "token="
    token: OptionalOperandVariable
    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        token = parse_token(parser)
        self.token.set(state, token)
        self.type.set(state, [] if token is None else [TokenType()])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        if (token := self.token.get(op)) is not None:
            state.print_whitespace(printer)
            printer.print_string(self.TEXT)
            printer.print_ssa_value(token)


@custom_directive
class SpacedTokenIn(TokenIn):
    """The same as `token = %t`."""

    TEXT: ClassVar[str] = "token = "
    token: OptionalOperandVariable
    type: TypeDirective


@custom_directive
class JoinedTokens(CustomDirective):
    """One type for any number of tokens and for the result."""

    tokens: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.result.set(state, [parse_type(parser)])
        count = sum(len(operands or ()) for operands in state.operands)
        self.tokens.set(state, [TokenType()] * count)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        print_type(printer, self.result.get(op)[0])


@custom_directive
class ImplicitTokens(CustomDirective):
    """No text: both are tokens."""

    token: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.token.set(state, [TokenType()])
        self.result.set(state, [TokenType()])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Print nothing: the attribute has its default."""


def parse_hints(parser: Parser) -> OptimizationHintsAttr | None:
    """`optimization_hints = <...>` if it is there."""
    if parser.parse_optional_keyword("optimization_hints") is None:
        return None
    parser.parse_punctuation("=")
    return OptimizationHintsAttr.new(OptimizationHintsAttr.parse_parameters(parser))


def print_hints(printer: Printer, hints: OptimizationHintsAttr | None) -> None:
    """The text that `parse_hints` reads, after a blank."""
    if hints is not None:
        printer.print_string(" optimization_hints = ")
        hints.print_parameters(printer)


@custom_directive
class Hints(CustomDirective):
    """Hints for the compiler, if there are any."""

    hints: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if (hints := parse_hints(parser)) is not None:
            self.hints.set(state, hints)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        hints = self.hints.get(op)
        print_hints(printer, hints if isinstance(hints, OptimizationHintsAttr) else None)
