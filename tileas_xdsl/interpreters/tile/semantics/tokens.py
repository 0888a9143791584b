"""Async tokens: placeholders, bridges, and waiting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileas_xdsl.dialects.nv_tileas.control import FenceAliasOp, FenceOp, GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import (
    CreateNoneOp,
    FutureWaitOp,
    ToAsyncOp,
    TokenToAsyncOp,
    WaitOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.turns import TurnOp
from tileas_xdsl.interpreters.tile.execution.agent import Language, Steps
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.semantics.memory_access.tiled_access import after, token_of
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken, finished
from tileas_xdsl.interpreters.tile.synchronization.pipelines import published


def create_none(agent: TileAgent, op: CreateNoneOp, inputs: Sequence[Any]) -> tuple[AsyncToken]:
    """Return a completed token; as a barrier it represents the loads that will use it."""
    return (finished("nothing"),)


def to_async(agent: TileAgent, op: ToAsyncOp, inputs: Sequence[Any]) -> tuple[AsyncToken]:
    """Return a token that delivers a value, or one without results."""
    values = () if op.token.type.delivered is None else (inputs[0],)
    return (finished("a value", values),)


def token_to_async(
    agent: TileAgent, op: TokenToAsyncOp, inputs: Sequence[Any]
) -> tuple[AsyncToken]:
    """Return a token that completes when the published stage can be read."""
    return (published(inputs[0]),)


def wait(agent: TileAgent, op: WaitOp | FutureWaitOp, inputs: Sequence[Any]) -> Steps:
    """Wait for a token; return the values that it delivers, if requested."""
    token: AsyncToken = inputs[0]
    yield from agent.wait_for(token, op)
    return token.values if op.values else ()


def grid_dependency(agent: TileAgent, op: GridDependencyOp, inputs: Sequence[Any]) -> Steps:
    """Wait for nothing: grids run one after the other here, and the next one starts at the end."""
    yield from after(agent, op, op.token)
    return token_of(agent, op.out_token)


def fence_alias(agent: TileAgent, op: FenceAliasOp, inputs: Sequence[Any]) -> Steps:
    """Wait for what comes before: every array has one address here."""
    yield from after(agent, op, op.token)
    return token_of(agent, op.out_token)


def fence(agent: TileAgent, op: FenceOp, inputs: Sequence[Any]) -> Steps:
    """Order relaxed accesses of the agent on one side of the fence with all on the other."""
    yield from after(agent, op, op.token)
    semantic = op.mem_semantic.data
    agent.clock.fence(
        acquires=semantic is not MemSemantic.RELEASE, releases=semantic is not MemSemantic.ACQUIRE
    )
    return token_of(agent, op.out_token)


def turn(agent: TileAgent, op: TurnOp, inputs: Sequence[Any]) -> tuple[()]:
    """Do nothing: the warpgroups of an agent are one here."""
    return ()


TOKENS = Language(
    effects={
        CreateNoneOp: create_none,
        ToAsyncOp: to_async,
        TokenToAsyncOp: token_to_async,
        TurnOp: turn,
    },
    behaviours={
        FenceAliasOp: fence_alias,
        FenceOp: fence,
        FutureWaitOp: wait,
        GridDependencyOp: grid_dependency,
        WaitOp: wait,
    },
)
