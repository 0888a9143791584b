"""Convert assumptions about values, and assertions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile.memory.unit_strides import is_unit_stride
from tileas_xdsl.dialects.cuda_tile.structure.control import AssertOp
from tileas_xdsl.dialects.cuda_tile.tiles.misc import AssumeOp, PrintTkoOp
from tileas_xdsl.dialects.cuda_tile.types import predicates
from tileas_xdsl.dialects.nv_tileaa import facts, messages
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.memory.access_attributes import token_before


def fact_of(op: AssumeOp) -> Attribute:
    """Return the fact of `nv_tileaa` that an assumption states."""
    match predicate := op.predicate:
        case predicates.DivByAttr():
            return facts.DivByAttr(predicate.divisor.data, *(predicate.group or ()))
        case predicates.BoundedAttr():
            return facts.BoundedAttr(*predicate.bounds)
        case predicates.SameElementsAttr():
            return facts.SameElementsAttr([value.data for value in predicate.values])
        case _:
            raise op_error(op, f"states {predicate}, which is not converted yet")


def assume(c: Converter, op: AssumeOp) -> Sequence[SSAValue]:
    """Convert an `assume`, unless no pass could use what it states.

    Dropped are the divisor of a unit stride, equal neighbours of a scalar, and what an `assume`
    of the same value states already: cuTile repeats divisors behind bounds.
    """
    value, fact = c.get(op.value), fact_of(op)
    if is_unit_stride(op.result) or _is_said(value, fact):
        return [value]
    if isinstance(fact, facts.SameElementsAttr) and not fact.chunk.get_values():
        return [value]
    return [c.insert(facts.AssumeOp(value, fact)).result]


def _is_said(value: SSAValue, fact: Attribute) -> bool:
    while isinstance(owner := value.owner, facts.AssumeOp):
        if owner.fact == fact:
            return True
        value = owner.source
    return False


def assert_(c: Converter, op: AssertOp) -> Sequence[SSAValue]:
    """Ends the kernel unless a condition holds."""
    c.insert(messages.AssertOp(c.get(op.condition), op.message))
    return []


def print_(c: Converter, op: PrintTkoOp) -> Sequence[SSAValue]:
    """Prints text."""
    values = c.get_all(op.args)
    return c.insert(messages.PrintOp(op.format_string, values, token=token_before(c, op))).results


FACTS: Mapping[type[Operation], Rule] = {
    AssertOp: assert_,
    AssumeOp: assume,
    PrintTkoOp: print_,
}
