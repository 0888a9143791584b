"""What a block takes of a multiprocessor, and which resource limits how many share it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tileas_xdsl.backend.ptxas import EntryFacts
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.dialects.nv_tileas.interfaces import Producer
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase
from tileas_xdsl.explanation.facts import (
    LeastTime,
    Limit,
    Occupancy,
    RoleFacts,
    SharedBuffer,
    UnitUse,
    Waves,
)
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.isa.tables.warps import REGISTER_STEP
from tileas_xdsl.target.kernel_abi import KernelAbi
from tileas_xdsl.threads.pipeline.occupancy import RESERVED_SHARED_MEMORY
from tileas_xdsl.threads.pipeline.stage_consumers import users_of
from tileas_xdsl.threads.pipeline.warp_allocation import Agent, agents_of
from tileas_xdsl.threads.smem.smem_layout import Allocation, allocations_in

_STAGES = re.compile(r"(\d+) stages of ")
_BARRIERS = re.compile(r"(?:full|empty) of (.*)")


def occupancy(
    abi: KernelAbi, used: EntryFacts | None, tiles: ModuleOp | None, target: Target
) -> Occupancy:
    """Return what a block uses; `used` is what ptxas says, `tiles` the kernel with its agents."""
    roles = () if tiles is None else tuple(_roles(tiles, ceil_div(abi.threads, WARP), target))
    return block_occupancy(abi.threads, abi.shared_bytes, used, target, roles)


def block_occupancy(
    threads: int,
    launch_bytes: int,
    used: EntryFacts | None,
    target: Target,
    roles: tuple[RoleFacts, ...] = (),
) -> Occupancy:
    """Return how blocks of so many threads share a multiprocessor, and what limits that.

    A launch gives a block `launch_bytes` of shared memory beside its own.  Registers are given to
    warps in steps of 8 for a thread (CUDA C++ Programming Guide).
    """
    warps = ceil_div(threads, WARP)
    shared = launch_bytes + (0 if used is None else used.shared)
    registers = None if used is None else used.registers
    limits = sorted(_limits(warps, registers, shared, target), key=lambda one: one.blocks)
    blocks = limits[0].blocks
    return Occupancy(
        threads,
        warps,
        registers,
        None if used is None else used.spills,
        shared,
        blocks,
        blocks * warps / target.warps_per_multiprocessor,
        limits[0].what,
        tuple(limits),
        roles,
    )


def _limits(warps: int, registers: int | None, shared: int, target: Target) -> Iterator[Limit]:
    taken, most = shared + RESERVED_SHARED_MEMORY, target.shared_memory_per_block
    if registers is not None:
        rounded = align_up(registers, REGISTER_STEP) * warps * WARP
        yield _limit("registers", rounded, target.registers_per_multiprocessor)
    yield _limit("shared memory", taken, most + RESERVED_SHARED_MEMORY)
    yield _limit("warps", warps, target.warps_per_multiprocessor)
    yield _limit("blocks", 1, target.blocks_per_multiprocessor)


def _limit(what: str, used: int, available: int) -> Limit:
    return Limit(what, used, available, available // max(used, 1))


def agents_in(tiles: ModuleOp, warps: int, target: Target) -> Iterator[tuple[Operation, Agent]]:
    """Yield the agent switches of a kernel with each of their agents, in the order of bodies."""
    for op in tiles.walk():
        if isinstance(op, AgentSwitchOp):
            for agent in agents_of(op, Agent("kernel", 0, warps), target):
                yield op, agent


def _roles(tiles: ModuleOp, warps: int, target: Target) -> Iterator[RoleFacts]:
    for op, agent in agents_in(tiles, warps, target):
        assert isinstance(op, AgentSwitchOp)
        name = role_of(op, agent)
        yield RoleFacts(name, agent.warps, agent.registers)


def role_of(switch: AgentSwitchOp, agent: Agent) -> str:
    """Return what an agent does: `producer` where it fills stages of a pipeline."""
    body = switch.agent_bodies[agent.number - 1]
    fills = any(isinstance(op, Producer) for op in body.walk())
    return f"{'producer' if fills else 'consumer'} ({agent.name})"


def shared_buffers(abi: KernelAbi, tiles: ModuleOp | None) -> tuple[SharedBuffer, ...]:
    """Return the map of shared memory, with the line that fills each part where it is known."""
    places = _places_of_names(tiles)
    pipelines = iter(()) if tiles is None else iter(_pipeline_places(tiles))
    found: list[SharedBuffer] = []
    by_name: dict[str, Location | None] = {}
    for part in allocations_in(abi.shared_map):
        stages = int(match[1]) if (match := _STAGES.match(part.what)) else 1
        if match:
            by_name[part.name] = next(pipelines, None)
        place = _place(part, by_name, places)
        found.append(SharedBuffer(part.name, part.offset, part.bytes, part.what, stages, place))
    return tuple(found)


def _place(
    part: Allocation,
    pipelines: Mapping[str, Location | None],
    places: Mapping[str, Sequence[Location]],
) -> Location | None:
    barriers = _BARRIERS.match(part.name)
    name = barriers[1] if barriers else part.name
    if name in pipelines:
        return pipelines[name]
    known = dict.fromkeys(places.get(name.removeprefix("%"), ()))
    return next(iter(known)) if len(known) == 1 else None


def _places_of_names(tiles: ModuleOp | None) -> Mapping[str, Sequence[Location]]:
    """By name of a value: where operations that make such values are."""
    found: dict[str, list[Location]] = {}
    for op in () if tiles is None else tiles.walk():
        place = location_of(op)
        for result in op.results:
            if result.name_hint and place is not None:
                found.setdefault(result.name_hint, []).append(place)
    return found


def _pipeline_places(tiles: ModuleOp) -> Iterator[Location | None]:
    """Where the loads are that fill the stages of each pipeline, in program order."""
    for op in tiles.walk():
        if isinstance(op, CreatePipelineOp):
            inside = chain.from_iterable(user.walk() for user in users_of(op))
            loads = (inner for inner in inside if isinstance(inner, TmaLoadBase))
            yield next((location_of(load) for load in loads), None)


def waves(grid: tuple[int, int, int], together: int, target: Target) -> Waves:
    """Return how blocks of a grid fill a GPU, `together` of them on a multiprocessor."""
    blocks = grid[0] * grid[1] * grid[2]
    processors = latencies(target.name).multiprocessors
    at_once = processors * max(together, 1)
    count = ceil_div(blocks, at_once)
    last = blocks - (count - 1) * at_once
    return Waves(
        grid, blocks, processors, together, count, 1 - last / at_once, blocks / (count * at_once)
    )


def least_time(busiest: UnitUse | None, launch: Waves | None, target: Target) -> LeastTime | None:
    """Return how long a launch takes at least, of which `busiest` is a block's busiest unit.

    The fullest multiprocessor has this many blocks, and its unit serves one at a time.
    """
    if busiest is None or launch is None:
        return None
    each = ceil_div(launch.blocks, launch.multiprocessors)
    microseconds = each * busiest.cycles / latencies(target.name).clock
    return LeastTime(microseconds, busiest.unit, busiest.cycles, each)
