"""Registers that the live tiles of a kernel need, beside those that a block has."""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, func, scf, tensor
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.analysis.memory.accumulators import tmem_accumulators
from tileas_xdsl.analysis.values.liveness.tiles import peak_around_products, peak_registers
from tileas_xdsl.dialects.kinds import Kinds, has_instance, instances_in
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    GenerateOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS, WORD_BITS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.warp_allocation import (
    MAX_CONSUMER_REGISTERS,
    blocks_together,
    registers_at_entry,
)
from tileas_xdsl.transforms.fuse_elementwise.profitability import is_elementwise
from tileas_xdsl.transforms.tile_parts.dimension_classes import tile_shape
from tileas_xdsl.transforms.tile_parts.parts import Tiles

_FREE = Kinds(GenerateOp, arith.ConstantOp, tensor.SplatOp)
"""Operations whose tile takes no registers: it is computed where it is read."""

POINTER_BITS = 64

OTHER_REGISTERS = 40
"""Of a thread, for addresses, descriptors and loops."""

REGISTERS_OF_PRODUCER = 40 * WARPGROUP_WARPS * WARP
"""Of the warpgroup that loads (`pipeline_loads/agent_registers.py`)."""

BESIDE_ACCUMULATORS = 48
"""Registers of such a thread for addresses, masks, and operands that products read from registers.

ptxas 13.5 spills 816 bytes of attention of 256x128 scores and 256x64 sums, 196 registers of 232.
"""

SHARED_REGISTERS, MOST_SHARING_WARPS = 144, 8
"""Registers of live tiles in a thread from which on more warps share them, where tiles are
multiplied: operands in registers and what is exchanged take the rest.

Of 45 kernels of one warpgroup in TileGym, those of up to 130 do not spill, and those from 161 on do
(ptxas 13.5, sm_90a), none of these with two.
"""


def has_too_many_registers(kernel: func.FuncOp, target: Target) -> bool:
    """Return whether the live tiles of a kernel need more registers than a block has.

    Accumulators in tensor memory take none; they may not fill tensor memory either, since other
    accumulators, and the columns through which they are read, are allocated there too.
    """
    warps = spec_of(kernel).num_warps
    products = [op.results[0] for op in instances_in(kernel, DotOp)]
    threads, blocks = warps * WARP, blocks_of(kernel, target)
    held = _registers(threads, target, blocks)
    if products and target.has_tensor_memory:
        words = target.tensor_memory_lanes * target.tensor_memory_columns
        if any(tile_words(product) >= words for product in products):
            return True
        in_memory = tmem_accumulators(kernel).of_value

        def words_but_of_sums(value: SSAValue) -> int:
            return 0 if value in in_memory else tile_words(value)

        return peak_around_products(kernel.body, words_but_of_sums) > held
    if products:
        if peak_of_chunks(kernel, {}, 1) > held:
            return True
        return blocks == 1 and _peak_of_products(kernel) > _registers_of_consumers(target)
    registers = registers_at_entry(threads, target, blocks)
    return peak_of_chunks(kernel, {}, 1) > threads * (registers - OTHER_REGISTERS)


def _peak_of_products(kernel: func.FuncOp) -> int:
    """Return the most registers of tiles in loops that multiply, else in the whole kernel.

    Behind such a loop sums are computed further and stored element by element: ptxas orders that.
    """
    loops = instances_in(kernel, scf.ForOp)
    bodies = [op.body for op in loops if has_instance(op, DotOp)]
    return max(peak_around_products(body, tile_words) for body in bodies or [kernel.body])


def _registers_of_consumers(target: Target) -> int:
    """The registers for tiles in two warpgroups that multiply, beside a producer."""
    threads = 2 * WARPGROUP_WARPS * WARP
    left = target.registers_per_multiprocessor - REGISTERS_OF_PRODUCER
    return min(left, threads * MAX_CONSUMER_REGISTERS) - threads * BESIDE_ACCUMULATORS


