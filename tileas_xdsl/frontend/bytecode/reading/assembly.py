"""Making operations and locations quickly: the fields of xDSL's classes, set one by one.

`Operation.create` and `Block.add_op` check what a reader knows already, and `__init__` sets what
has a default: together they take five times as long.  Only this file touches what xDSL keeps
private.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation

from tileas_xdsl.dialects.interned import int_attr

NO_VALUES: SSAValues[Any] = SSAValues()
_new = object.__new__
_set = object.__setattr__


def defined(kind: type[Operation]) -> type[Operation]:
    """Return a class whose fields are read: what `append_operation` makes does not ask for them."""
    if issubclass(kind, IRDLOperation):
        kind.get_irdl_definition()
    return kind


def append_operation(
    block: Block,
    definition: type[Operation],
    operands: SSAValues[SSAValue],
    result_types: Sequence[Attribute],
    properties: dict[str, Attribute],
    location: LocationAttr,
) -> Operation:
    """A new operation without regions at the end of `block`, which takes `properties` over."""
    op = _new(definition)
    op._operands = operands
    uses: list[Use] = []
    for operand in operands:
        use = _new(Use)
        use._operation = op
        use._index = len(uses)
        first = operand.first_use
        if first is not None:
            use._next_use = first
            first._prev_use = use
        operand.first_use = use
        uses.append(use)
    op._operand_uses = tuple(uses)
    if len(result_types) == 1:
        result = _new(OpResult)
        result._type = result_types[0]
        result.op = op
        result.index = 0
        op.results = SSAValues((result,))
    else:
        op.results = _results(op, result_types) if result_types else NO_VALUES
    op.properties = properties
    op.attributes = {}
    op.location = location
    op.parent = block
    op._prev_op = last = block._last_op
    if last is None:
        block._first_op = op
    else:
        last._next_op = op
    block._last_op = op
    return op


def give_result(op: Operation, type_: Attribute) -> None:
    """Give a result to an operation that has none."""
    op.results = _results(op, (type_,))


def _results(op: Operation, types: Sequence[Attribute]) -> SSAValues[OpResult]:
    results: list[OpResult] = []
    for type_ in types:
        result = _new(OpResult)
        result._type = type_
        result.op = op
        result.index = len(results)
        results.append(result)
    return SSAValues(results)


def append_region(op: Operation) -> Region:
    """A new region without blocks, the last one of `op`."""
    region = _new(Region)
    region.parent = op
    op.regions += (region,)
    return region


def append_block(region: Region, types: Sequence[Attribute], location: LocationAttr) -> Block:
    """A block without operations, the last one of `region`, whose arguments are of these types."""
    block = _new(Block)
    arguments: list[BlockArgument] = []
    for type_ in types:
        argument = _new(BlockArgument)
        argument._type = type_
        argument.block = block
        argument.index = len(arguments)
        argument.location = location
        arguments.append(argument)
    block._args = tuple(arguments)
    block._first_op = block._last_op = None
    block.parent = region
    block._prev_block = last = region._last_block
    if last is None:
        region._first_block = block
    else:
        last._next_block = block
    region._last_block = block
    return block


def place_in_scope(file: StringAttr, line: int, column: int, scope: Attribute) -> FusedLoc:
    """Return a location fused with its scope; the constructors check the types."""
    place = _new(FileLineColLoc)
    _set(place, "filename", file)
    _set(place, "line", int_attr(line))
    _set(place, "column", int_attr(column))
    fused = _new(FusedLoc)
    _set(fused, "locations", ArrayAttr([place]))
    _set(fused, "metadata", scope)
    return fused


@contextmanager
def without_collection() -> Generator[None]:
    """No cycles are collected meanwhile, since everything that is made stays."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
