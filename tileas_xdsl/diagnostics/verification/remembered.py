"""Constraints of an operation are checked once for the same types and attributes.

    %x = arith.addi %a, %b : i32      operand types i32, i32; result type i32; no properties

`OpDef.verify` of xDSL checks counts of operands and results, the constraint of each, and those of
properties and attributes: a function of the types and attributes alone.  A module is verified after
each pass, and most passes leave most operations as they are, so what was right once is looked up:
by the identity of those types and attributes, which are immutable and shared by clones.  Traits
depend on what is around the operation, and are verified each time; so is the whole of an operation
with regions or successors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.irdl import IRDLOperation

if TYPE_CHECKING:
    from collections.abc import Hashable

    from xdsl.ir import Attribute, Operation
    from xdsl.irdl import OpDef

_MAX_ENTRIES = 4096
"""Combinations kept for each operation; beyond it they are forgotten together."""


def remember_structure(kind: type[Operation]) -> None:
    """Make the definition of operations of this class look up what it has verified before."""
    if kind in _seen:
        return
    _seen.add(kind)
    if issubclass(kind, IRDLOperation):
        definition: Any = kind.get_irdl_definition()
        if "verify" not in vars(definition):
            definition.verify = _RememberedStructure(definition)


_seen: set[type[Operation]] = set()


class _RememberedStructure:
    """`OpDef.verify` of one definition, and what it has found right."""

    _definition: OpDef
    _right: dict[Hashable, list[Attribute]]
    """By identities: the types and attributes themselves, so that no identity is used again."""

    def __init__(self, definition: OpDef) -> None:
        self._definition = definition
        self._right = {}

    def __call__(self, op: Operation) -> None:
        if op.regions or op.successors:
            type(self._definition).verify(self._definition, op)
            return
        facts = _facts(op)
        key = (len(op.operands), len(op.results), *op.properties, None, *op.attributes)
        key = (*key, *map(id, facts))
        if key in self._right:
            for trait in self._definition.traits:
                trait.verify(op)
            return
        type(self._definition).verify(self._definition, op)
        if len(self._right) >= _MAX_ENTRIES:
            self._right.clear()
        self._right[key] = facts


def _facts(op: Operation) -> list[Attribute]:
    facts = [value.type for value in op.operands]
    facts += [value.type for value in op.results]
    facts += op.properties.values()
    facts += op.attributes.values()
    return facts
