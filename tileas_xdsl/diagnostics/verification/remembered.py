"""Constraints of an operation are checked once for the same types and attributes.

    %x = arith.addi %a, %b : i32      operand types i32, i32; result type i32; no properties

`OpDef.verify` of xDSL checks counts of operands and results, the constraint of each, and those of
properties and attributes: a function of the types and attributes alone.  A module is verified after
each pass, and most passes leave most operations as they are, so what was right once is looked up:
by the identity of those types and attributes, which are immutable and shared by clones, and where
a pass has made them anew, by their value.  Traits and rules of an operation may depend on what is
around it, and are verified each time, but for those of dialects that compute numbers, where all is
a function of types and attributes; so is the whole of an operation with regions or successors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xdsl.ir import OpTraits
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsolatedFromAbove, OpTrait

from tileas_xdsl.diagnostics.verification.isolation import is_isolated
from tileas_xdsl.diagnostics.walking import operands_of, successors_of, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from xdsl.ir import Attribute, Operation
    from xdsl.irdl import OpDef

_OF_NUMBERS = ("arith.", "math.", "vector.")
"""Dialects of which no verifier, and no trait's, asks for more than types and attributes."""

_MAX_ENTRIES = 4096
"""Combinations kept for each operation; beyond it they are forgotten together."""


def remember_structure(kind: type[Operation]) -> None:
    """Make the definition of operations of this class look up what it has verified before."""
    if kind in _seen:
        return
    _seen.add(kind)
    if not issubclass(kind, IRDLOperation):
        return
    definition: Any = kind.get_irdl_definition()
    if kind.name.startswith(_OF_NUMBERS) and not definition.regions:
        _remember_rules(kind)
    elif "verify" not in vars(definition):
        definition.verify = _RememberedStructure(definition)


def _remember_rules(kind: Any) -> None:
    """Make operations of this class look up all that `verify_` has found right."""
    rules: Callable[[Any], None] = kind.verify_
    right = FactsFoundRight()

    def verify_once(op: Operation) -> None:
        right.check(op, rules)

    kind.verify_ = verify_once


_seen: set[type[Operation]] = set()


class FactsFoundRight:
    """Operand types, result types and attributes of operations of one class that were right."""

    _right: dict[Hashable, Sequence[Attribute]]
    """By identities: the types and attributes themselves, so that no identity is used again."""
    _equal: set[Hashable]
    """The same by value."""

    def __init__(self) -> None:
        self._right = {}
        self._equal = set()

    def check(self, op: Operation, rule: Callable[[Any], None]) -> None:
        """Apply a rule that asks for these facts alone, unless they were right before.

        Raises what the rule raises; what is wrong is not remembered.
        """
        operands = operands_of(op)
        facts = [*map(type_of, operands), *map(type_of, op.results)]
        facts += op.properties.values()
        facts += op.attributes.values()
        kind = (len(operands), len(op.results), *op.properties, None, *op.attributes)
        key = (*kind, *map(id, facts))
        if key in self._right:
            return
        if (value := (*kind, *facts)) not in self._equal:
            rule(op)
        if len(self._right) >= _MAX_ENTRIES:
            self._right.clear()
            self._equal.clear()
        self._right[key] = facts
        self._equal.add(value)


class _RememberedStructure:
    """`OpDef.verify` of one definition, and what it has found right."""

    _definition: OpDef
    _constraints: OpDef
    """The definition without traits."""
    _all_traits: frozenset[OpTrait] | None
    _traits: Sequence[OpTrait]
    """Those of all traits that verify something."""
    _right: FactsFoundRight

    def __init__(self, definition: OpDef) -> None:
        self._definition = definition
        self._constraints = replace(definition, traits=OpTraits(tuple))
        self._all_traits = None
        self._traits = ()
        self._right = FactsFoundRight()

    def __call__(self, op: Operation) -> None:
        if op.regions or successors_of(op):
            self._constraints.verify(op)
        else:
            self._right.check(op, self._constraints.verify)
        # A class takes traits from others after it was defined.
        if (traits := self._definition.traits.traits) is not self._all_traits:
            self._all_traits = traits
            self._traits = [one for one in traits if type(one).verify is not OpTrait.verify]
        for trait in self._traits:
            if type(trait) is not IsolatedFromAbove or not is_isolated(op):
                trait.verify(op)
