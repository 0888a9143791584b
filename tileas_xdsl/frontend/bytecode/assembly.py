"""Making operations quickly: the fields of xDSL's classes, set one by one.

`Operation.create` and `Block.add_op` check what a reader knows already and take four times as long.
Only this file touches what xDSL keeps private.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues


def append_operation(
    block: Block,
    definition: type[Operation],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: dict[str, Attribute],
    location: LocationAttr,
) -> Operation:
    """A new operation without regions at the end of `block`, which takes `properties` over."""
    op = object.__new__(definition)
    uses: list[Use] = []
    for index, operand in enumerate(operands):
        use = Use(op, index)
        first = operand.first_use
        if first is not None:
            use._next_use = first
            first._prev_use = use
        operand.first_use = use
        uses.append(use)
    op._operands = SSAValues(operands)
    op._operand_uses = tuple(uses)
    op.results = SSAValues([OpResult(type_, op, i) for i, type_ in enumerate(result_types)])
    op._successors = ()
    op._successor_uses = ()
    op.properties = properties
    op.attributes = {}
    op.location = location
    op.regions = ()
    op.parent = block
    op._next_op = None
    op._prev_op = last = block._last_op
    if last is None:
        block._first_op = op
    else:
        last._next_op = op
    block._last_op = op
    return op


def append_region(op: Operation) -> Region:
    """A new region without blocks, the last one of `op`."""
    region = Region()
    op.add_region(region)
    return region


@contextmanager
def without_collection() -> Generator[None]:
    """No cycles are collected meanwhile: everything that is made stays, and it is a lot."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
