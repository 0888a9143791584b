"""Handlers of memory tokens, and the ordering that token operands impose on accesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileas.control import FenceAliasOp, FenceOp, GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, MemSemanticAttr
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.ptx.synchronisation.barriers import FenceProxyOp
from tileas_xdsl.dialects.ptx.synchronisation.warp import GriddepcontrolOp
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import Lowered, OrderToken
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder


def check_weak(op: Operation, semantic: MemSemanticAttr | None) -> None:
    """Raise for an access with a memory order: threads can wait for atomic operations only."""
    if semantic is not None and semantic.data is not MemSemantic.WEAK:
        raise op_error(op, f"is {semantic.data.value}; only weak accesses are lowered yet")


def token_of(op: Any) -> Sequence[Lowered]:
    """The token of an access that is done in order."""
    return [OrderToken()] if op.out_token is not None else []


def no_code(e: ThreadBuilder, op: CreateNoneOp | JoinMemTokenOp) -> Sequence[Lowered]:
    """Emit nothing for a token: threads access memory in program order."""
    return [OrderToken()]


def grid_dependency(e: ThreadBuilder, op: GridDependencyOp) -> Sequence[Lowered]:
    """Every thread waits for itself; that one of a block lets dependents start is enough."""
    e.insert(GriddepcontrolOp(op.action.data))
    return token_of(op)


def fence_alias(e: ThreadBuilder, op: FenceAliasOp) -> Sequence[Lowered]:
    """Every thread fences what all threads of the agent have accessed."""
    synchronize_agent(e)
    e.insert(FenceProxyOp(proxy="alias"))
    return token_of(op)


def fence(e: ThreadBuilder, op: FenceOp) -> Sequence[Lowered]:
    """Every thread fences what all threads of the agent have accessed."""
    MemoryOrder.of(op.mem_semantic, op.mem_scope).fence(e)
    return token_of(op)


HANDLERS: Handlers = {
    CreateNoneOp: no_code,
    FenceAliasOp: fence_alias,
    FenceOp: fence,
    GridDependencyOp: grid_dependency,
    JoinMemTokenOp: no_code,
}
