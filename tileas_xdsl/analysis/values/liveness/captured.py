"""Values from outside that the regions of operations use, of all operations in one walk."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from xdsl.ir import Operation, Region, SSAValue

from tileas_xdsl.diagnostics.walking import operands_of, operations_of


def captured_values(region: Region) -> Mapping[Operation, AbstractSet[SSAValue]]:
    """Return, for each operation inside that has regions, what these use from outside of it."""
    found: dict[Operation, AbstractSet[SSAValue]] = {}
    _used(region, found)
    return found


def _used(region: Region, found: dict[Operation, AbstractSet[SSAValue]]) -> set[SSAValue]:
    """Return what a region uses from outside of itself, and note it of operations inside."""
    used, defined = set[SSAValue](), set[SSAValue]()
    for block in region.blocks:
        defined.update(block.args)
        for op in operations_of(block):
            used.update(operands_of(op))
            defined.update(op.results)
            if op.regions:
                inside = set[SSAValue]().union(*(_used(inner, found) for inner in op.regions))
                found[op] = inside
                used |= inside
    return used - defined
