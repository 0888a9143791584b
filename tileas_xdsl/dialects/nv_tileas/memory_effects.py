"""What a load does to memory, which depends on how it is ordered."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from xdsl.ir import Operation
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, MemSemanticAttr

_READ = frozenset((EffectInstance(MemoryEffectKind.READ),))
_READ_AND_ORDER = _READ | {EffectInstance(MemoryEffectKind.WRITE)}


class OrderedLoadEffect(MemoryEffect):
    """The operation reads; if it acquires, what comes behind depends on it as on a write."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        semantic = op.properties.get("mem_semantic")
        acquires = isinstance(semantic, MemSemanticAttr) and semantic.data is MemSemantic.ACQUIRE
        return _READ_AND_ORDER if acquires else _READ