def warps_that_fit(kernel: func.FuncOp) -> int:
    """Return the warps of a kernel; more where it multiplies tiles that its threads do not hold."""
    warps = spec_of(kernel).num_warps
    if warps >= MOST_SHARING_WARPS or not has_instance(kernel, DotOp):
        return warps
    live = peak_of_chunks(kernel, {}, 1)
    while warps < MOST_SHARING_WARPS and live > SHARED_REGISTERS * warps * WARP:
        warps *= 2
    return warps


def blocks_that_fit(kernel: func.FuncOp, target: Target) -> int:
    """Return how many of the blocks that are asked for have registers for live tiles; at least 1.

    Kernels without products have bounds of their own (`threads/pipeline/occupancy.py`).
    """
    blocks = blocks_of(kernel, target)
    threads = spec_of(kernel).num_warps * WARP
    if blocks == 1 or not has_instance(kernel, DotOp):
        return blocks
    wanted = peak_of_chunks(kernel, {}, 1) + threads * OTHER_REGISTERS
    fitting = (n for n in range(blocks, 1, -1) if _registers(threads, target, n) >= wanted)
    return next(fitting, 1)


def _registers(threads: int, target: Target, blocks: int) -> int:
    """The registers of a block, where so many share a multiprocessor."""
    return threads * registers_at_entry(threads, target, blocks)


def capacity(kernel: func.FuncOp, target: Target, warps: int) -> int:
    """Return the registers available to tiles, for so many warps and the present blocks per SM.

    Without products only a quarter counts: chunks cost little there, and the functions of `math`
    that are expanded later need registers too.
    """
    threads, blocks = warps * WARP, blocks_of(kernel, target)
    registers = registers_at_entry(threads, target, blocks)
    multiplies = has_instance(kernel, DotOp)
    return threads * (registers - OTHER_REGISTERS if multiplies else registers // 4)


def blocks_of(kernel: func.FuncOp, target: Target) -> int:
    """Return the blocks that are to share a multiprocessor."""
    spec = spec_of(kernel)
    return blocks_together(spec.num_warps * WARP, spec.occupancy, target)


def peak_of_chunks(kernel: func.FuncOp, tiles: Tiles, count: int) -> int:
    """Return the most registers that live tiles need, where `tiles` are cut into `count` chunks."""

    def words(value: SSAValue) -> int:
        return tile_words(value) // (count if value in tiles else 1)

    peak = peak_around_products if has_instance(kernel, DotOp) else peak_registers
    return peak(kernel.body, words)


def tile_words(value: SSAValue) -> int:
    """Return the registers of a tile, 0 for one that is recomputed where it is used."""
    shape = tile_shape(value)
    if not shape or space_of(value.type) is Space.SMEM or _is_free(value):
        return 0
    element = element_of(value.type)
    bits = POINTER_BITS if element is None else bits_of(element) or POINTER_BITS
    # Masks are predicates, or bits of one register.
    return 0 if bits == 1 else prod(shape) * bits // WORD_BITS


@memoized_walk
def _is_free(value: SSAValue) -> bool:
    """Whether a tile takes no registers: recomputed at its uses, or stored to shared memory."""
    made = value.owner
    if _FREE[type(made)]:
        return True
    if not isinstance(made, Block) and _is_by_element(made) and all(map(_is_free, made.operands)):
        return True
    return _is_put_in_memory(value)


def _is_by_element(op: Operation) -> bool:
    return is_elementwise(op) or isinstance(op, AddPtrOp)


def _is_put_in_memory(value: SSAValue) -> bool:
    """Whether all uses of a tile copy it to shared memory."""
    users = [use.operation for use in value.uses]
    return bool(users) and all(
        (isinstance(user, ConvertLayoutOp) and space_of(user.result.type) is Space.SMEM)
        or (isinstance(user, ViewOp) and _is_free(user.result))
        for user in users
    )
