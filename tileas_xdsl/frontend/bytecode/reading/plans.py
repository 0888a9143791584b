"""How each operation is read in one version of the format: `operations`, made ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.bytecode.enumerations import ENUMERATIONS
from tileas_xdsl.frontend.bytecode.layout import Version
from tileas_xdsl.frontend.bytecode.operations import Arity, Encoding, Kind
from tileas_xdsl.frontend.bytecode.operations import Attribute as EncodedAttribute
from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor

Decode: TypeAlias = Callable[[Cursor, Sequence[Attribute]], Attribute]
"""From the bytes of an attribute and the types of the results to the attribute."""


@dataclass(frozen=True)
class PlannedAttribute:
    """An attribute that stands in the file; `mask` is its flag, 0 if it is always there."""

    name: str
    mask: int
    decode: Decode | None
    """None for a unit attribute, which is its flag."""


@dataclass(frozen=True)
class Segment:
    """The operands of one name; `mask` is their flag, 0 if there is none."""

    name: str
    arity: Arity
    mask: int


@dataclass(frozen=True, eq=False)
class Plan:
    """What the bytes of an operation mean in one version."""

    encoding: Encoding
    definition: type[Operation]
    has_flags: bool
    all_flags: int
    attributes: tuple[PlannedAttribute, ...]
    defaults: Mapping[str, Attribute]
    """Attributes that came later, with the value that they have in this version."""
    all_false: str
    """An attribute that came later and is then false for each operand `index`; else empty."""
    segments: tuple[Segment, ...] | None
    """The operand names of an operation with operand segments."""
    operand_count: int
    """How many operands at least, one more for each flag of `operand_flags`."""
    operand_flags: int
    counts_operands: bool
    """Their number stands before them."""
    counts_segments: bool
    """The numbers of operands of some names stand before these."""


def make_plan(
    encoding: Encoding,
    version: Version,
    definition: type[Operation],
    decoder: Callable[[Kind | str], Decode | None],
) -> Plan:
    """Return the decoding plan of an operation in `version`; `decoder` decodes an attribute."""
    masks = flag_masks(encoding, version)
    attributes = tuple(
        PlannedAttribute(attribute.name, masks.get(attribute.name, 0), decoder(attribute.kind))
        for attribute in encoding.attributes
        if attribute.since <= version
    )
    late = {
        attribute.name: default
        for attribute in encoding.attributes
        if attribute.since > version and (default := default_of(attribute)) is not None
    }
    vectors = (a.name for a in encoding.attributes if a.since > version and a.default == "false")
    all_false = next(vectors, "")
    segments = tuple(
        Segment(operand.name, operand.arity, masks.get(operand.name, 0))
        for operand in encoding.operands
    )
    fixed = sum(segment.arity is Arity.ONE for segment in segments)
    return Plan(
        encoding,
        definition,
        bool(masks),
        sum(masks.values()),
        attributes,
        late,
        all_false,
        segments if encoding.segments else None,
        fixed,
        sum(segment.mask for segment in segments),
        encoding.counts_operands,
        encoding.segments and any(s.arity is Arity.MANY for s in segments),
    )


def flag_masks(encoding: Encoding, version: Version) -> dict[str, int]:
    """The flags that an operation has in a version: one bit for each name that may be absent."""
    since = encoding.flags_since
    if since is None or version < since:
        return {}
    return {
        name: 1 << index for index, (name, first) in enumerate(encoding.flags) if first <= version
    }


def default_of(attribute: EncodedAttribute) -> Attribute | None:
    """What an attribute is in versions that do not have it; None if it is absent there."""
    if isinstance(attribute.kind, Kind) or not attribute.default:
        return None
    members = ENUMERATIONS[attribute.kind]
    return next(member for member in members if member.data.value == attribute.default)


def is_default(attribute: EncodedAttribute, value: Attribute) -> bool:
    """Does a version without the attribute mean this value?"""
    if attribute.kind is Kind.BOOL_ARRAY and isinstance(value, DenseArrayBase):
        return not any(value.get_values())
    return value == default_of(attribute)
