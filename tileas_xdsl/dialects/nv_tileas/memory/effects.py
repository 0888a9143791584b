"""What operations do to memory: loads by their order, those on tiles by where the tiles are."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from xdsl.dialects.arith import SelectOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, MemSemanticAttr
from tileas_xdsl.dialects.nv_tileas.interfaces import is_tile_structure
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile

_READ = frozenset((EffectInstance(MemoryEffectKind.READ),))
_READ_AND_ORDER = _READ | {EffectInstance(MemoryEffectKind.WRITE)}


class OrderedLoadEffect(MemoryEffect):
    """The operation reads; if it acquires, what comes after depends on it as on a write."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        semantic = op.properties.get("mem_semantic")
        acquires = isinstance(semantic, MemSemanticAttr) and semantic.data is MemSemantic.ACQUIRE
        return _READ_AND_ORDER if acquires else _READ


class TileReadEffect(MemoryEffect):
    """The operation computes a value of tiles; those that may be memory are read when it runs."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        used = (operand for inner in operations_in(op) for operand in inner.operands)
        return _READ if any(map(may_be_memory, used)) else frozenset()


def may_be_memory(value: SSAValue) -> bool:
    """Return whether a tile may alias memory, so that a later write changes its elements.

    Tiles in shared or tensor memory may.  Of the others, pipeline stages, allocations and views of
    them may, also when a loop, a branch or a select forwards them.  What an operation with a body
    computes by element (`generate`) is a value.
    """
    type_ = as_tile(value.type)
    if type_ is None:
        return False
    if space_of(type_) in ON_CHIP:
        return True
    owner = value.owner
    if not isinstance(owner, Operation):
        return True
    if is_tile_structure(owner) or isinstance(owner, SelectOp):
        return True
    return bool(owner.regions) and not owner.has_trait(TileReadEffect)
