"""What is known of values without looking: divisors, bounds, equal neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    irdl_attr_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.base import Value, element_of, numbers, shape_of
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.layout.integers import is_power_of_two


def _optional(value: int | None) -> IntAttr | NoneAttr:
    return NoneAttr() if value is None else IntAttr(value)


def _number(attribute: IntAttr | NoneAttr) -> int | None:
    return attribute.data if isinstance(attribute, IntAttr) else None


@irdl_attr_definition
class DivByAttr(ParametrizedAttribute):
    """`#nv_tileaa.div_by<16>`: integers, or addresses in bytes, divided by a power of two.

    `div_by<16, every 8 along 0>`: the first of every 8 elements along dimension 0 is; the others
    of the eight follow it one by one.
    """

    name = "nv_tileaa.div_by"
    divisor: IntAttr
    every: IntAttr | NoneAttr
    along: IntAttr | NoneAttr

    def __init__(self, divisor: int, every: int | None = None, along: int | None = None) -> None:
        super().__init__(IntAttr(divisor), _optional(every), _optional(along))

    @property
    def group(self) -> tuple[int, int] | None:
        """How many neighbours count up from a multiple, and the dimension; None if all are."""
        every, along = _number(self.every), _number(self.along)
        return None if every is None or along is None else (every, along)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            divisor = _parse_number(parser)
            every = along = None
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("every")
                every = _parse_number(parser)
                parser.parse_keyword("along")
                along = _parse_number(parser)
        return IntAttr(divisor), _optional(every), _optional(along)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.divisor.data))
            if (every := _number(self.every)) is not None:
                printer.print_string(f", every {every} along {_number(self.along)}")

    def verify(self) -> None:
        divisor = self.divisor.data
        if not is_power_of_two(divisor):
            raise VerifyException(f"a divisor is a power of two, not {divisor}")
        if (every := _number(self.every)) is not None and every < 1:
            raise VerifyException(f"a group has at least one element, not {every}")


def _parse_number(parser: AttrParser) -> int:
    return parser.parse_integer(allow_boolean=False)


@irdl_attr_definition
class BoundedAttr(ParametrizedAttribute):
    """`#nv_tileaa.bounded<0, ?>`: integers, read as signed, from the first to the last."""

    name = "nv_tileaa.bounded"
    low: IntAttr | NoneAttr
    high: IntAttr | NoneAttr

    def __init__(self, low: int | None = None, high: int | None = None) -> None:
        super().__init__(_optional(low), _optional(high))

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """The smallest and the largest number; None for no bound."""
        return _number(self.low), _number(self.high)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            low = _parse_bound(parser)
            parser.parse_punctuation(",")
            return low, _parse_bound(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            words = ["?" if n is None else str(n) for n in self.bounds]
            printer.print_string(", ".join(words))


def _parse_bound(parser: AttrParser) -> IntAttr | NoneAttr:
    if parser.parse_optional_punctuation("?"):
        return NoneAttr()
    return IntAttr(_parse_number(parser))


@irdl_attr_definition
class SameElementsAttr(ParametrizedAttribute):
    """`#nv_tileaa.same_elements<array<i64: 1, 4>>`: chunks of 1 by 4 neighbours have one value."""

    name = "nv_tileaa.same_elements"
    chunk: DenseArrayBase[IntegerType]

    def __init__(self, chunk: Sequence[int] | DenseArrayBase[IntegerType]) -> None:
        super().__init__(chunk if isinstance(chunk, DenseArrayBase) else numbers(chunk))

    def verify(self) -> None:
        if any(extent < 1 for extent in self.chunk.get_values()):
            raise VerifyException("a chunk has at least one element along each dimension")


ATTRIBUTES = (BoundedAttr, DivByAttr, SameElementsAttr)


@tileas_op
class AssumeOp(TileasOp):
    """A value of which something is known; what breaks the promise has no meaning."""

    name = "nv_tileaa.assume"

    T: ClassVar = VarConstraint("T", AnyAttr())

    source = operand_def(T)
    fact = prop_def()
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$source `,` $fact attr-dict `:` type($result)"

    def __init__(self, source: Value, fact: Attribute) -> None:
        super().__init__(
            operands=[source],
            properties={"fact": fact},
            result_types=[SSAValue.get(source).type],
        )

    def verify_(self) -> None:
        type_: Attribute = self.source.type
        fact = self.fact
        if not isinstance(fact, ATTRIBUTES):
            raise op_error(self, f"states divisors, bounds or equal elements, not {fact}")
        if self.result.type != type_:
            raise op_error(self, f"gives {type_}, not {self.result.type}")
        element = element_of(type_)
        kinds = (IntegerType, PtrType, *((MemRefType,) if isinstance(fact, DivByAttr) else ()))
        if not isinstance(element, kinds):
            raise op_error(self, f"knows facts of integers, pointers and arrays, not of {type_}")
        if isinstance(fact, BoundedAttr) and not isinstance(element, IntegerType):
            raise op_error(self, f"bounds integers, not {type_}")
        rank = len(shape_of(type_))
        if isinstance(fact, SameElementsAttr) and len(fact.chunk) != rank:
            raise op_error(self, f"a chunk of a tile of rank {rank} has as many extents")
        group = fact.group if isinstance(fact, DivByAttr) else None
        if group is not None and not 0 <= group[1] < rank:
            raise op_error(self, f"groups elements along dimension {group[1]} of rank {rank}")
