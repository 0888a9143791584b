"""Registers of the threads of both agents: what each needs, and how they share what there is.

At entry all threads of a block have the same number; `setmaxnreg` then moves registers from the
warpgroup that loads to those that multiply, in multiples of 8 (PTX ISA, setmaxnreg).
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, tensor
from xdsl.ir import Block, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.layouts.tile_groups import taken_in_place
from tileas_xdsl.analysis.memory.copied_chunks import SIZES, copied_bytes
from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes
from tileas_xdsl.analysis.values.liveness.tiles import peak_around_products, tile_registers
from tileas_xdsl.diagnostics.walking import operands_of
from tileas_xdsl.dialects.kinds import Kinds, instances_in
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileas.attributes import matrix_unit_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.mma.matrix_units import MAX_COLUMNS
from tileas_xdsl.threads.dot.dot_wgmma import PROMOTED_REGISTERS
from tileas_xdsl.threads.pipeline.warp_allocation import MAX_CONSUMER_REGISTERS, registers_at_entry
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import copied_by
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop

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

GROUP_ROWS = 64
"""Rows that a warpgroup multiplies at once (PTX ISA, wgmma)."""

BESIDE_INSTRUCTION = 26
"""Registers beside the sums of one instruction that ptxas 13.5 asks for: 90 for 128 columns."""


def instruction_registers(found: LoadLoop) -> int:
    """The registers that ptxas wants at entry for the widest matrix instruction, whatever follows.

    `setmaxnreg` gives a consumer more, but ptxas refuses an instruction that the registers at entry
    do not hold (C7602).
    """
    products = instances_in(found.loop, DotOp)
    shapes = [shape_of(op.c.type) or (1,) for op in products if not is_in_tensor_memory(op)]
    columns = max((min(shape[-1], MAX_COLUMNS) for shape in shapes), default=0)
    return columns * GROUP_ROWS // (WARPGROUP_WARPS * WARP) + BESIDE_INSTRUCTION


def live_registers(found: LoadLoop, warps: int) -> int:
    """The registers of a thread, of so many warps, that hold tiles at once."""
    return peak_around_products(found.function.body, tile_registers) // (warps * WARP)


def has_room_for_tiles(found: LoadLoop, warps: int, blocks: int, target: Target) -> bool:
    """Whether the threads of so many warps that multiply have registers for all live tiles."""
    _, per_thread = registers_of_agents(found, warps, blocks, target)
    left = per_thread - MIN_HEADROOM
    return accumulator_registers(found, warps) <= left and live_registers(found, warps) <= left


def has_room_for_sums(found: LoadLoop, warps: int, blocks: int, target: Target) -> bool:
    """Return whether the accumulators fit into the registers of so many consumer warps.

    Where several products are summed one after another, all that is live at once takes less.
    """
    _, per_thread = registers_of_agents(found, warps, blocks, target)
    if accumulator_registers(found, warps) <= per_thread - MIN_HEADROOM:
        return True
    live = peak_around_products(found.function.body, registers_but_of_broadcasts)
    return live // (warps * WARP) <= per_thread - LEAST_HEADROOM


def registers_but_of_lines(value: SSAValue) -> int:
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


def accumulator_registers(found: LoadLoop, warps: int) -> int:
    """The registers of a thread that hold sums, and products that are added to them in f32.

    Sums in tensor memory take none.
    """
    products = instances_in(found.loop, DotOp)
    kept = [op for op in products if not is_in_tensor_memory(op)]
    promoted = PROMOTED_REGISTERS * any(op.promote is not None for op in kept)
    return promoted + sum(prod(shape_of(op.c.type) or ()) for op in kept) // (warps * WARP)


def is_in_tensor_memory(op: DotOp) -> bool:
    """Whether the accumulator of a product is in tensor memory."""
    unit = matrix_unit_of(op.atom)
    return unit is not None and unit.accumulates_in_tensor_memory


def registers_of_agents(
    found: LoadLoop, warps: int, occupancy: int, target: Target
) -> tuple[int, int]:
    """Of a thread that loads, and the most of one that multiplies.

    Multiples of 8 (PTX ISA, setmaxnreg).
    """
    threads = (PRODUCER_WARPS + warps) * WARP
    all_registers = threads * registers_at_entry(threads, target, occupancy)
    holds_sums = accumulator_registers(found, warps) > 0
    usual = LEAST_PRODUCER_REGISTERS if holds_sums else PRODUCER_BESIDE_TENSOR_MEMORY
    copying = _copying_registers(found)
    least, consumer = usual, 0
    for wanted in (copying, min(copying, FEW_COPY_REGISTERS)):
        least = usual + wanted
        left = all_registers - PRODUCER_WARPS * WARP * least
        consumer = min(MAX_CONSUMER_REGISTERS, left // (warps * WARP) // 8 * 8)
        if consumer - MIN_HEADROOM >= accumulator_registers(found, warps):
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
