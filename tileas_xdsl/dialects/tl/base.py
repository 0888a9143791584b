"""What the operations of `tl` share: buffers, their spaces and shapes, clauses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import base
from xdsl.parser import Parser
from xdsl.printer import Printer

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.tl.enums import SpaceAttr
from tileas_xdsl.inference.program import Scope

Value: TypeAlias = SSAValue | Operation
Buffer: TypeAlias = MemRefType[Attribute]

BUFFER = base(MemRefType[Attribute])
"""The constraint of an operand or result that is a buffer."""

_SPACES: Mapping[Scope, str] = {
    Scope.GLOBAL: "global memory",
    Scope.SHARED: "shared memory",
    Scope.FRAGMENT: "a fragment",
    Scope.LOCAL: "local memory",
}
"""How messages call where a buffer lives."""

OpT = TypeVar("OpT", bound=Operation)


def number(value: int | None) -> IntegerAttr | None:
    """An integer as a property; None for none."""
    return None if value is None else IntegerAttr(value, i64)


def scope_of(type_: Attribute) -> Scope | None:
    """Where a buffer lives; None for a type that is no buffer of a kernel."""
    if not isinstance(type_, MemRefType):
        return None
    space = cast("Buffer", type_).memory_space
    if isinstance(space, NoneAttr):
        return Scope.GLOBAL
    return Scope(space.data.value) if isinstance(space, SpaceAttr) else None


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a buffer; `DYNAMIC_INDEX` for those that only run time knows."""
    return tuple(cast("Buffer", type_).get_shape())


def element_of(type_: Attribute) -> Attribute:
    """The element type of a buffer."""
    return cast("Buffer", type_).element_type


def check_scope(op: Operation, what: str, type_: Attribute, allowed: Sequence[Scope]) -> None:
    """Raise where a buffer of `op` lives elsewhere."""
    scope = scope_of(type_)
    if scope in allowed:
        return
    spaces = " or ".join(_SPACES[space] for space in allowed)
    found = "another space" if scope is None else _SPACES[scope]
    raise op_error(op, f"has {what} in {spaces}, not in {found}: {type_}")


def check_static(op: Operation, what: str, type_: Attribute) -> None:
    """Raise where a buffer of `op` has an extent that only run time knows."""
    if DYNAMIC_INDEX in shape_of(type_):
        raise op_error(op, f"has {what} of known extents, not {type_}")


def extents_text(extents: Sequence[int]) -> str:
    """Extents as messages give them: `4x16`."""
    return "x".join("?" if n == DYNAMIC_INDEX else str(n) for n in extents) or "no dimension"


def parse_clauses(parser: Parser) -> dict[str, Attribute]:
    """`attributes {...}`, if it is there."""
    given = parser.parse_optional_attr_dict_with_keyword()
    return {} if given is None else dict(given.data)


def print_clauses(printer: Printer, op: Operation, hidden: Sequence[str] = ()) -> None:
    """`attributes {...}` with all properties but the hidden ones, and all attributes."""
    shown: Mapping[str, Attribute] = {**op.properties, **op.attributes}
    printer.print_op_attributes(dict(shown), reserved_attr_names=hidden, print_keyword=True)


def split_properties(
    given: Mapping[str, Attribute], names: Sequence[str]
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """The properties of these names among what was given, and the rest."""
    properties = {name: value for name, value in given.items() if name in names}
    return properties, {name: v for name, v in given.items() if name not in names}
