"""Plan a transfer: released after the definition, acquired before the first use per agent.

    agent_switch                              agent_switch
      agent 0: for { %t = ... }                 agent 0: for { %t = ...; give %t in stage i }
      agent 1: for { use %t; use %t }   ->      agent 1: for { %u = take stage i; use %u; use %u }

A plan is the place of `give` (`Source`), those of `take` (`Delivery`), and how many stages of
shared memory there are; `transfer_code.py` writes it.  Loops around both places run in step.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import note_at
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.transforms.resolve_agent_boundary.crossings import (
    Crossing,
    block_of,
    bytes_problem,
    delivered_type,
    is_register_storage,
    path_to,
    threads_of,
    tile_of,
    title,
    warps_of,
    who,
)
from tileas_xdsl.transforms.resolve_agent_boundary.paired_loops import in_step, loops_to

STAGE = "stage"
"""The attribute by which a schedule says in which stage of a loop an operation runs."""


@dataclass(frozen=True)
class Site:
    """Where an agent takes a tile: before `anchor`, in the innermost of `loops`."""

    agent: int
    anchor: Operation
    loops: Sequence[scf.ForOp]

    @property
    def origin(self) -> Operation:
        """The operation on whose behalf it is taken."""
        return self.anchor


@dataclass(frozen=True)
class Source:
    """Where a tile is given: behind its definition, or before the switch."""

    crossing: Crossing
    loops: Sequence[scf.ForOp] = ()

    @property
    def agent(self) -> int | None:
        """The agent that gives it, None for the code around the switch."""
        return self.crossing.definer

    @property
    def anchor(self) -> Operation:
        """The operation before which it is given now; other transfers may put one there."""
        value = self.crossing.value
        if self.agent is None:
            return self.crossing.switch
        behind = value.op.next_op if isinstance(value, OpResult) else block_of(value).first_op
        assert behind is not None
        return behind

    @property
    def origin(self) -> Operation:
        """The operation that defines the tile, if one does, else where it is given."""
        value = self.crossing.value
        return value.op if isinstance(value, OpResult) else self.anchor


@dataclass(frozen=True)
class Delivery:
    """Where an agent takes a tile, and in which layout."""

    site: Site
    type: Tile


@dataclass(frozen=True)
class Transfer:
    """A tile, where it is given, and where each agent takes it."""

    crossing: Crossing
    source: Source
    deliveries: Sequence[Delivery]
    stages: int
    """How many of them may be on their way."""

    @property
    def value(self) -> SSAValue:
        """The tile."""
        return self.crossing.value


def crossing_error(crossing: Crossing, user: Operation, why: str) -> OpError:
    """An agent uses what cannot reach it."""
    agent = next(k for k, users in crossing.users.items() if user in users)
    value, defining = crossing.value, who(crossing.definer)
    text = f"{title(value)} of {defining} cannot reach {who(agent)}: {why}"
    return op_error(user, text, [note_at(value, "defined here")])


def plan(crossing: Crossing, loop_stages: int) -> Transfer:
    """How a tile is transferred; raises an `OpError` at a user where it cannot be."""
    first = next(iter(crossing.users.values()))[0]
    if (why := _problem(crossing)) is not None:
        raise crossing_error(crossing, first, why)
    source = _source(crossing, first)
    deliveries = [_delivery(crossing, source, agent) for agent in crossing.users]
    stages = _stages(crossing, loop_stages) if source.loops else 1
    return Transfer(crossing, source, deliveries, stages)


def _problem(crossing: Crossing) -> str | None:
    """Why no buffer in shared memory holds what crosses; None if one does."""
    tile = tile_of(crossing.value)
    assert tile is not None
    if crossing.switch.isolated.value.data:
        return "an isolated agent sees no memory to take it from"
    if is_register_storage(crossing.value):
        return "it is storage in registers, which is not transferred"
    return bytes_problem(tile)


def _source(crossing: Crossing, user: Operation) -> Source:
    """Behind the definition, in counted loops only; for the code around, before the switch."""
    if crossing.definer is None:
        return Source(crossing)
    block = block_of(crossing.value)
    loops = loops_to(block, crossing.switch.agent_bodies[crossing.definer].block)
    if isinstance(loops, Operation):
        where = f"inside '{name_of(loops)}', which is no counted loop"
        raise crossing_error(crossing, user, f"it is defined {where}")
    return Source(crossing, loops)


def _delivery(crossing: Crossing, source: Source, agent: int) -> Delivery:
    """Before the first use in an agent, in loops in step with those around the definition."""
    users = crossing.users[agent]
    root = crossing.switch.agent_bodies[agent].block
    sites = [_site_of(crossing, source, user, root, agent) for user in users]
    first = sites[0]
    for site, user in zip(sites, users, strict=True):
        if site.anchor.parent is not first.anchor.parent:
            why = f"{who(agent)} uses it in several loops, and it is transferred once an iteration"
            raise crossing_error(crossing, user, why)
    type_ = delivered_type(crossing, agent)
    threads, warps = threads_of(type_), warps_of(crossing.switch, agent)
    if threads is not None and warps is not None and threads > warps * WARP:
        why = f"its layout takes {threads} threads, and {who(agent)} has {warps * WARP}"
        raise crossing_error(crossing, users[0], why)
    return Delivery(first, type_)


def _site_of(crossing: Crossing, source: Source, user: Operation, root: Block, agent: int) -> Site:
    """The place of a use, as deep in loops as the definition is."""
    block = user.parent
    assert block is not None
    around = [*path_to(block, root), user]
    depth = len(source.loops)
    loops = [op for op in around[:depth] if isinstance(op, scf.ForOp)]
    if depth >= len(around) or not in_step(source.loops, loops):
        why = f"{who(agent)} does not run the loops around its definition in step"
        raise crossing_error(crossing, user, why)
    return Site(agent, around[depth], loops)


def _stages(crossing: Crossing, otherwise: int) -> int:
    """As many stages as the schedule puts between definition and uses, if there is one."""
    value = crossing.value
    here = None if isinstance(value, BlockArgument) else _stage_of(value.owner)
    there = [_stage_of(user) for users in crossing.users.values() for user in users]
    known = [stage for stage in there if stage is not None]
    if here is None or not known:
        return otherwise
    return max(max(known) - here, 0) + 1


def _stage_of(op: Operation | Block) -> int | None:
    found = op.attributes.get(STAGE) if isinstance(op, Operation) else None
    return found.value.data if isinstance(found, IntegerAttr) else None
