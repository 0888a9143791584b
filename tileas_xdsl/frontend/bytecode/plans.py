"""How each operation is read in one version of the format: `operations`, made ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrSizedOperandSegments

from tileas_xdsl.frontend.bytecode.layout import Version
from tileas_xdsl.frontend.bytecode.operations import ENCODINGS, Arity, Encoding, Operand

Decode: TypeAlias = Callable[[int, Sequence[Attribute]], tuple[Attribute, int]]
"""From a position in the function and the types of the results to an attribute and its end."""


@dataclass(frozen=True)
class Plan:
    """What a reader does after an opcode."""

    definition: type[Operation]
    name: str
    results: int
    """How many; -1 if their number is read."""
    has_flags: bool
    known_flags: int
    attributes: tuple[tuple[str, int, Decode | None], ...]
    """Name, mask of its flag (0 if it is always there), and how it is read; units are not."""
    defaults: Mapping[str, Attribute]
    """Attributes that this version does not have yet."""
    operands: int
    """How many, if that is all there is to know; -1 if their number is read; -2 for segments."""
    segments: tuple[tuple[str, int], ...]
    """Kind of each segment, one of `?*` or nothing, and the mask of its flag."""
    segment_sizes: str
    """The property that has the sizes of the segments; empty if the operation has none."""
    regions: int


def segment_sizes_property(definition: type[Operation]) -> str:
    """The name of the property with the sizes of operand segments; empty if there is none."""
    options = definition.get_irdl_definition().options  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    for option in options:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(option, AttrSizedOperandSegments):
            return AttrSizedOperandSegments.attribute_name
    return ""
