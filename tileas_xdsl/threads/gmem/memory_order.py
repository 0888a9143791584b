"""PTX memory semantics and scopes of global accesses, and the barriers they imply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScope,
    MemScopeAttr,
    MemSemantic,
    MemSemanticAttr,
)
from tileas_xdsl.dialects.ptx.synchronisation.barriers import FenceOp
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder

SCOPES: Mapping[MemScope, str] = {
    MemScope.TL_BLK: "cta",
    MemScope.CTA: "cta",
    MemScope.CLUSTER: "cluster",
    MemScope.GPU: "gpu",
    MemScope.SYS: "sys",
}

RELEASES = (MemSemantic.RELEASE, MemSemantic.ACQ_REL)
ACQUIRES = (MemSemantic.ACQUIRE, MemSemantic.ACQ_REL)


@dataclass(frozen=True)
class MemoryOrder:
    """How loads, stores and updates are ordered against other accesses."""

    semantic: MemSemantic
    scope: str | None

    @staticmethod
    def of(semantic: MemSemanticAttr | None, scope: MemScopeAttr | None) -> MemoryOrder:
        """Return the memory order of the attributes; weak without them, scope `gpu` by default."""
        known = MemSemantic.WEAK if semantic is None else semantic.data
        if known is MemSemantic.WEAK:
            return MemoryOrder(known, None)
        return MemoryOrder(known, SCOPES[MemScope.GPU if scope is None else scope.data])

    @property
    def semantics(self) -> str | None:
        """PTX's name; None for the usual one."""
        return None if self.semantic is MemSemantic.WEAK else self.semantic.value

    def begin(self, e: ThreadBuilder) -> None:
        """What all threads of the agent did before is released with the access."""
        if self.semantic in RELEASES:
            synchronize_agent(e)

    def fence(self, e: ThreadBuilder) -> None:
        """Fence in every thread; what the agent did or learnt is that of all its threads."""
        assert self.scope is not None
        self.begin(e)
        e.insert(FenceOp("acq_rel", self.scope))
        self.end(e)

    def end(self, e: ThreadBuilder) -> None:
        """What the access acquires is known to all threads of the agent."""
        if self.semantic in ACQUIRES:
            synchronize_agent(e)


WEAK = MemoryOrder(MemSemantic.WEAK, None)
"""The order of accesses that nobody waits for."""
