"""The keyword enums of `cuda_tile`, in the order of their bytecode values.

The order of the members of an enum is the numbering that Tile IR bytecode uses (`AttrDefs.td` of
the open dialect): the first is 0.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.utils import EnumAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum


class Signedness(StrEnum):
    """How the integers of an operand are read."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"


class IntegerOverflow(StrEnum):
    """What may be assumed about wrap-around of an integer operation."""

    NONE = "none"
    NSW = "no_signed_wrap"
    NUW = "no_unsigned_wrap"
    NW = "no_wrap"


class RoundingMode(StrEnum):
    """How a result is rounded, and how exact it has to be."""

    NEAREST_EVEN = "nearest_even"
    ZERO = "zero"
    NEGATIVE_INF = "negative_inf"
    POSITIVE_INF = "positive_inf"
    APPROX = "approx"
    FULL = "full"
    NEAREST_INT_TO_ZERO = "nearest_int_to_zero"
    NEAREST_AWAY = "nearest_away"


class ComparisonOrdering(StrEnum):
    """What a comparison with NaN gives: true if unordered."""

    UNORDERED = "unordered"
    ORDERED = "ordered"


class ComparisonPredicate(StrEnum):
    """The relation that a comparison tests."""

    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    LESS_THAN = "less_than"
    LESS_THAN_OR_EQUAL = "less_than_or_equal"
    GREATER_THAN = "greater_than"
    GREATER_THAN_OR_EQUAL = "greater_than_or_equal"


class AtomicRMWMode(StrEnum):
    """What an atomic read-modify-write does."""

    AND = "and"
    OR = "or"
    XOR = "xor"
    ADD = "add"
    ADDF = "addf"
    MAX = "max"
    MIN = "min"
    UMAX = "umax"
    UMIN = "umin"
    XCHG = "xchg"


class MemoryScope(StrEnum):
    """The scope of memory ordering: which threads may access the memory concurrently."""

    TL_BLK = "tl_blk"
    DEVICE = "device"
    SYS = "sys"


class MemoryOrderingSemantics(StrEnum):
    """How a memory access is ordered against others."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"


class PaddingValue(StrEnum):
    """What a load through a view delivers out of bounds."""

    ZERO = "zero"
    NEG_ZERO = "neg_zero"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"


class SymbolVisibility(StrEnum):
    """Whether the host can reach a global."""

    PUBLIC = "public"
    PRIVATE = "private"


class PtrClass(StrEnum):
    """The classification of a pointer; the public dialect has one only."""

    NONE = "none"


class _AngleBrackets:
    """An enum attribute with its keyword in angle brackets: `#cuda_tile.rounding<zero>`."""

    def print_parameter(self, printer: Printer) -> None:
        word = cast(StrEnum, cast(Any, self).data)
        with printer.in_angle_brackets():
            printer.print_string(word.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(cast(Any, cls).enum_type)


@irdl_attr_definition
class SignednessAttr(_AngleBrackets, EnumAttribute[Signedness]):
    """`#cuda_tile.signedness<signed>`."""

    name = "cuda_tile.signedness"


@irdl_attr_definition
class IntegerOverflowAttr(_AngleBrackets, EnumAttribute[IntegerOverflow]):
    """`#cuda_tile.overflow<no_wrap>`."""

    name = "cuda_tile.overflow"


@irdl_attr_definition
class RoundingModeAttr(_AngleBrackets, EnumAttribute[RoundingMode]):
    """`#cuda_tile.rounding<nearest_even>`."""

    name = "cuda_tile.rounding"


@irdl_attr_definition
class ComparisonOrderingAttr(_AngleBrackets, EnumAttribute[ComparisonOrdering]):
    """`#cuda_tile.comparison_ordering<ordered>`."""

    name = "cuda_tile.comparison_ordering"


@irdl_attr_definition
class ComparisonPredicateAttr(_AngleBrackets, EnumAttribute[ComparisonPredicate]):
    """`#cuda_tile.comparison_predicate<less_than>`."""

    name = "cuda_tile.comparison_predicate"


@irdl_attr_definition
class AtomicRMWModeAttr(_AngleBrackets, EnumAttribute[AtomicRMWMode]):
    """`#cuda_tile.atomic_rmw_mode<addf>`."""

    name = "cuda_tile.atomic_rmw_mode"


@irdl_attr_definition
class MemoryScopeAttr(_AngleBrackets, EnumAttribute[MemoryScope]):
    """`#cuda_tile.memory_scope<device>`."""

    name = "cuda_tile.memory_scope"


@irdl_attr_definition
class MemoryOrderingSemanticsAttr(_AngleBrackets, EnumAttribute[MemoryOrderingSemantics]):
    """`#cuda_tile.memory_ordering_semantics<weak>`."""

    name = "cuda_tile.memory_ordering_semantics"


@irdl_attr_definition
class PaddingValueAttr(_AngleBrackets, EnumAttribute[PaddingValue]):
    """`#cuda_tile.padding_value<zero>`."""

    name = "cuda_tile.padding_value"


@irdl_attr_definition
class SymbolVisibilityAttr(_AngleBrackets, EnumAttribute[SymbolVisibility]):
    """`#cuda_tile.symbol_visibility<private>`."""

    name = "cuda_tile.symbol_visibility"


@irdl_attr_definition
class PtrAttr(_AngleBrackets, EnumAttribute[PtrClass]):
    """`#cuda_tile.ptr_attr<none>`: a pointer type with it differs from one without."""

    name = "cuda_tile.ptr_attr"


ATTRIBUTES = (
    AtomicRMWModeAttr,
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    IntegerOverflowAttr,
    MemoryOrderingSemanticsAttr,
    MemoryScopeAttr,
    PaddingValueAttr,
    PtrAttr,
    RoundingModeAttr,
    SignednessAttr,
    SymbolVisibilityAttr,
)
