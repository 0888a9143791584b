"""The base arrays of accesses to global memory: what a view or pointers may be derived from.

Distinct array arguments of a kernel do not alias unless tokens order them (`token_order`); pointers
of any other source count as one array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import owning_op
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import pointer_of
from tileas_xdsl.dialects.nv_tileaa.types import AATiledViewType
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.atomics import PointedAtomicOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import (
    GatherLoadOp,
    LoadBase,
    ScatterStoreOp,
    StoreBase,
)
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    TiledAtomicRmwOp,
    TiledLoadBase,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType

ATOMICS = (PointedAtomicOp, TiledAtomicRmwOp)
LOADS = (GatherLoadOp, LoadBase, TiledLoadBase)
STORES = (ScatterStoreOp, StoreBase, *ATOMICS, TiledStoreOp)


@dataclass(frozen=True)
class ArrayAccess:
    """The global arrays that an access may read or write."""

    op: Operation
    place: SSAValue
    """The view, the pointer or the tile of pointers."""
    arrays: frozenset[SSAValue]

    @property
    def writes(self) -> bool:
        """Whether the access may write."""
        return isinstance(self.op, STORES)


_ACCESSES = Kinds(*LOADS, *STORES)


def touches(operations: Sequence[Operation]) -> Iterator[ArrayAccess]:
    """The accesses of operations to global memory."""
    for op in operations:
        base = accessed_base(op)
        if base is not None and space_of(base.type) is not Space.SMEM:
            yield ArrayAccess(op, base, origins(base))


def accessed_base(op: Operation) -> SSAValue | None:
    """Return the view or the pointers of an access; None for any other operation."""
    return op.operands[0] if _ACCESSES[type(op)] else None


def origins(value: SSAValue) -> frozenset[SSAValue]:
    """Return the sources of a view or of pointers: arguments, or values of unknown arrays."""
    found: set[SSAValue] = set()
    pending, seen = [value], {value}
    while pending:
        value = pending.pop()
        before = [v for v in _sources(value) if _leads_to_memory(v.type)]
        if not before:
            found.add(value)
        pending += [v for v in before if v not in seen]
        seen.update(before)
    return frozenset(found)


def _sources(value: SSAValue) -> Sequence[SSAValue]:
    """Return the operands that a view or a pointer may be derived from."""
    made = owning_op(value)
    if made is None or made.name == "func.func":
        return ()
    return [operand for op in operations_in(made) for operand in op.operands]


def _leads_to_memory(type_: Attribute) -> bool:
    is_view = isinstance(type_, MemRefType | TiledViewType | AATiledViewType)
    return is_view or pointer_of(type_) is not None


def views_of(view: SSAValue) -> Iterator[ViewOp]:
    """Return the chain of views from this one back to its array."""
    while isinstance(view.owner, ViewOp):
        yield view.owner
        view = view.owner.source
