"""Find the values that cross into the bodies of an `agent_switch`, and their memory spaces.

    %t = nv_tileas.tiled_load ... : tensor<64xf32, #rA>        all threads of the block
    nv_tileas.async.pipeline.agent_switch ... {
      "use"(%t)                                                agent 0: %t crosses
    }

A crossing is left alone (shared memory, constants), recomputed in the agent (scalars, views), or
transferred through shared memory (tiles in registers); `transfer_code` shows what is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects import gpu
from xdsl.dialects.builtin import FixedBitwidthType, IndexType, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import ConstantLike

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.nv_tileas.attributes import (
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
)
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.interfaces import is_tile_structure
from tileas_xdsl.dialects.nv_tileas.pipelines.agent_checks import captures, int_values
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, pipelines_of
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.types import IteratorType
from tileas_xdsl.layout.units import WARP

_COMPUTING = ("arith", "math")
"""Dialects whose operations compute and do nothing else; divisions do not say so themselves."""

_IDS = (gpu.BlockIdOp, gpu.GridDimOp, gpu.BlockDimOp)

SHARED_SPACES = (Space.SMEM, Space.TMEM, Space.GMEM)
"""Memory that all threads of a block reach."""


@dataclass(frozen=True)
class Crossing:
    """A value that bodies of a switch use and another body, or the code around, defines."""

    switch: AgentSwitchOp
    value: SSAValue
    definer: int | None
    """The agent that defines it; None for the code around the switch."""
    users: dict[int, list[Operation]]
    """By the agents that use it, in the order of the text."""


def crossings(switch: AgentSwitchOp) -> list[Crossing]:
    """Every value that crosses the boundary of a switch, in the order of the first uses."""
    found: dict[SSAValue, Crossing] = {}
    for agent, body in enumerate(switch.agent_bodies):
        for op, value in dict.fromkeys(captures(body)):
            if value not in found:
                found[value] = Crossing(switch, value, agent_of(switch, value), {})
            found[value].users.setdefault(agent, []).append(op)
    return list(found.values())


def block_of(value: SSAValue) -> Block:
    """The block that defines a value."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    assert block is not None
    return block


def agent_of(switch: AgentSwitchOp, value: SSAValue) -> int | None:
    """The agent of a switch that defines a value; None if another operation does."""
    block = block_of(value)
    bodies = enumerate(switch.agent_bodies)
    return next((k for k, body in bodies if body.is_ancestor(block)), None)


def title(value: SSAValue) -> str:
    """A value as messages call it."""
    return "a value" if value.name_hint is None else f"%{value.name_hint}"


def who(agent: int | None) -> str:
    """An agent as messages call it."""
    return "the code around" if agent is None else f"agent {agent}"


def tile_of(value: SSAValue) -> Tile | None:
    """The type of a value that is a tile."""
    return as_tile(value.type)


def is_constant(value: SSAValue) -> bool:
    """Whether every agent can make the value by itself."""
    return isinstance(value, OpResult) and value.op.has_trait(ConstantLike)


def is_recomputed(op: Operation) -> bool:
    """Whether another agent gets the same results if it runs the operation itself.

    Windows name memory and do not read it; other operations on tiles might.
    """
    if op.regions or not op.results:
        return False
    if isinstance(op, _IDS):
        return True
    tiles = any(isinstance(operand.type, TensorType) for operand in op.operands)
    if tiles and not (is_tile_structure(op) and memory_space(op.results[0]) in SHARED_SPACES):
        return False
    return op.dialect_name() in _COMPUTING or is_side_effect_free(op)


def storage_of(tile: SSAValue) -> SSAValue:
    """The value whose storage a tile is a window of, the tile itself where it is a value."""
    while isinstance(tile, OpResult) and is_tile_structure(tile.op) and tile.op.operands:
        tile = tile.op.operands[0]
    return tile


def memory_space(tile: SSAValue) -> Space | None:
    """Where a tile lives: by its type, else by that of its storage; None for a plain value."""
    if (space := space_of(tile.type)) is not None:
        return space
    origin = storage_of(tile)
    if isinstance(origin, BlockArgument) and isinstance(op := origin.block.parent_op(), StageOp):
        return _space_of_stage(op)
    return space_of(origin.type)


