"""From an operation to its place in a file, also where a pass forgot to say it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import cast
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, Operation

from tileas_xdsl.diagnostics.report import Location

# Each pass is followed by a walk, which reads the fields of xDSL's classes (`walking.py`).
# pyright: reportPrivateUsage=false


def file_location(location: Attribute) -> Location | None:
    """The first file position inside a location attribute, as MLIR's `findInstanceOf` does."""
    return next(file_locations(location), None)


def file_locations(location: Attribute) -> Iterator[Location]:
    """Yield the file positions inside a location attribute; of a call the callee's come first."""
    match location:
        case FileLineColLoc():
            yield Location(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            yield from file_locations(location.location)
        case CallSiteLoc():
            yield from file_locations(location.callee)
            yield from file_locations(location.caller)
        case FusedLoc():
            if isinstance(location.locations, ArrayAttr):
                for part in cast("ArrayAttr[Attribute]", location.locations):
                    yield from file_locations(part)
        case _:
            return


def location_of(op: Operation) -> Location | None:
    """Where `op` was written, else where the nearest enclosing operation was, else None."""
    current: Operation | None = op
    while current is not None:
        if (found := file_location(current.location)) is not None:
            return found
        current = current.parent_op()
    return None


def locate_lost(root: Operation) -> None:
    """Give what lies inside `root` and has no location that of a neighbour.

    xDSL's passes do not locate what they make.  The neighbour of an operation is the one before it
    in its block, else the first located one after it, else the operation around the block, which
    is that of a block argument too.  An explicit `loc(unknown)` of the input is kept.
    """
    around = [root]
    while around:
        parent = around.pop()
        for region in parent.regions:
            block = region._first_block
            while block is not None:
                locate_arguments(block, parent.location)
                around += _locate_operations(block, parent.location)
                block = block._next_block


_came_in = count()

note_insertion: Callable[[], int] = _came_in.__next__
"""Say that an operation or an argument comes into a block; the answers are consecutive."""

_located: WeakKeyDictionary[Operation, int] = WeakKeyDictionary()
"""The last answer when all that is inside of an operation had a location."""


def locate_new(root: Operation) -> None:
    """As `locate_lost`; nothing is lost where nothing has come into any block since the last time.

    Most passes of a pipeline change nothing of a given kernel.
    """
    now = note_insertion()
    if _located.get(root) != now - 1:
        locate_lost(root)
    _located[root] = now


def locate_arguments(block: Block, location: LocationAttr) -> None:
    """Give the arguments of `block` that have no location this one."""
    for argument in block.args:
        if argument.location is UNKNOWN_LOC:
            argument.location = location


def _locate_operations(block: Block, fallback: LocationAttr) -> list[Operation]:
    """Locate the operations of one block; returns those that have regions."""
    unknown = UNKNOWN_LOC
    with_regions: list[Operation] = []
    lost: list[Operation] = []
    last: LocationAttr | None = None
    op = block._first_op
    while op is not None:
        if op.regions:
            with_regions.append(op)
        if (location := op.location) is unknown:
            lost.append(op)
        else:
            if lost:
                _locate(lost, location if last is None else last)
                lost.clear()
            last = location
        op = op._next_op
    if lost:
        _locate(lost, fallback if last is None else last)
    return with_regions


def _locate(ops: list[Operation], location: LocationAttr) -> None:
    for op in ops:
        op.location = location


def name_of(op: Operation) -> str:
    """The name of `op` as it was written, also if no dialect defines it."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name
