"""What verification looks at, as one list that is compared by identity.

    func.func @f(%a : i32) { %b = arith.addi %a, %a : i32 ... }
    -> [..., block, region, %a, i32, addi, block, loc, (%a, %a), (), (%b,), i32, None, ...]

Operations, values and blocks are what a pass changes in place; types and attributes are immutable,
and operands and successors are tuples, of which a pass makes another one.
So two equal lists are the same IR, which is valid after a pass if it was before.  Half of the
passes of a pipeline leave a given kernel alone, but for their name on the module, which no verifier
reads.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from tileas_xdsl.diagnostics.walking import operands_of, operations_of, successors_of, type_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Attribute, Operation, Region

LAST_PASS = "nv_tileas.last_pass"
"""The attribute of a module that names the last pass of a compilation that ran on it."""


def snapshot(root: Operation) -> list[object]:
    """Return all that `root` and what is inside refer to, but for the name of the last pass."""
    facts: list[object] = []
    others = {name: value for name, value in root.attributes.items() if name != LAST_PASS}
    _add_operation(root, others, facts)
    return facts


def is_same(old: Sequence[object], new: Sequence[object]) -> bool:
    """Whether two snapshots, both still held, are of the same IR."""
    return len(old) == len(new) and all(map(is_, old, new))


def _add_operation(op: Operation, attributes: Mapping[str, Attribute], facts: list[object]) -> None:
    """One operation; `None` is in front of its attributes, its block says how deep it is."""
    results = op.results
    facts += (op, op.parent, op.location, operands_of(op), successors_of(op), results)
    facts += map(type_of, results)
    if properties := op.properties:
        facts += properties
        facts += properties.values()
    facts.append(None)
    if attributes:
        facts += attributes
        facts += attributes.values()
    for region in op.regions:
        _add_region(region, facts)


def _add_region(region: Region, facts: list[object]) -> None:
    facts += (region, region.parent)
    for block in region.blocks:
        facts += (block, block.parent, *block.args)
        facts += map(type_of, block.args)
        for op in operations_of(block):
            _add_operation(op, op.attributes, facts)