def _space_of_stage(op: StageOp) -> Space | None:
    """Where the stages of a pipeline are: by its iterator, else by its buffer."""
    types = [operand.type for operand in op.operands]
    for type_ in types:
        if isinstance(type_, IteratorType) and isinstance(type_.space, SpaceAttr):
            return type_.space.data
    pipelines = pipelines_of(op.operands[0])
    if isinstance(pipelines, TokenFault) or not pipelines:
        return None
    return _space_of_pipeline(pipelines[0])


def _space_of_pipeline(pipeline: CreatePipelineOp) -> Space | None:
    return space_of(pipeline.view.type)


def is_storage(tile: SSAValue) -> bool:
    """Whether a tile is storage that was asked for, or a window of some: not a mere value."""
    origin = storage_of(tile)
    return isinstance(origin, OpResult) and isinstance(origin.op, AllocTensorOp)


def is_register_storage(tile: SSAValue) -> bool:
    """Whether a tile is storage that only the threads have that made it."""
    return is_storage(tile) and memory_space(tile) in (None, Space.RMEM)


def sink_storage(crossing: Crossing) -> None:
    """Let the only agent that uses new storage in registers make it itself."""
    value = crossing.value
    if not isinstance(value, OpResult) or not isinstance(value.op, AllocTensorOp):
        return
    if len(crossing.users) != 1 or not is_register_storage(value):
        return
    (agent,) = crossing.users
    body = crossing.switch.agent_bodies[agent]
    if crossing.definer is None and all(body.is_ancestor(use.operation) for use in value.uses):
        first = body.block.first_op
        assert first is not None
        value.op.detach()
        body.block.insert_op_before(value.op, first)


def bytes_problem(type_: Tile) -> str | None:
    """Why no buffer holds a tile of a type; None if one does."""
    if not type_.has_static_shape():
        return "its extents are not known"
    if not isinstance(type_.element_type, FixedBitwidthType | IndexType):
        return f"{type_.element_type} has no size in memory"
    return None if prod(type_.get_shape()) else "it has no elements"


def threads_of(type_: Attribute) -> int | None:
    """How many threads the register layout of a tile takes; None where it says nothing."""
    encoding = type_.encoding if isinstance(type_, TensorType) else None
    if not isinstance(encoding, BlockedEncoding | DotOperandEncoding | LinearEncoding):
        return None
    return encoding.data.extents().get("thread")


def warps_of(switch: AgentSwitchOp, agent: int) -> int | None:
    """The warps of an agent, None before execution units are mapped."""
    return _entry(switch, "num_warps", agent)


def is_in_place(switch: AgentSwitchOp, agent: int, type_: Attribute) -> bool:
    """Whether a tile of the code around lies in the registers of an agent that begins with it."""
    threads, warps = threads_of(type_), warps_of(switch, agent)
    first = _entry(switch, "warp_id", agent)
    if threads is None or warps is None or first != 0:
        return False
    return threads <= warps * WARP


def _entry(switch: AgentSwitchOp, name: str, agent: int) -> int | None:
    values = int_values(switch, name)
    if values is None or len(values) != len(switch.agent_bodies):
        return None
    return values[agent]


def delivered_type(crossing: Crossing, agent: int) -> Tile:
    """The type of a tile as an agent uses it: in the layout that it converts to, if any."""
    type_ = tile_of(crossing.value)
    assert type_ is not None
    users = crossing.users[agent]
    wanted = {user.result.type for user in users if isinstance(user, ConvertLayoutOp)}
    if len(wanted) != 1 or not all(_only_converts(user, crossing, agent) for user in users):
        return type_
    type_wanted = next(iter(wanted))
    return type_wanted if space_of(type_wanted) in (None, Space.RMEM) else type_


def _only_converts(user: Operation, crossing: Crossing, agent: int) -> bool:
    """Whether an operation converts a layout for its own agent alone."""
    body = crossing.switch.agent_bodies[agent]
    return isinstance(user, ConvertLayoutOp) and all(
        body.is_ancestor(use.operation) for use in user.result.uses
    )


def path_to(block: Block, root: Block) -> Sequence[Operation]:
    """The operations around a block inside another one, the outermost first."""
    return list(_outwards(block, root))[::-1]


def _outwards(block: Block, root: Block) -> Iterator[Operation]:
    current: Block | None = block
    while current is not None and current is not root:
        parent = current.parent_op()
        if parent is None:
            return
        yield parent
        current = parent.parent
