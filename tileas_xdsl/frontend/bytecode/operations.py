"""How each operation is encoded: a table of opcodes.

After its opcode an operation has, in this order: the ids of its result types; a number of flags,
one bit for each attribute and operand that may be absent; the attributes in the order of their
definition; the operands as numbers of values; the regions.  Facts from `BytecodeOpcodes.td` and
`Ops.td` of NVIDIA/cuda-tile and from the `_bytecode` package of cuda-tile.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.bytecode.layout import READABLE, V13_1, V13_2, V13_3, V13_4, Version

SEGMENT_SIZES = "operandSegmentSizes"
"""The property with the operand segment sizes; bytecode stores them with the operands."""


class Kind(Enum):
    """How an attribute is encoded; enums have the name of their table instead."""

    UNIT = "unit"
    """Only its flag."""
    I32 = "i32"
    I64 = "i64"
    BOOL = "bool"
    STRING = "string"
    SYMBOL = "symbol"
    CONSTANT = "constant"
    """The id of a constant that has the type of the result."""
    I32_ARRAY = "i32 array"
    BOOL_ARRAY = "bool array"
    ARRAY = "array"
    HINTS = "optimization hints"
    TAGGED = "tagged"
    """Any self-describing attribute."""


@dataclass(frozen=True)
class Attribute:
    """An attribute of an operation, under the name that the dialect gives it."""

    name: str
    kind: Kind | str
    """The name of an enumeration of the dialect, or how the value is encoded otherwise."""
    optional: bool = False
    since: Version = V13_1
    default: str = ""
    """The value in versions that do not have the attribute; empty where it is then absent."""


class Arity(Enum):
    """How many values an operand stands for."""

    ONE = ""
    OPTIONAL = "?"
    MANY = "*"


@dataclass(frozen=True)
class Operand:
    """An operand of an operation, under the name that the dialect gives it."""

    name: str
    arity: Arity
    since: Version = V13_1


@dataclass(frozen=True)
class Encoding:
    """How the operation `cuda_tile.NAME` is encoded."""

    opcode: int
    name: str
    results: int | None
    """How many, if that is fixed; None if their number is written first."""
    attributes: tuple[Attribute, ...] = ()
    operands: tuple[Operand, ...] = ()
    segments: bool = False
    """Are the operands of each name counted?  Else one count stands before all of them, which is
    left out if it cannot vary."""
    regions: int = 0
    since: Version = V13_1

    @cached_property
    def flags(self) -> tuple[tuple[str, Version], ...]:
        """What may be absent and since when it exists, lowest bit first."""
        flagged = [(a.since, a.name) for a in self.attributes if a.optional]
        if self.segments:
            flagged += [(o.since, o.name) for o in self.operands if o.arity is Arity.OPTIONAL]
        return tuple((name, since) for since, name in sorted(flagged, key=lambda flag: flag[0]))

    @cached_property
    def flags_since(self) -> Version | None:
        """From which version on there are flags; None if there never are."""
        optional = [a.since for a in self.attributes if a.optional]
        if self.segments:
            optional += [o.since for o in self.operands if o.arity is Arity.OPTIONAL]
        return max(self.since, min(optional)) if optional else None

    @cached_property
    def counts_operands(self) -> bool:
        """Does one count stand before all operands?"""
        return not self.segments and any(o.arity is not Arity.ONE for o in self.operands)


_KINDS: dict[str, Kind] = {kind.value: kind for kind in Kind}
_VERSIONS = {str(version): version for version in READABLE}


def _attribute(text: str) -> Attribute:
    """`name:kind[?][@version[=default]]`."""
    name, kind = text.split(":")
    kind, _, since = kind.partition("@")
    since, _, default = since.partition("=")
    optional = kind.endswith("?") or kind == "unit"
    kind = kind.removesuffix("?").replace("_", " ") if kind.islower() else kind.removesuffix("?")
    return Attribute(name, _KINDS.get(kind, kind), optional, _VERSIONS[since or "13.1"], default)


def _operand(text: str) -> Operand:
    """`name[?|*][@version]`."""
    name, _, since = text.partition("@")
    arity = Arity(name[-1]) if name[-1] in "?*" else Arity.ONE
    return Operand(name.rstrip("?*"), arity, _VERSIONS[since or "13.1"])


def _op(
    opcode: int,
    name: str,
    operands: str = "",
    attributes: str = "",
    *,
    results: int | None = 1,
    segments: bool = False,
    regions: int = 0,
    since: Version = V13_1,
) -> Encoding:
    return Encoding(
        opcode,
        name,
        results,
        tuple(map(_attribute, attributes.split())),
        tuple(map(_operand, operands.split())),
        segments,
        regions,
        since,
    )


_FTZ = "flush_to_zero:unit"
_ROUNDED = f"rounding_mode:RoundingMode {_FTZ}"
_EXTREMUM = f"propagate_nan:unit {_FTZ}"
_SIGNED = "signedness:Signedness"
_OVERFLOW = "overflow:IntegerOverflow"
_ORDER = "memory_ordering_semantics:MemoryOrderingSemantics memory_scope:MemoryScope"
_ACCESS = f"{_ORDER}? optimization_hints:optimization_hints?"

_ENCODINGS = (
    _op(0x00, "absf", "source"),
    _op(0x01, "absi", "source"),
    _op(0x02, "addf", "lhs rhs", _ROUNDED),
    _op(0x03, "addi", "lhs rhs", _OVERFLOW),
    _op(0x04, "andi", "lhs rhs"),
    _op(0x05, "assert", "condition", "message:string", results=0),
    _op(0x06, "assume", "value", "predicate:tagged"),
    _op(0x07, "atomic_cas_tko", "pointers cmp val mask? token?", _ORDER, results=2, segments=True),
    _op(
        0x08,
        "atomic_rmw_tko",
        "pointers arg mask? token?",
        f"{_ORDER} mode:AtomicRMWMode",
        results=2,
        segments=True,
    ),
    _op(0x09, "bitcast", "source"),
    _op(0x0A, "break", "operands*", results=None),
    _op(0x0B, "broadcast", "source"),
    _op(0x0C, "cat", "lhs rhs", "dim:i64"),
    _op(0x0D, "ceil", "source"),
    _op(
        0x0E,
        "cmpf",
        "lhs rhs",
        "comparison_predicate:ComparisonPredicate comparison_ordering:ComparisonOrdering",
    ),
    _op(0x0F, "cmpi", "lhs rhs", f"comparison_predicate:ComparisonPredicate {_SIGNED}"),
    _op(0x10, "constant", "", "value:constant"),
    _op(0x11, "continue", "operands*", results=None),
    _op(0x12, "cos", "source"),
    _op(0x13, "cosh", "source"),
    _op(0x14, "divf", "lhs rhs", _ROUNDED),
    _op(0x15, "divi", "lhs rhs", f"{_SIGNED} rounding:RoundingMode"),
    _op(0x17, "exp", "source", "rounding_mode:RoundingMode@13.3=full"),
    _op(0x18, "exp2", "source", _FTZ),
    _op(0x25, "exti", "from", _SIGNED),
    _op(0x26, "extract", "source indices*", results=None),
    _op(0x27, "floor", "source"),
    _op(0x28, "fma", "lhs rhs acc", _ROUNDED),
    _op(
        0x29,
        "for",
        "lowerBound upperBound step initValues*",
        "unsignedCmp:unit@13.2",
        results=None,
        regions=1,
    ),
    _op(0x2A, "ftof", "from", "rounding_mode:RoundingMode"),
    _op(0x2B, "ftoi", "from", f"{_SIGNED} rounding_mode:RoundingMode saturating:unit@13.4"),
    _op(0x2C, "get_global", "", "name:symbol"),
    _op(0x2D, "get_index_space_shape", "src", results=None),
    _op(0x2E, "get_num_tile_blocks", results=3),
    _op(0x2F, "get_tensor_shape", "src", results=None),
    _op(0x30, "get_tile_block_id", results=3),
    _op(0x32, "if", "condition", results=None, regions=2),
    _op(0x33, "int_to_ptr", "source"),
    _op(0x3A, "iota"),
    _op(0x3B, "itof", "from", f"{_SIGNED} rounding_mode:RoundingMode"),
    _op(0x3C, "join_tokens", "tokens*", results=None),
    _op(
        0x3D,
        "load_ptr_tko",
        "source mask? padding_value? token?",
        _ACCESS,
        results=2,
        segments=True,
    ),
    _op(
        0x3E,
        "load_view_tko",
        "view index* token?",
        f"{_ACCESS} inbounds:bool_array@13.4=false",
        results=None,
        segments=True,
    ),
    _op(0x3F, "log", "source"),
    _op(0x40, "log2", "source"),
    _op(0x41, "loop", "initValues*", results=None, regions=1),
    _op(0x42, "make_partition_view", "tensor_view"),
    _op(
        0x43,
        "make_tensor_view",
        "base dynamicShape* dynamicStrides*",
        results=None,
        segments=True,
    ),
    _op(0x44, "make_token"),
    _op(0x45, "maxf", "lhs rhs", _EXTREMUM),
    _op(0x46, "maxi", "lhs rhs", _SIGNED),
    _op(0x47, "minf", "lhs rhs", _EXTREMUM),
    _op(0x48, "mini", "lhs rhs", _SIGNED),
    _op(0x49, "mmaf", "lhs rhs acc", "fast_acc:unit@13.3"),
    _op(0x4A, "mmai", "lhs rhs acc", "signedness_lhs:Signedness signedness_rhs:Signedness"),
    _op(0x4C, "mulf", "lhs rhs", _ROUNDED),
    _op(0x4D, "mulhii", "x y"),
    _op(0x4E, "muli", "lhs rhs", _OVERFLOW),
    _op(0x4F, "negf", "source"),
    _op(0x50, "negi", "source", f"{_OVERFLOW}@13.2=none"),
    _op(0x51, "offset", "ptr offset"),
    _op(0x52, "ori", "lhs rhs"),
    _op(0x53, "permute", "source", "permutation:i32_array"),
    _op(0x54, "fpowf", "source exponent"),
    _op(0x55, "print_tko", "args* token?@13.2", "str:string", results=None, segments=True),
    _op(0x56, "ptr_to_int", "source"),
    _op(0x57, "ptr_to_ptr", "source"),
    _op(0x58, "reduce", "operands*", "dim:i32 identities:array", results=None, regions=1),
    _op(0x59, "remf", "lhs rhs"),
    _op(0x5A, "remi", "lhs rhs", _SIGNED),
    _op(0x5B, "reshape", "source"),
    _op(0x5C, "return", "operands*", results=None),
    _op(0x5D, "rsqrt", "source", _FTZ),
    _op(
        0x5E,
        "scan",
        "operands*",
        "dim:i32 reverse:bool identities:array",
        results=None,
        regions=1,
    ),
    _op(0x5F, "select", "cond val_if_true val_if_false"),
    _op(0x60, "shli", "lhs rhs", _OVERFLOW),
    _op(0x61, "shri", "lhs rhs", _SIGNED),
    _op(0x62, "sin", "source"),
    _op(0x63, "sinh", "source"),
    _op(0x64, "sqrt", "source", _ROUNDED),
    _op(0x65, "store_ptr_tko", "destination value mask? token?", _ACCESS, segments=True),
    _op(
        0x66,
        "store_view_tko",
        "tile view index* token?",
        f"{_ACCESS} inbounds:bool_array@13.4=false",
        results=None,
        segments=True,
    ),
    _op(0x67, "subf", "lhs rhs", _ROUNDED),
    _op(0x68, "subi", "lhs rhs", _OVERFLOW),
    _op(0x69, "tan", "source"),
    _op(0x6A, "tanh", "source", "rounding_mode:RoundingMode@13.2=full"),
    _op(0x6B, "trunci", "from", _OVERFLOW),
    _op(0x6C, "xori", "lhs rhs"),
    _op(0x6D, "yield", "operands*", results=None),
    _op(0x6E, "atan2", "x y", since=V13_2),
    _op(0x6F, "pack", "source", since=V13_3),
    _op(0x70, "unpack", "source", since=V13_3),
    _op(0x71, "alloca", "", "num_elem:i64 alignment:i64 global:unit", since=V13_3),
    _op(0x72, "mmaf_scaled", "lhs rhs acc lhs_scale rhs_scale", since=V13_3),
    _op(0x73, "make_gather_scatter_view", "tensor_view", since=V13_3),
    _op(0x74, "make_strided_view", "tensor_view", since=V13_3),
    _op(
        0x75,
        "atomic_red_view_tko",
        "view index* value token?",
        f"{_ORDER} mode:AtomicRMWMode inbounds:bool_array@13.5",
        results=None,
        segments=True,
        since=V13_3,
    ),
    _op(0x76, "insert", "source destination indices*", results=None, since=V13_4),
    _op(0x77, "gdc_launch_dependents_tko", "token?", since=V13_4),
    _op(0x78, "gdc_wait_tko", "token?", since=V13_4),
    _op(0x79, "fpowi", "source exponent", since=V13_4),
    _op(0x7A, "memory_fence_alias_tko", "token", since=V13_4),
)

TOKEN_SINCE = {"cuda_tile.print_tko": V13_2}
"""Operations whose only result is a token that came later; the older file has no number for it."""

ENCODINGS = {encoding.opcode: encoding for encoding in _ENCODINGS}
"""By opcode.  Modules, entries and globals have opcodes too, but sections of their own instead."""

BY_NAME = {f"cuda_tile.{encoding.name}": encoding for encoding in _ENCODINGS}
