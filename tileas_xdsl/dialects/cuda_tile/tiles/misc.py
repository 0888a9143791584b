"""What is known of values, and printing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import ANY, TILE, TOKEN
from tileas_xdsl.dialects.cuda_tile.matches import same_type
from tileas_xdsl.dialects.cuda_tile.memory.access_directives import TokenIn
from tileas_xdsl.dialects.cuda_tile.syntax.directives import Type, Types
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import PREFIX, parse_type, print_type
from tileas_xdsl.dialects.cuda_tile.types.predicates import ATTRIBUTES as PREDICATES
from tileas_xdsl.dialects.cuda_tile.types.predicates import AssumePredicate

_PREDICATES = {predicate.name.removeprefix(PREFIX): predicate for predicate in PREDICATES}


def _parse_predicate(parser: Parser) -> AssumePredicate:
    """`div_by<16>`, or the same as any other attribute."""
    position = parser.pos
    attribute = parser.parse_optional_attribute()
    if attribute is None:
        word = parser.parse_optional_identifier()
        if word is None:
            parser.raise_error(message("cuda_tile.assume.name"), at_position=position)
        if word not in _PREDICATES:
            parser.raise_error(
                message("cuda_tile.assume.unknown", predicate=word), at_position=position
            )
        definition = _PREDICATES[word]
        attribute = definition.new(definition.parse_parameters(parser))
    if not isinstance(attribute, AssumePredicate):
        parser.raise_error(message("cuda_tile.assume.attribute"), at_position=position)
    return attribute


@cuda_tile_op
class AssumeOp(CudaTileOp):
    """The same value, of which more is known."""

    name = "cuda_tile.assume"

    value = operand_def(ANY)
    predicate = prop_def(AssumePredicate)
    result = result_def(ANY)

    traits = traits_def(Pure(), Canonicalized("cuda_tile.ASSUME_PATTERNS"))
    MATCHES: ClassVar = (same_type("value", "result"),)

    @classmethod
    def parse(cls, parser: Parser) -> AssumeOp:
        predicate = _parse_predicate(parser)
        parser.parse_punctuation(",")
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parse_type(parser)
        return cls.create(
            operands=[parser.resolve_operand(operand, type_)],
            result_types=[type_],
            properties={"predicate": predicate},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        predicate = self.predicate
        printer.print_string(f" {predicate.name.removeprefix(PREFIX)}")
        predicate.print_parameters(printer)
        printer.print_string(", ")
        printer.print_ssa_value(self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_type(printer, self.value.type)

    def check(self) -> None:
        try:
            self.predicate.check(self.value.type)
        except VerifyException as error:
            raise op_error(self, str(error)) from error


_CONVERSIONS = frozenset("diuoxXeEfFgGaAcsSpn%")
"""The characters that end a format expression."""


def format_expressions(text: str) -> Iterator[str | None]:
    """The expressions of a format string without `%%`; None stands for one that never ends."""
    start = text.find("%")
    while start >= 0:
        ends = (end for end in range(start + 1, len(text)) if text[end] in _CONVERSIONS)
        end = next(ends, None)
        if end is None:
            yield None
            return
        expression = text[start : end + 1]
        if expression != "%%":
            yield expression
        after = end + 1 if expression == "%%" else start + 1
        start = text.find("%", after)


@cuda_tile_op
class PrintTkoOp(CudaTileOp):
    """Print tiles by a format string."""

    name = "cuda_tile.print_tko"

    format_string = prop_def(StringAttr, prop_name="str")
    args = var_operand_def(TILE)
    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    custom_directives = (TokenIn, Type, Types)
    assembly_format = (
        "$str (`,` $args^)? custom<TokenIn>($token, type($token)) attr-dict"
        " (`:` custom<Types>(type($args))^)? `->` custom<Type>(type($result_token))"
    )

    def check(self) -> None:
        expressions = list(format_expressions(self.format_string.data))
        if None in expressions:
            raise self.refuse("cuda_tile.print.unterminated")
        if len(expressions) != len(self.args):
            raise self.refuse(
                "cuda_tile.print.operands", expected=len(expressions), given=len(self.args)
            )
