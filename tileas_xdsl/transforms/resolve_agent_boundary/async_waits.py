"""Let the agent that issued asynchronous work wait for it before its results are transferred."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import FutureWaitOp, WaitOp, delivered_types
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType
from tileas_xdsl.threads.pipeline.awaited_tokens import WAITS
from tileas_xdsl.transforms.resolve_agent_boundary.crossings import Crossing, crossings
from tileas_xdsl.transforms.resolve_agent_boundary.transfer_plans import Source, crossing_error


def wait_where_issued(switch: AgentSwitchOp) -> None:
    """Replace waits of agents for tokens of others by waits of those who have the tokens."""
    found = [c for c in crossings(switch) if isinstance(c.value.type, AsyncTokenType)]
    for crossing in found:
        _check(crossing)
    for crossing in found:
        waits = [u for users in crossing.users.values() for u in users if isinstance(u, WAITS)]
        if waits:
            _move_waits(crossing, waits)


def _check(crossing: Crossing) -> None:
    """A token that delivers, or one of another agent, is only waited for."""
    type_ = crossing.value.type
    assert isinstance(type_, AsyncTokenType)
    if crossing.definer is None and type_.delivered is None:
        return
    for users in crossing.users.values():
        for user in users:
            if not isinstance(user, WAITS):
                raise crossing_error(crossing, user, "only its own agent waits for a token")
    if type_.delivered is None:
        user = next(iter(crossing.users.values()))[0]
        why = "it delivers nothing that could be transferred; a pipeline orders agents"
        raise crossing_error(crossing, user, why)


def _move_waits(crossing: Crossing, waits: list[WaitOp | FutureWaitOp]) -> None:
    wait = _wait_there(crossing)
    for other in waits:
        for delivered, waited in zip(other.values, wait.values, strict=False):
            delivered.replace_all_uses_with(waited)
        other.detach()
        other.erase()


def _wait_there(crossing: Crossing) -> WaitOp:
    """The wait of the agent that has the token: one is made if there is none."""
    anchor = Source(crossing).anchor
    assert anchor.parent is not None
    if (known := _existing(crossing.value, anchor)) is not None:
        return known
    wait = WaitOp(crossing.value)
    wait.location = anchor.location
    anchor.parent.insert_op_before(wait, anchor)
    return wait


def _existing(token: SSAValue, anchor: Operation) -> WaitOp | None:
    """A wait for the token in the block where it is given, before whatever is transferred."""
    count = len(delivered_types(token.type))
    for use in token.uses:
        wait = use.operation
        if not isinstance(wait, WaitOp) or wait.parent is not anchor.parent:
            continue
        in_time = not isinstance(anchor, AgentSwitchOp) or wait.is_before_in_block(anchor)
        if in_time and len(wait.values) == count:
            return wait
    return None
