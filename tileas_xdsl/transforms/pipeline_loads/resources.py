"""Choose stages, warps and register budgets of both agents, and check that they fit.

A stage holds what one iteration loads.  Products of f16 with 64 columns of A an iteration, on
sm_90a, whose blocks have 227 KB of shared memory and whose multiprocessors 65,536 registers:

    tile       a stage             warps  stages  registers  blocks of a multiprocessor
    128x64     16 + 8 KB (A, B)        4       4    40, 216  2
    128x128    16 + 16 KB              4       3    40, 216  2: one stores while one multiplies
    128x256    16 + 32 KB              8       4    40, 232  1: 256 KB would be needed for two

`registers` are those of a thread that loads and of one that multiplies (`setmaxnreg`).
"""

from __future__ import annotations

from dataclasses import replace

from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes, allocated_tiles, is_staging
from tileas_xdsl.analysis.values.liveness.tiles import peak_around_products
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KernelSpec, spec_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.warp_allocation import blocks_together, registers_at_entry
from tileas_xdsl.transforms.pipeline_loads.agent_registers import (
    MIN_HEADROOM,
    PRODUCER_WARPS,
    has_room_for_sums,
    has_room_for_tiles,
    instruction_registers,
    is_in_tensor_memory,
    registers_but_of_lines,
    registers_of_agents,
)
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop
from tileas_xdsl.transforms.pipeline_loads.consumer_warps import consumer_warps
from tileas_xdsl.transforms.pipeline_loads.launched_blocks import is_persistent, runs_at_once
from tileas_xdsl.transforms.pipeline_loads.stage_memory import (
    RESERVED,
    bytes_beside_stages,
    shared_memory_left,
    slot_bytes,
    stages_ahead,
    stages_of,
    wanted_stages,
)

BLOCKS_OF_SMALL_TILES, STAGES_OF_SMALL_TILES = 2, 3
"""Blocks that share a multiprocessor where their tiles are small, and the least stages of each."""

MIN_STAGES = 2
"""One that is read while another one is filled."""


@dataclass(frozen=True)
class Resources:
    """Stages, warps and registers of both agents."""

    stages: int
    warps: int
    """Of the agent that multiplies."""
    registers: tuple[int, int]
    """Of a thread of each agent."""
    blocks: int
    """That share a multiprocessor."""
    ahead: int = 1
    """Stages of tiles that loops around load."""
    runs_on: bool = False
    """Whether the product of a round runs on in the next one (`late_products`)."""

    @property
    def all_warps(self) -> int:
        """Of the block."""
        return PRODUCER_WARPS + self.warps


def resources_of(found: LoadLoop, target: Target) -> Resources | str:
    """What the agents of a loop get, or why a block has not enough of it.

    As many blocks share a multiprocessor as a hint asks for, or fewer that have room.
    """
    spec = spec_of(found.function)
    made = _resources(found, spec, target)
    while isinstance(made, str) and spec.occupancy > 1:
        spec = replace(spec, occupancy=spec.occupancy - 1)
        made = _resources(found, spec, target)
    return made


