"""Operations as a list, in the order of the text, and operands as a tuple: for an analysis.

`Operation.walk` of xDSL is four nested generators: nine calls an operation, for IR that may change
on the way.  A list takes one.  An attention kernel is walked 180 times on the way to PTX, and its
operands are asked for 40,000 times, each time with a new view of them.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

# Properties of xDSL that return a field are calls; these walks read the fields.
# pyright: reportPrivateUsage=false

operands_of: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""Return the operands of an operation as they are now, without the view that changes them."""

successors_of: Callable[[Operation], tuple[Block, ...]] = attrgetter("_successors")
"""Return the successors of an operation, likewise."""

type_of: Callable[[SSAValue], Attribute] = attrgetter("_type")
"""Return the type of a value."""

next_of: Callable[[Operation], Operation | None] = attrgetter("_next_op")
"""Return the operation after another one in its block."""


def operations_in(root: Operation | Region | Block) -> list[Operation]:
    """Return all operations in `root`, itself first if it is one, as `walk` yields them."""
    found: list[Operation] = []
    if type(root) is Region:
        _add_regions((root,), found)
    elif type(root) is Block:
        _add_block(root, found)
    else:  # `isinstance` asks an abstract class
        op: Any = root
        found.append(op)
        _add_regions(op.regions, found)
    return found


def operations_inside_out(root: Operation) -> list[Operation]:
    """Return all operations in `root`, each after those in its regions; itself is the last one."""
    found: list[Operation] = []
    _add_inside_out(root, found)
    return found


def operations_of(block: Block) -> list[Operation]:
    """Return the operations of a block, without those in their regions."""
    found: list[Operation] = []
    op = block._first_op
    while op is not None:
        found.append(op)
        op = op._next_op
    return found


def _add_inside_out(op: Operation, found: list[Operation]) -> None:
    for region in op.regions:
        for block in region.blocks:
            inner = block._first_op
            while inner is not None:
                _add_inside_out(inner, found)
                inner = inner._next_op
    found.append(op)


def _add_regions(regions: tuple[Region, ...], found: list[Operation]) -> None:
    for region in regions:
        block = region._first_block
        while block is not None:
            _add_block(block, found)
            block = block._next_block


def _add_block(block: Block, found: list[Operation]) -> None:
    op = block._first_op
    while op is not None:
        found.append(op)
        if op.regions:
            _add_regions(op.regions, found)
        op = op._next_op
