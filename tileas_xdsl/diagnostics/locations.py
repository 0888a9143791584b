"""From an operation to its place in a file."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.report import Location


def file_location(location: Attribute) -> Location | None:
    """The first file position inside a location attribute, as MLIR's `findInstanceOf` does."""
    match location:
        case FileLineColLoc():
            return Location(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            return file_location(location.location)
        case CallSiteLoc():
            return file_location(location.callee) or file_location(location.caller)
        case FusedLoc():
            return _first_fused(location)
        case _:
            return None


def _first_fused(location: FusedLoc) -> Location | None:
    if not isa(location.locations, ArrayAttr[Attribute]):
        return None
    found = (file_location(part) for part in location.locations)
    return next((place for place in found if place is not None), None)


def location_of(op: Operation) -> Location | None:
    """Where `op` was written, else where the nearest enclosing operation was, else None."""
    current: Operation | None = op
    while current is not None:
        if (place := file_location(current.location)) is not None:
            return place
        current = current.parent_op()
    return None


def name_of(op: Operation) -> str:
    """The name of `op` as it was written, also if no dialect defines it."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name