def blocks_of_takers(found: LoadLoop, resources: Resources, target: Target) -> int:
    """The blocks that share a multiprocessor where each takes one tile block after another.

    What they stage for a store is beside the stages then, for these are filled meanwhile.
    """
    behind = {op for op in found.behind() if is_staging(op)}
    tiles = allocated_tiles(found.function)
    staged = sum(aligned_bytes(type_) for op, type_ in tiles if op in behind)
    held = RESERVED + bytes_beside_stages(found) + resources.stages * slot_bytes(found) + staged
    return min(resources.blocks, max(target.shared_memory_per_block // held, 1))


def _resources(found: LoadLoop, spec: KernelSpec, target: Target) -> Resources | str:
    slot = slot_bytes(found)
    warps, fewer = consumer_warps(found, spec, target), 2 * WARPGROUP_WARPS
    if warps > fewer and (
        has_room_for_tiles(found, fewer, spec.occupancy, target)
        or not has_room_for_sums(found, warps, spec.occupancy, target)
    ):
        # Sums of 256x128 take 128 of 232 registers in two warpgroups, and 64 of 104 in four, where
        # addresses and what is added to sums of FP8 do not fit beside them.
        warps = fewer
    if _is_better_twice(found, spec, slot, target):
        warps = WARPGROUP_WARPS
    threads = (PRODUCER_WARPS + warps) * WARP
    if blocks_together(threads, spec.occupancy, target) < spec.occupancy:
        return f"{threads} threads have not registers enough for {spec.occupancy} blocks together"
    at_entry = registers_at_entry(threads, target, spec.occupancy)
    if at_entry < (least := instruction_registers(found)):
        return f"an instruction wants {least} registers at entry, of which there are {at_entry}"
    if _may_share(found, spec) and _fits_twice(found, warps, slot, target):
        return _divided(found, warps, BLOCKS_OF_SMALL_TILES, target)
    made = _divided(found, warps, spec.occupancy, target)
    if not has_room_for_sums(found, warps, spec.occupancy, target):
        _, per_thread = made.registers
        return f"the sums of a tile do not fit {per_thread} registers of each of its threads"
    if made.stages < MIN_STAGES:
        room = max(shared_memory_left(found, spec.occupancy, target), 0)
        return f"two stages of {slot} bytes do not fit; a block has {room} for them"
    return made


def _divided(found: LoadLoop, warps: int, blocks: int, target: Target) -> Resources:
    """Return what one of so many blocks of a multiprocessor has, if so many warps multiply."""
    slot, room = slot_bytes(found), shared_memory_left(found, blocks, target)
    registers = registers_of_agents(found, warps, blocks, target)
    stages, runs_on = stages_of(found, room, slot, warps * WARP, registers[1])
    ahead = stages_ahead(found, stages * slot, blocks, target)
    return Resources(stages, warps, registers, blocks, ahead, runs_on)


def _is_better_twice(found: LoadLoop, spec: KernelSpec, slot: int, target: Target) -> bool:
    """Whether two blocks of one warpgroup have room where one block of two would run.

    Then one block stores its sums, or waits for its first stage, while the other one multiplies.
    """
    products = instances_in(found.loop, DotOp)
    if any(op.promote is not None or is_in_tensor_memory(op) for op in products):
        return False  # A thread holds a second copy of its sums, or reads rows of them at once.
    return _may_share(found, spec) and _fits_twice(found, WARPGROUP_WARPS, slot, target)


def _may_share(found: LoadLoop, spec: KernelSpec) -> bool:
    """Whether a launch has blocks enough that some share a multiprocessor, if nothing says so."""
    is_alone = is_persistent(found) or runs_at_once(found)
    return spec.occupancy < BLOCKS_OF_SMALL_TILES and not is_alone


def _fits_twice(found: LoadLoop, warps: int, slot: int, target: Target) -> bool:
    """Whether two blocks have registers and stages enough, so that one computes as the other waits.

    A producer of four warps beside four that multiply would else leave half of the multiprocessor
    idle while sums are stored.
    """
    blocks, threads = BLOCKS_OF_SMALL_TILES, (PRODUCER_WARPS + warps) * WARP
    if blocks_together(threads, blocks, target) < blocks:
        return False
    if registers_at_entry(threads, target, blocks) < instruction_registers(found):
        return False
    stages = min(wanted_stages(found), STAGES_OF_SMALL_TILES)
    if shared_memory_left(found, blocks, target) < stages * slot:
        return False
    _, per_thread = registers_of_agents(found, warps, blocks, target)
    at_once = peak_around_products(found.function.body, registers_but_of_lines) // (warps * WARP)
    return per_thread >= at_once + MIN_HEADROOM
