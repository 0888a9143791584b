"""What verification looks at, as one list that is compared by identity.

    func.func @f(%a : i32) { %b = arith.addi %a, %a : i32 ... }
    -> [..., block, region, %a, i32, addi, block, loc, %a, %a, None, i32, None, None, None, ...]

Operations, values and blocks are what a pass changes in place; types and attributes are immutable.
So two equal lists are the same IR, which is valid after a pass if it was before.  Half of the
passes of a pipeline leave a given kernel alone.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Operation, Region


def snapshot(root: Operation) -> list[object]:
    """Everything inside `root` that an operation, a block or a region refers to."""
    facts: list[object] = []
    _add_operation(root, facts)
    return facts


def is_same(old: Sequence[object], new: Sequence[object]) -> bool:
    """Whether two snapshots, both still held, are of the same IR."""
    return len(old) == len(new) and all(map(is_, old, new))


def _add_operation(op: Operation, facts: list[object]) -> None:
    """One operation; `None` separates lists, its block says at which depth it is."""
    facts += (op, op.parent, op.location, *op.operands, *op.successors, None)
    facts += [value.type for value in op.results]
    facts.append(None)
    for named in (op.properties, op.attributes):
        facts += named
        facts += named.values()
        facts.append(None)
    for region in op.regions:
        _add_region(region, facts)


def _add_region(region: Region, facts: list[object]) -> None:
    facts += (region, region.parent)
    for block in region.blocks:
        facts += (block, block.parent, *block.args)
        facts += [argument.type for argument in block.args]
        for op in block.ops:
            _add_operation(op, facts)
