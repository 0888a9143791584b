"""Tuples written out among the operands of an operation: `shape = (%M, 64, %K)`.

The integers become an attribute with a `?` for each value, and the values become operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.ir import SSAValue
from xdsl.parser import Parser
from xdsl.parser.core import UnresolvedOperand
from xdsl.printer import Printer

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute.types.integers import width_and_divisor
from tileas_xdsl.layout.expr.expression import Variable
from tileas_xdsl.layout.int_tuple import is_tuple


@dataclass(frozen=True)
class Template:
    """A written tuple: a tree of integers and of operands that are not resolved yet."""

    tree: Any

    @property
    def operands(self) -> list[UnresolvedOperand]:
        """The operands, in order."""
        return list(_operands(self.tree))


def _operands(tree: Any) -> Iterator[UnresolvedOperand]:
    if is_tuple(tree):
        for part in tree:
            yield from _operands(part)
    elif isinstance(tree, UnresolvedOperand):
        yield tree


def parse_template(parser: Parser) -> Template:
    """`(%M, (64, %K))` or one leaf."""
    return Template(_parse_tree(parser))


def _parse_tree(parser: Parser) -> Any:
    if parser.parse_optional_punctuation("(") is None:
        operand = parser.parse_optional_unresolved_operand()
        return parser.parse_integer(allow_boolean=False) if operand is None else operand
    if parser.parse_optional_punctuation(")"):
        return ()
    parts = [_parse_tree(parser)]
    while parser.parse_optional_punctuation(","):
        parts.append(_parse_tree(parser))
    parser.parse_punctuation(")")
    return tuple(parts)


def typed_tree(template: Template, values: Sequence[SSAValue]) -> Any:
    """The tree with a `?` for each operand, as wide as its value."""
    remaining = iter(values)

    def leaf(tree: Any) -> Any:
        if is_tuple(tree):
            return tuple(leaf(part) for part in tree)
        return unknown_for(next(remaining)) if isinstance(tree, UnresolvedOperand) else tree

    return leaf(template.tree)


def unknown_for(value: SSAValue) -> Variable:
    """The leaf of a type that stands for a value."""
    width, divisor = width_and_divisor(value.type) or (32, 1)
    return Variable(width, divisor)


def print_template(printer: Printer, tree: Any, values: Iterator[SSAValue]) -> None:
    """The tree, with the next of `values` for each `?`."""
    if is_tuple(tree):
        with printer.in_parens():
            printer.print_list(tree, lambda part: print_template(printer, part, values))
    elif isinstance(tree, Variable):
        printer.print_ssa_value(next(values))
    else:
        printer.print_string(str(tree))


def filled(tree: Any, numbers: Iterator[Any]) -> Any:
    """The tree with the next of `numbers` for each `?`."""
    if is_tuple(tree):
        return tuple(filled(part, numbers) for part in tree)
    return next(numbers) if isinstance(tree, Variable) else tree
