"""Whether what is inside an operation uses values of its own alone.

xDSL's `IsolatedFromAbove` walks from each operand up to the operation.  Here the blocks inside are
found once, and the block of each value is looked up.
"""

from __future__ import annotations

from xdsl.ir import Operation, OpResult
from xdsl.traits import IsolatedFromAbove

from tileas_xdsl.diagnostics.walking import operands_of, operations_of


def is_isolated(op: Operation) -> bool:
    """Whether every value that is used inside is defined inside; isolated operations answer for
    themselves."""
    inside = {id(block) for block in op.walk_blocks()}
    regions = list(op.regions)
    while regions:
        for block in regions.pop().blocks:
            for child in operations_of(block):
                for value in operands_of(child):
                    place = value.op.parent if type(value) is OpResult else value.owner
                    if id(place) not in inside:
                        return False
                if child.regions and not child.has_trait(IsolatedFromAbove):
                    regions += child.regions
    return True
