"""Whether a rewrite may cross the operations between two places of a block."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import MemoryEffectKind, get_effects

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.interfaces import is_memory_consistency
from tileas_xdsl.dialects.nv_tileas.shapes.slices import InsertSliceOp


def orders_memory(op: Operation) -> bool:
    """Whether `op`, or anything inside it, takes part in the order of memory effects.

    Operations that write, or whose effects are not known, do.
    """
    if any(is_memory_consistency(inner) for inner in operations_in(op)):
        return True
    effects = get_effects(op)
    return effects is None or any(effect.kind is MemoryEffectKind.WRITE for effect in effects)


def crosses_nothing(start: Operation, end: Operation) -> bool:
    """Whether `start` and `end` are in one block with nothing between them that orders memory."""
    if start.parent is not end.parent:
        return False
    op = start.next_op
    while op is not None and op is not end:
        if orders_memory(op):
            return False
        op = op.next_op
    return op is end


def insert_chain(value: SSAValue, block: Block) -> tuple[list[InsertSliceOp], SSAValue]:
    """The `insert_slice` operations of `block` that lead to `value`, first one first, and the value
    that they begin with."""
    chain: list[InsertSliceOp] = []
    while isinstance(op := value.owner, InsertSliceOp) and op.parent is block:
        chain.append(op)
        value = op.destination
    return chain[::-1], value
