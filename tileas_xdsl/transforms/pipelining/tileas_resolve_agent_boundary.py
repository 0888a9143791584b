"""The pass `tileas-resolve-agent-boundary`: transfer values that cross agents.

What every agent reaches by itself is left alone or computed again; tiles in registers go through
shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.verification.dominance import OPEN_BOUNDARY
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.transforms.resolve_agent_boundary.async_waits import wait_where_issued
from tileas_xdsl.transforms.resolve_agent_boundary.crossings import (
    SHARED_SPACES,
    Crossing,
    crossings,
    is_constant,
    is_in_place,
    is_recomputed,
    is_register_storage,
    is_storage,
    memory_space,
    sink_storage,
)
from tileas_xdsl.transforms.resolve_agent_boundary.deadlock_check import find_cycle
from tileas_xdsl.transforms.resolve_agent_boundary.rematerialization import Rematerialization
from tileas_xdsl.transforms.resolve_agent_boundary.transfer_code import (
    next_transfer_id,
    transfer_by_pipeline,
    transfer_in_block,
)
from tileas_xdsl.transforms.resolve_agent_boundary.transfer_plans import (
    Transfer,
    crossing_error,
    plan,
)


@dataclass(frozen=True)
class TileasResolveAgentBoundary(ModulePass):
    """Transfer values that cross the boundary of an `agent_switch`.

    Analysis, then rewrite: all transfers of a switch are planned together, and checked for cycles.

    Input: laid out tiles.  A switch whose agents use values of one another, or which is isolated
    and uses values from outside, has the attribute `nv_tileas.open_boundary`.

    Output: no such switch.  Constants, scalars, views, descriptors, memory, pipelines and their
    tokens cross as they are: another agent's are computed again, or made before the switch.  Tiles
    in registers go through shared memory: `alloc_tensor`, `copy`, `convert_layout` to the layout
    that the agent wants.  Tiles of the code around the switch are put down before it, and all
    threads meet (`gpu.barrier`).  Tiles of another agent take a pipeline, of one stage outside of
    loops; loops that both agents run in step carry its tokens.  Each buffer has a record
    `nv_tileas.handoff` for buffer assignment.

    Deterministic and idempotent.  What cannot cross is an error at the operation that uses it: the
    pipeline stops, and the module is valid as it is left, its boundary still open.
    """

    name = "tileas-resolve-agent-boundary"

    loop_stages: int = 2
    """Stages of a pipeline in a loop, where no schedule says how far its two ends are apart."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.loop_stages < 1:
            raise op_error(op, f"loop-stages is at least 1, not {self.loop_stages}", prefix=False)
        number = next_transfer_id(op)
        switches = instances_in(op, AgentSwitchOp)
        for switch in switches:
            number = _resolve(switch, self.loop_stages, number)


def _resolve(switch: AgentSwitchOp, loop_stages: int, number: int) -> int:
    """Close the boundary of one switch, those around it are closed; the next number.

    Transfers have the numbers from `number` on.
    """
    wait_where_issued(switch)
    for crossing in crossings(switch):
        sink_storage(crossing)
    _rematerialize(switch)
    transfers = [plan(crossing, loop_stages) for crossing in _tiles_to_transfer(switch)]
    if (stuck := find_cycle(switch, transfers)) is not None:
        user = next(iter(stuck.crossing.users.values()))[0]
        why = "each of the two agents waits for the other to go first"
        raise crossing_error(stuck.crossing, user, why)
    of_block = [transfer for transfer in transfers if _is_defined_by_block(transfer)]
    transfer_in_block(of_block, number)
    number += len(of_block)
    for transfer in transfers:
        if not _is_defined_by_block(transfer):
            number = transfer_by_pipeline(transfer, number)
    switch.attributes.pop(OPEN_BOUNDARY, None)
    return number


def _rematerialize(switch: AgentSwitchOp) -> None:
    """Clone cheap operations and uniform values into the agents that use them."""
    reach = Rematerialization(switch)
    found = [crossing for crossing in crossings(switch) if not _is_direct(crossing)]
    for crossing in found:
        for user, agent in _uses(crossing):
            why = reach.problem(crossing.value, user, agent)
            if why is not None and not _is_to_copy(crossing):
                raise crossing_error(crossing, user, why)
    for crossing in found:
        uses = list(_uses(crossing))
        if any(reach.problem(crossing.value, user, agent) for user, agent in uses):
            continue
        for user, agent in uses:
            value = _rematerialized(reach, crossing, user, agent)
            user.operands = [value if v is crossing.value else v for v in user.operands]


def _rematerialized(
    reach: Rematerialization, crossing: Crossing, user: Operation, agent: int
) -> SSAValue:
    """The value for a user; a tile of the code around that needs no other one is made again."""
    value = crossing.value
    if _is_tile(crossing) and isinstance(value, OpResult) and is_recomputed(value.op):
        return reach.remake(value, user, agent)
    return reach.bring(value, user, agent)


def _uses(crossing: Crossing) -> Iterator[tuple[Operation, int]]:
    return ((user, agent) for agent, users in crossing.users.items() for user in users)


def _is_tile(crossing: Crossing) -> bool:
    return isinstance(crossing.value.type, TensorType)


def _is_to_copy(crossing: Crossing) -> bool:
    """Whether another agent may have a copy: storage that all of them reach is one thing."""
    if not _is_tile(crossing):
        return False
    return not is_storage(crossing.value) or is_register_storage(crossing.value)


def _is_direct(crossing: Crossing) -> bool:
    """Whether agents use a value of the code around as it is, or a tile must be transferred."""
    switch, value = crossing.switch, crossing.value
    if crossing.definer is not None or switch.isolated.value.data:
        return False
    if not _is_tile(crossing) or is_constant(value) or memory_space(value) in SHARED_SPACES:
        return True
    return all(is_in_place(switch, agent, value.type) for agent in crossing.users)


def _tiles_to_transfer(switch: AgentSwitchOp) -> Sequence[Crossing]:
    return [c for c in crossings(switch) if _is_tile(c) and not _is_direct(c)]


def _is_defined_by_block(transfer: Transfer) -> bool:
    """Whether all threads of the block run the code that gives the tile."""
    crossing = transfer.crossing
    return crossing.definer is None and enclosing(crossing.switch, AgentSwitchOp) is None
