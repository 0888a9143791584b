"""Operations as a list, in the order of the text: what an analysis looks at.

`Operation.walk` of xDSL is four nested generators: nine calls an operation, for IR that may change
on the way.  A list takes one.  An attention kernel is walked 180 times on the way to PTX.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region


def operations_in(root: Operation | Region | Block) -> list[Operation]:
    """Return all operations in `root`, itself first if it is one, as `walk` yields them."""
    found: list[Operation] = []
    match root:
        case Operation():
            found.append(root)
            for region in root.regions:
                _add_region(region, found)
        case Region():
            _add_region(root, found)
        case Block():
            _add_block(root, found)
    return found


def _add_region(region: Region, found: list[Operation]) -> None:
    for block in region.blocks:
        _add_block(block, found)


def _add_block(block: Block, found: list[Operation]) -> None:
    op = block.first_op
    while op is not None:
        found.append(op)
        for region in op.regions:
            _add_region(region, found)
        op = op.next_op
