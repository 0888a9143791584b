"""Whether what is inside an operation uses values of its own alone.

xDSL's `IsolatedFromAbove` walks from each operand up to the operation.  Here the blocks inside, and
those of the values that are used there, are found in one walk.
"""

from __future__ import annotations

from xdsl.ir import Operation, OpResult
from xdsl.traits import IsolatedFromAbove

from tileas_xdsl.diagnostics.walking import operands_of, operations_of


def is_isolated(op: Operation) -> bool:
    """Whether every value that is used inside is defined inside; isolated operations answer for
    themselves."""
    inside, used, regions = set[object](), set[object](), list(op.regions)
    while regions:
        for block in regions.pop().blocks:
            inside.add(block)
            for child in operations_of(block):
                for value in operands_of(child):
                    used.add(value.op.parent if type(value) is OpResult else value.owner)
                if child.regions and not child.has_trait(IsolatedFromAbove):
                    regions += child.regions
    return used <= inside
