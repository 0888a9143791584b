"""Memory order, tokens and hints that all memory accesses share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cuda_tile.enums import MemoryScope
from tileas_xdsl.dialects.cuda_tile.hints import OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.matches import shape_of
from tileas_xdsl.dialects.nv_tileaa.memory.pointer_access import AccessOp, Order
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import CreateMemTokenOp
from tileas_xdsl.dialects.nv_tileas.control import FenceOp
from tileas_xdsl.dialects.nv_tileas.enums import (
    ACQUIRES,
    RELEASES,
    MemScope,
    MemScopeAttr,
    MemSemantic,
    MemSemanticAttr,
)
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter

_SCOPES: Mapping[MemoryScope, MemScope] = {
    MemoryScope.TL_BLK: MemScope.TL_BLK,
    MemoryScope.DEVICE: MemScope.GPU,
    MemoryScope.SYS: MemScope.SYS,
}


def _ordered(semantic: MemSemantic, scope: MemScope) -> Order:
    return {"mem_semantic": MemSemanticAttr(semantic), "mem_scope": MemScopeAttr(scope)}


@dataclass(frozen=True)
class FencedAccess:
    """The order of an access to tiles, which is relaxed and fenced.

        store_view_tko release device   ->   nv_tileas.fence release gpu
                                             nv_tileaa.tiled_store ... relaxed gpu

    A thread fences once for all its elements: `atom.acq_rel` of each would wait for the one before,
    and neither `red`, vectors of elements, nor updates in shared memory have an order of their own.
    What a single pointer accesses is one instruction, and has its order itself.

    Source: PTX ISA, memory consistency model, release and acquire patterns.
    """

    c: Converter
    order: Order
    """That of the access itself."""
    semantic: MemSemantic
    """What fences add."""
    scope: MemScope | None
    is_awaited: bool = True
    """Whether any access is ordered behind this one, by its token: an acquire is for those."""

    @staticmethod
    def of(c: Converter, op: Any, pointers: SSAValue | None = None) -> FencedAccess:
        """Return the order of a view load, store or update, or of one through `pointers`."""
        semantic = MemSemantic(op.memory_ordering_semantics.data.value)
        if semantic is MemSemantic.WEAK:
            return FencedAccess(c, {}, semantic, None)
        scope = _SCOPES[op.memory_scope.data]
        if pointers is not None and prod(shape_of(pointers.type)) == 1:
            return FencedAccess(c, _ordered(semantic, scope), MemSemantic.RELAXED, None)
        is_awaited = any(op.result_token.uses)
        return FencedAccess(c, _ordered(MemSemantic.RELAXED, scope), semantic, scope, is_awaited)

    def before(self, token: SSAValue | None) -> SSAValue | None:
        """Fence in front of the access if it releases; gives the token that it comes after."""
        if self.semantic not in RELEASES or self.scope is None:
            return token
        return self._fenced(MemSemantic.RELEASE, self.scope, token)

    def after(self, results: Sequence[SSAValue], has_token: bool) -> Sequence[SSAValue]:
        """Fence behind the access if it acquires for another one.

        `results` end with its token, if it has one.
        """
        if self.semantic not in ACQUIRES or self.scope is None or not self.is_awaited:
            return results
        values, token = (results[:-1], results[-1]) if has_token else (results, None)
        behind = self._fenced(MemSemantic.ACQUIRE, self.scope, token)
        return values if behind is None else [*values, behind]

    def _fenced(
        self, semantic: MemSemantic, scope: MemScope, token: SSAValue | None
    ) -> SSAValue | None:
        return self.c.insert(FenceOp(semantic, scope, token)).out_token


def token_before(c: Converter, op: Any) -> SSAValue | None:
    """The token that an access comes after; one is made up if only that behind it is used."""
    if op.token is not None:
        return c.get(op.token)
    if not any(op.result_token.uses):
        return None
    return c.insert(CreateMemTokenOp()).result


def hinted(c: Converter, op: Operation, made: AccessOp) -> AccessOp:
    """Carry the hints for the target along."""
    hints = op.properties.get("optimization_hints")
    if isinstance(hints, OptimizationHintsAttr):
        for name in ("latency", "allow_tma"):
            if (hint := hints.get(c.target, name)) is not None:
                made.properties[name] = _as_property(name, hint)
    return made


def _as_property(name: str, hint: Attribute) -> Attribute:
    if name == "latency" and isinstance(hint, IntegerAttr):
        return IntegerAttr(hint.value.data, i32)
    return hint
