"""Values from outside that the regions of operations use, of all operations in one walk.

Values are told apart by identity, as their own hash does in Python: three of four look-ups of an
analysis would call it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.ir import Operation, Region, SSAValue

from tileas_xdsl.diagnostics.walking import operands_of, operations_of


def captured_values(region: Region) -> Mapping[Operation, Collection[SSAValue]]:
    """Return, for each operation inside that has regions, what these use from outside of it."""
    found: dict[Operation, Collection[SSAValue]] = {}
    _used(region, found)
    return found


def _used(region: Region, found: dict[Operation, Collection[SSAValue]]) -> dict[int, SSAValue]:
    """Return what a region uses from outside of itself, and note it of operations inside."""
    used: dict[int, SSAValue] = {}
    defined: list[int] = []
    for block in region.blocks:
        defined += map(id, block.args)
        for op in operations_of(block):
            for value in operands_of(op):
                used[id(value)] = value
            defined += map(id, op.results)
            if op.regions:
                inside: dict[int, SSAValue] = {}
                for inner in op.regions:
                    inside.update(_used(inner, found))
                found[op] = inside.values()
                used.update(inside)
    for key in defined:
        used.pop(key, None)
    return used
