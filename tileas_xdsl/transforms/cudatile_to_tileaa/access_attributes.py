"""Memory order, tokens and hints that all memory accesses share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.cuda_tile.enums import MemoryScope
from tileas_xdsl.dialects.cuda_tile.hints import OptimizationHintsAttr
from tileas_xdsl.dialects.nv_tileaa.memory import AccessOp, Order
from tileas_xdsl.dialects.nv_tileaa.tokens import CreateMemTokenOp
from tileas_xdsl.dialects.nv_tileas.enums import (
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


def order_of(op: Any) -> Order:
    """How an access is ordered; a weak one has no scope, and says nothing."""
    semantic = MemSemantic(op.memory_ordering_semantics.data.value)
    if semantic is MemSemantic.WEAK:
        return None, None
    return MemSemanticAttr(semantic), MemScopeAttr(_SCOPES[op.memory_scope.data])


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
