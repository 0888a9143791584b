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

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.layouts.tile_groups import taken_in_place
from tileas_xdsl.analysis.memory.accumulators import is_divided_b
from tileas_xdsl.analysis.memory.copied_chunks import SIZES, copied_bytes
from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes, allocated_tiles, is_staging
from tileas_xdsl.analysis.values.liveness.tiles import peak_around_products, tile_registers
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operands_of, operations_in
from tileas_xdsl.dialects.kinds import Kinds, instances_in
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.attributes import KernelSpec, spec_of
from tileas_xdsl.dialects.nv_tileas.attributes import matrix_unit_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of, space_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.mma.matrix_units import MAX_COLUMNS, PAIR
from tileas_xdsl.target.mma.warp_tiles import fits_accumulators
from tileas_xdsl.threads.dot.dot_wgmma import PROMOTED_REGISTERS
from tileas_xdsl.threads.pipeline import late_products
from tileas_xdsl.threads.pipeline.warp_allocation import (
    MAX_CONSUMER_REGISTERS,
    blocks_together,
    registers_at_entry,
)
from tileas_xdsl.transforms.pipeline_loads.agents.handed_values import handed_bytes
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import StageLoad, copied_by
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop
from tileas_xdsl.transforms.pipeline_loads.launched_blocks import is_persistent, runs_at_once
from tileas_xdsl.transforms.pipeline_loads.streamed_loads import streamed_bytes

_FREE = Kinds(GenerateOp, arith.ConstantOp, tensor.SplatOp)
"""Operations whose tile takes no registers: it is computed where it is read."""

PRODUCER_WARPS = 4
"""A warpgroup, so that it can give registers away; one thread of it issues the copies."""

LEAST_PRODUCER_REGISTERS, MOST_PRODUCER_REGISTERS = 40, 56
"""Of a thread: addresses and barriers; more where threads that multiply cannot have them."""

PRODUCER_BESIDE_TENSOR_MEMORY = 72
"""Of a thread that loads, where those that multiply hold no sums: ptxas 13.5 keeps values of both
agents in memory for 56, in attention with 8 operands of tensor maps."""

POINTER_COPY_REGISTERS, ROW_COPY_REGISTERS = 7, 3
"""Of a thread that copies: for each run behind pointers address, offset, mask and data; for each 16
bytes of rows, which are one stride apart, less: ptxas 13.5 spills nothing for 2 either."""

FEW_COPY_REGISTERS = 8 * POINTER_COPY_REGISTERS
"""Of a thread that copies, where sums leave no more: it addresses some runs behind others."""

MIN_HEADROOM = 40
"""Registers of a thread for addresses, descriptors and loops, beside its accumulator."""

LEAST_HEADROOM = 32
"""The same beside all tiles that are live at once: of 232, 200 leave ptxas enough."""

RESERVED = 1024
"""Bytes of shared memory for barriers."""

BLOCKS_OF_SMALL_TILES, STAGES_OF_SMALL_TILES = 2, 3
"""Blocks that share a multiprocessor where their tiles are small, and the least stages of each."""

MOST_STREAMED = 2
"""Stages of a tile that a loop around loads: that of this round, and that of the next one."""

MIN_STAGES = 2
"""One that is read while another one is filled."""

USUAL_STAGES, MOST_STAGES = 4, 8
"""Stages where no `latency` is given, and at most."""

GROUP_ROWS = 64
"""Rows that a warpgroup multiplies at once (PTX ISA, wgmma)."""

BESIDE_INSTRUCTION = 26
"""Registers beside the sums of one instruction that ptxas 13.5 asks for: 90 for 128 columns."""

ACCUMULATOR_THRESHOLD = 128 * 128
"""Sums of a tile from which on two warpgroups share its rows."""

