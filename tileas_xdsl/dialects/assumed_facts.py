"""Parameters and text of what `assume` states, in `cuda_tile` and in `nv_tileaa`.

#cuda_tile.div_by<16, every 4 along 1>     #nv_tileaa.bounded<0, ?>

Attributes are compared by the fields of dataclasses, so that these classes, which no
`irdl_attr_definition` decorates, are dataclasses too.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, NoneAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.clauses import Clause, ClausedType, Form
from tileas_xdsl.dialects.interned import NONE, int_attr


def _optional(value: int | None) -> IntAttr | NoneAttr:
    return NONE if value is None else int_attr(value)


def _number(attribute: IntAttr | NoneAttr) -> int | None:
    return attribute.data if isinstance(attribute, IntAttr) else None


def _parse_number(parser: AttrParser) -> int:
    return parser.parse_integer(allow_boolean=False)


@dataclass(frozen=True, init=False)
class DivisibilityAttr(ParametrizedAttribute):
    """Integers, or addresses in bytes, that a number divides.

    With `every` and `along` this holds for the first of every so many neighbours along a dimension,
    and the others count up from it.
    """

    divisor: IntAttr
    every: IntAttr | NoneAttr
    along: IntAttr | NoneAttr

    def __init__(self, divisor: int, every: int | None = None, along: int | None = None) -> None:
        super().__init__(int_attr(divisor), _optional(every), _optional(along))

    @property
    def group(self) -> tuple[int, int] | None:
        """How many neighbours count up from a multiple, and the dimension; None if all are."""
        every, along = _number(self.every), _number(self.along)
        return None if every is None or along is None else (every, along)

    @classmethod
    def parse_divisor(cls, parser: AttrParser) -> int:
        """Read the divisor; a dialect with a message of its own reads it otherwise."""
        return _parse_number(parser)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            divisor = IntAttr(cls.parse_divisor(parser))
            if parser.parse_optional_punctuation(",") is None:
                return divisor, NONE, NONE
            parser.parse_keyword("every")
            every = _parse_number(parser)
            parser.parse_keyword("along")
            return divisor, IntAttr(every), IntAttr(_parse_number(parser))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.divisor.data))
            if (group := self.group) is not None:
                printer.print_string(", every {} along {}".format(*group))


def _parse_bound(parser: AttrParser) -> IntAttr | NoneAttr:
    if parser.parse_optional_punctuation("?") is not None:
        return NONE
    return IntAttr(_parse_number(parser))


BOUND = Form(_parse_bound, lambda bound: "?" if bound == NONE else str(bound.data))


@dataclass(frozen=True, init=False)
class BoundsAttr(ClausedType):
    """Integers, read as signed, between two bounds, both included."""

    low: IntAttr | NoneAttr
    high: IntAttr | NoneAttr

    CLAUSES = (Clause(BOUND), Clause(BOUND))

    def __init__(self, low: int | None = None, high: int | None = None) -> None:
        super().__init__(_optional(low), _optional(high))

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """The smallest and the largest number; None for no bound."""
        return _number(self.low), _number(self.high)
