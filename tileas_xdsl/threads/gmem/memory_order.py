"""PTX memory semantics and scopes of global accesses, and the barriers they imply."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import FenceProxyAsyncOp
from tileas_xdsl.dialects.nv_tileas.enums import (
    ACQUIRES,
    RELEASES,
    MemScope,
    MemScopeAttr,
    MemSemantic,
    MemSemanticAttr,
)
from tileas_xdsl.dialects.ptx.synchronisation.barriers import FenceOp
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.gmem.pointers.base_arrays import accessed_base
from tileas_xdsl.threads.gmem.token_order import is_behind_nothing
from tileas_xdsl.threads.pipeline.tile_properties import runs_again

SCOPES: Mapping[MemScope, str] = {
    MemScope.TL_BLK: "cta",
    MemScope.CTA: "cta",
    MemScope.CLUSTER: "cluster",
    MemScope.GPU: "gpu",
    MemScope.SYS: "sys",
}


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
        """Make what the access acquires visible to the threads of the agent and to their copies."""
        if self.semantic in ACQUIRES:
            synchronize_agent(e)
            if e.plan.recipes:
                e.insert(FenceProxyAsyncOp("generic"))


WEAK = MemoryOrder(MemSemantic.WEAK, None)
"""The order of accesses that nobody waits for."""


def order(e: ThreadBuilder, op: Operation) -> None:
    """Insert a barrier where an access may conflict with one of another thread before it."""
    place = accessed_base(op)
    assert place is not None
    arrays = e.tiles.rewritten_by(place)
    if not arrays:
        return
    is_ordered = not is_behind_nothing(getattr(op, "token", None))
    if is_ordered and (arrays & e.touched or runs_again(op)):
        synchronize_agent(e)
    e.touched |= arrays