REGISTER_THRESHOLD = 128
"""Registers of live tiles in a thread of one warpgroup from which on two share their rows."""


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
    held = RESERVED + _other_bytes(found) + resources.stages * _slot_bytes(found) + staged
    return min(resources.blocks, max(target.shared_memory_per_block // held, 1))


def _resources(found: LoadLoop, spec: KernelSpec, target: Target) -> Resources | str:
    slot = _slot_bytes(found)
    warps, fewer = _warps(found, spec, target), 2 * WARPGROUP_WARPS
    if warps > fewer and (
        _has_room_for_tiles(found, fewer, spec.occupancy, target)
        or not _has_room_for_sums(found, warps, spec.occupancy, target)
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
    if at_entry < (least := _instruction_registers(found)):
        return f"an instruction wants {least} registers at entry, of which there are {at_entry}"
    if _may_share(found, spec) and _fits_twice(found, warps, slot, target):
        room = _shared_memory_left(found, BLOCKS_OF_SMALL_TILES, target)
        registers = _registers(found, warps, BLOCKS_OF_SMALL_TILES, target)
        wanted, runs_on = _stages(found, room, slot, warps * WARP, registers[1])
        return Resources(
            wanted,
            warps,
            registers,
            BLOCKS_OF_SMALL_TILES,
            stages_ahead(found, wanted * slot, BLOCKS_OF_SMALL_TILES, target),
            runs_on,
        )
    registers = _registers(found, warps, spec.occupancy, target)
    _, per_thread = registers
    if not _has_room_for_sums(found, warps, spec.occupancy, target):
        return f"the sums of a tile do not fit {per_thread} registers of each of its threads"
    room = _shared_memory_left(found, spec.occupancy, target)
    stages, runs_on = _stages(found, room, slot, warps * WARP, per_thread)
    if stages < MIN_STAGES:
        return f"two stages of {slot} bytes do not fit; a block has {max(room, 0)} for them"
    ahead = stages_ahead(found, stages * slot, spec.occupancy, target)
    return Resources(stages, warps, registers, spec.occupancy, ahead, runs_on)


def _slot_bytes(found: LoadLoop) -> int:
    """The bytes of a stage; of B of products of two CTAs each has half."""
    results = [load.result for load in found.loads]
    return sum(aligned_bytes(v.type) // (PAIR if is_divided_b(v) else 1) for v in results)


def _shared_memory_left(found: LoadLoop, blocks: int, target: Target) -> int:
    """The shared memory that a block has for stages, if some share a multiprocessor."""
    return target.shared_memory_per_block // blocks - RESERVED - _other_bytes(found)


def _stages(found: LoadLoop, room: int, slot: int, threads: int, most: int) -> tuple[int, bool]:
    """Return as many as are wanted and fit, and whether the product of the loop may run on.

    A further place of its operand leaves enough of them then (`late_products`), or in registers,
    of which each of the `threads` that multiply has `most`.
    """
    stages, products = _wanted_stages(found), instances_in(found.loop, DotOp)
    operand = late_products.written_operand(products[0]) if len(products) == 1 else None
    if operand is not None:
        further = (late_products.PLACES - 1) * aligned_bytes(operand.type)
        beside = min(stages, (room - further) // slot)
        if beside >= late_products.MIN_STAGES:
            return beside, True
    stages = min(stages, room // slot)
    # Other CTAs of the multiprocessor would multiply meanwhile.
    is_single = operand is None and len(products) == 1 and runs_at_once(found)
    if not is_single or not late_products.computes_a(products[0]):
        return stages, False
    (product,) = products
    read = [load.result for load in late_products.loads_of_a(product)]
    held = sum(map(tile_registers, (*read, product.a, product.a, product.c))) // threads
    return stages, stages >= late_products.MIN_STAGES and held <= most - LEAST_HEADROOM


def stages_ahead(found: LoadLoop, held: int, blocks: int, target: Target) -> int:
    """Return the stages of a tile that a loop around loads, beside `held` bytes of other stages.

    One stage takes what the tile takes without a ring; the second one is what room is left for.
    """
    left = _shared_memory_left(found, blocks, target) - held
    tile = streamed_bytes(found.needed)
    return 1 + min(left // tile, MOST_STREAMED - 1) if tile and left > 0 else 1


def _is_better_twice(found: LoadLoop, spec: KernelSpec, slot: int, target: Target) -> bool:
    """Whether two blocks of one warpgroup have room where one block of two would run.

    Then one block stores its sums, or waits for its first stage, while the other one multiplies.
    """
    products = instances_in(found.loop, DotOp)
    if any(op.promote is not None or _is_in_tensor_memory(op) for op in products):
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
    if registers_at_entry(threads, target, blocks) < _instruction_registers(found):
        return False
    stages = min(_wanted_stages(found), STAGES_OF_SMALL_TILES)
    if _shared_memory_left(found, blocks, target) < stages * slot:
        return False
    _, per_thread = _registers(found, warps, blocks, target)
    at_once = peak_around_products(found.function.body, _registers_but_of_lines) // (warps * WARP)
    return per_thread >= at_once + MIN_HEADROOM


def _instruction_registers(found: LoadLoop) -> int:
    """The registers that ptxas wants at entry for the widest matrix instruction, whatever follows.

    `setmaxnreg` gives a consumer more, but ptxas refuses an instruction that the registers at entry
    do not hold (C7602).
    """
    products = instances_in(found.loop, DotOp)
    shapes = [shape_of(op.c.type) or (1,) for op in products if not _is_in_tensor_memory(op)]
    columns = max((min(shape[-1], MAX_COLUMNS) for shape in shapes), default=0)
    return columns * GROUP_ROWS // (WARPGROUP_WARPS * WARP) + BESIDE_INSTRUCTION


def _live_registers(found: LoadLoop, warps: int) -> int:
    """The registers of a thread, of so many warps, that hold tiles at once."""
    return peak_around_products(found.function.body, tile_registers) // (warps * WARP)


def _warps(found: LoadLoop, spec: KernelSpec, target: Target) -> int:
    """Two warpgroups share large tiles, where the matrix unit lets them: their rows.

    Of 64 rows they share the columns if one has not registers for all tiles that live at once:
    logits of 64x256 and the maxima, powers and ones that an epilogue makes of them.
    """
    usual = _usual_warps(spec)
    products = instances_in(found.loop, DotOp)
    shapes = [shape_of(op.c.type) or (1,) for op in products]
    is_large = (
        max(map(prod, shapes)) >= ACCUMULATOR_THRESHOLD
        or _live_registers(found, usual) > REGISTER_THRESHOLD
    )
    # Of a CTA that is alone on its multiprocessor the tensor core would be idle while the only
    # consumer warpgroup unpacks an operand.
    is_shared = runs_at_once(found) and found.computes_operands
    can_share = all(
        unit is not None and unit.reads_shared_memory
        for unit in (matrix_unit_of(op.atom) for op in products)
    )
    unit_products = [*_unit_products(found)]
    has_rows = any(map(_has_rows_for_two, unit_products))
    pays = has_rows or not _has_room_for_tiles(found, usual, spec.occupancy, target)
    if (
        (is_shared or (is_large and pays))
        and can_share
        and all(map(_is_for_two_groups, unit_products))
    ):
        return max(usual, 2 * WARPGROUP_WARPS)
    return usual


def _unit_products(found: LoadLoop) -> Iterator[DotOp]:
    """The products of the matrix unit in all of the kernel: the same warpgroups do them."""
    for op in operations_in(found.function):
        if isinstance(op, DotOp):
            unit = matrix_unit_of(op.atom)
            if unit is not None and unit.reads_shared_memory:
                yield op


def _is_for_two_groups(op: DotOp) -> bool:
    """Whether two warpgroups can do a product: share its rows, or, of fewer rows, its columns.

    Who shares columns reads all of A, which is then in shared memory.
    """
    rows, columns = op.c.type.get_shape()[-2:]
    if _has_rows_for_two(op):
        return True
    if _is_in_tensor_memory(op) or space_of(op.a.type) is not Space.SMEM:
        return False
    return fits_accumulators(rows, columns, 2)


def _has_rows_for_two(op: DotOp) -> bool:
    return op.c.type.get_shape()[-2] % (2 * GROUP_ROWS) == 0


def _has_room_for_tiles(found: LoadLoop, warps: int, blocks: int, target: Target) -> bool:
    """Whether the threads of so many warps that multiply have registers for all live tiles."""
    _, per_thread = _registers(found, warps, blocks, target)
    left = per_thread - MIN_HEADROOM
    return _accumulator_registers(found, warps) <= left and _live_registers(found, warps) <= left


def _has_room_for_sums(found: LoadLoop, warps: int, blocks: int, target: Target) -> bool:
    """Return whether the accumulators fit into the registers of so many consumer warps.

    Where several products are summed one after another, all that is live at once takes less.
    """
    _, per_thread = _registers(found, warps, blocks, target)
    if _accumulator_registers(found, warps) <= per_thread - MIN_HEADROOM:
        return True
    live = peak_around_products(found.function.body, registers_but_of_broadcasts)
    return live // (warps * WARP) <= per_thread - LEAST_HEADROOM


def _registers_but_of_lines(value: SSAValue) -> int:
    """Return the registers of a tile; none of one whose rows or columns are made where it is read.

    A line of 128 columns times sums is multiplied as it is loaded: `generate { extract %s[%j] }`.
    """
    made = value.owner
    is_line = isinstance(made, GenerateOp) and not taken_in_place(made)
    return 0 if is_line else tile_registers(value)


def registers_but_of_broadcasts(value: SSAValue) -> int:
    """Return the registers of a tile; none of one computed of coordinates, rows or columns."""
    return 0 if _is_broadcast(value) else tile_registers(value)


@memoized_walk
def _is_broadcast(value: SSAValue) -> bool:
    made = value.owner
    if _FREE[type(made)]:
        return True
    if isinstance(made, Block) or made.regions or not (operands := operands_of(made)):
        return False
    return layout_role(made) is LayoutRole.ELEMENTWISE and all(map(_is_broadcast, operands))


def _usual_warps(spec: KernelSpec) -> int:
    """Whole warpgroups of as many warps as the kernel asks for."""
    return align_up(spec.num_warps, WARPGROUP_WARPS)


def _accumulator_registers(found: LoadLoop, warps: int) -> int:
    """The registers of a thread that hold sums, and products that are added to them in f32.

    Sums in tensor memory take none.
    """
    products = instances_in(found.loop, DotOp)
    kept = [op for op in products if not _is_in_tensor_memory(op)]
    promoted = PROMOTED_REGISTERS * any(op.promote is not None for op in kept)
    return promoted + sum(prod(shape_of(op.c.type) or ()) for op in kept) // (warps * WARP)


def _is_in_tensor_memory(op: DotOp) -> bool:
    unit = matrix_unit_of(op.atom)
    return unit is not None and unit.accumulates_in_tensor_memory


def _registers(found: LoadLoop, warps: int, occupancy: int, target: Target) -> tuple[int, int]:
    """Of a thread that loads, and the most of one that multiplies.

    Multiples of 8 (PTX ISA, setmaxnreg).
    """
    threads = (PRODUCER_WARPS + warps) * WARP
    all_registers = threads * registers_at_entry(threads, target, occupancy)
    holds_sums = _accumulator_registers(found, warps) > 0
    usual = LEAST_PRODUCER_REGISTERS if holds_sums else PRODUCER_BESIDE_TENSOR_MEMORY
    copying = _copying_registers(found)
    least, consumer = usual, 0
    for wanted in (copying, min(copying, FEW_COPY_REGISTERS)):
        least = usual + wanted
        left = all_registers - PRODUCER_WARPS * WARP * least
        consumer = min(MAX_CONSUMER_REGISTERS, left // (warps * WARP) // 8 * 8)
        if consumer - MIN_HEADROOM >= _accumulator_registers(found, warps):
            break
    left = (all_registers - consumer * warps * WARP) // (PRODUCER_WARPS * WARP) // 8 * 8
    return min(left, max(MOST_PRODUCER_REGISTERS, least)), consumer


def _copying_registers(found: LoadLoop) -> int:
    """Of a producer's thread, for what it copies; a multiple of 8."""
    registers = 0
    for load in found.loads:
        made = copied_by(load)
        if made is None:
            continue
        bytes_ = aligned_bytes(load.result.type) // (PRODUCER_WARPS * WARP)
        if isinstance(made, LoadOp):
            registers += bytes_ // copied_bytes(made) * POINTER_COPY_REGISTERS
        else:
            registers += bytes_ // SIZES[0] * ROW_COPY_REGISTERS
    return align_up(registers, 8)


def _wanted_stages(found: LoadLoop) -> int:
    """As many as the largest `latency` of the loads, with the one that is read."""
    hints = [_latency(load) for load in found.loads]
    known = [hint for hint in hints if hint is not None]
    if known:
        return min(max(known) + 1, MOST_STAGES)
    return MOST_STAGES if runs_at_once(found) else USUAL_STAGES


def _latency(load: StageLoad) -> int | None:
    hint = load.attributes.get("latency")
    return hint.value.data if isinstance(hint, IntegerAttr) else None


def _other_bytes(found: LoadLoop) -> int:
    """The shared memory that the kernel's tiles take beside the stages.

    What is staged for a store behind all loops lies in the stages, which nobody reads any more;
    loops that follow one another use the same memory.
    """
    held = {*found.all_loads, *(op for op in found.behind() if is_staging(op))}
    loops = [one.loop for one in (found, *found.following)]
    inside = dict.fromkeys(loops, 0)
    others = 0
    for op, type_ in allocated_tiles(found.function):
        around = next((loop for loop in loops if loop.is_ancestor(op)), None)
        if op in held:
            continue
        if around is None:
            others += aligned_bytes(type_)
        else:
            inside[around] += aligned_bytes(type_)
    return others + max(inside.values()) + handed_bytes(found.needed)
