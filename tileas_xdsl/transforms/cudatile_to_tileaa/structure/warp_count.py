"""Choose the number of warps of a kernel: by a hint, by its products, or else by its tiles.

    a product of 128x256 f32                  8 warps: 128 sums in a thread at most
    a row of 8,192 elements, no product       8 warps: 32 elements in a thread
    a tile of 64 elements, no loop            1 warp: 2 elements in a thread

Every number of a tile is counted, whatever its layout will be: layouts are chosen for the warps.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, IntegerType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from tileas_xdsl.analysis.values.coordinate_tiles import is_from_coordinates
from tileas_xdsl.analysis.values.liveness.tiles import peak_registers
from tileas_xdsl.diagnostics.emission import emit_remark
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cuda_tile.matches import shape_of
from tileas_xdsl.dialects.cuda_tile.memory.atomics import AtomicCasTkoOp, AtomicRmwTkoOp
from tileas_xdsl.dialects.cuda_tile.memory.pointers import LoadPtrTkoOp
from tileas_xdsl.dialects.cuda_tile.memory.views import LoadViewTkoOp
from tileas_xdsl.dialects.cuda_tile.structure.control import ForOp, LoopOp
from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp
from tileas_xdsl.dialects.cuda_tile.tiles.constants import ConstantOp
from tileas_xdsl.dialects.cuda_tile.tiles.matmul import MmaFOp, MmaIOp
from tileas_xdsl.dialects.cuda_tile.tiles.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.cuda_tile.tiles.shapes import BroadcastOp, IotaOp
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, element_of
from tileas_xdsl.dialects.kinds import Kinds, has_instance, instances_in
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.mma.matrix_units import MAX_COLUMNS
from tileas_xdsl.transforms.cudatile_to_tileaa.structure.control_flow import runs_once

DEFAULT_WARPS = 4

MAX_ACCUMULATORS_PER_THREAD = 64
"""Sums of a product in a thread from which on more threads share them, where they can.

With 128 of them, the addresses and the tiles that a thread loads beside do not fit.
"""

REGISTER_LIMITED_WARPS = 16
"""Warps whose threads have 128 registers at most, where more sums than that would never fit.

More of them would not have fewer tile elements for each register that is left.
"""

MAX_ELEMENTS_PER_THREAD = 32
"""Elements of a tile in a thread from which on more threads share it: four vectors of 16 bytes."""

MIN_ELEMENTS_PER_THREAD = 8
"""Elements of a tile in a thread below which fewer threads share it, where no loop computes.

What each warp does for a tile, whatever its size, is most of what such tile blocks take; those of
one warp share CTAs (`share-ctas`).  In a loop, more warps hide what few CTAs wait for, unless it is
loads: means of 65,536 segments of 16 rows of 128 f16 take 232 us of an H200 in four warps, and 120
in one.
"""

MIN_ELEMENTS_REDUCED_AGAIN = 16
"""Elements of a tile in a thread below which fewer threads share it, if it is reduced repeatedly.

Shuffles, a barrier and what other warps leave cost a warp as much for one element as for many.  On
an H200, rows of 1,024 in 4 and in 2 warps: layer_norm f16 2,679 and 2,912 GB/s, softmax bf16 2,722
and 2,934; rms_norm, of one reduction, 3,092 and 3,043.  Loops that load nothing are bound by
instructions, of which each warp has its own: there as few warps as have registers.  In 4, 2 and 1
warps, 8,192 LU factors of 32x32 0.63, 0.54 and 0.46 ms, inverses 0.23, 0.35 and 0.23, 16,384
triangular inverses 0.23, 0.22 and 0.19, Cholesky factors 0.63, 0.62 and 0.67, 4,096 eigenvalue
problems of 8x8 0.51, 0.27 and 0.17.
"""

WAITS = (AtomicCasTkoOp, AtomicRmwTkoOp, LoadPtrTkoOp, LoadViewTkoOp)
"""Operations whose result comes from memory."""

MAX_REGISTERS_OF_TILES = 128
"""Registers of live tiles in a thread from which on more threads share them."""

REGISTERS_LEFT_FOR_TILES = 192
"""Of a thread's 255 registers, those that tiles can have: addresses and functions need others."""

POINTER_BITS = 64

ROWS = 16
"""Rows of a product that each warp has at least (PTX ISA, wgmma and mma)."""


def default_warps(kernel: EntryOp) -> int:
    """The warps that the products of a kernel need, or those that its tiles do."""
    shapes = [shape_of(op.acc.type) for op in instances_in(kernel, MmaFOp, MmaIOp)]
    if shapes:
        return max(map(warps_of_product, shapes))
    largest = max(
        (_elements(value) for op in operations_in(kernel) for value in op.results), default=0
    )
    live = _live_registers(kernel)
    warps = DEFAULT_WARPS
    while warps < REGISTER_LIMITED_WARPS and (
        largest > MAX_ELEMENTS_PER_THREAD * WARP * warps
        or live > MAX_REGISTERS_OF_TILES * WARP * warps
    ):
        warps *= 2
    has_loop = bool(_loops(kernel))
    reductions = 0 if has_loop else sum(map(_combines, kernel.regions[0].block.ops))
    while reductions > 1 and warps > 1 and largest < MIN_ELEMENTS_REDUCED_AGAIN * WARP * warps:
        warps //= 2
    least = _least_elements(kernel) if has_loop else MIN_ELEMENTS_PER_THREAD
    while warps > 1 and 1 < largest <= least * WARP * warps // 2:
        warps //= 2
    if _reduces_what_it_has(kernel):
        while (
            warps > 1
            and largest <= MAX_ELEMENTS_PER_THREAD * WARP * warps // 2
            and live <= MAX_REGISTERS_OF_TILES * WARP * warps // 2
        ):
            warps //= 2
    return warps


def _least_elements(kernel: EntryOp) -> int:
    """The elements of a thread below which fewer threads share a tile, in a kernel with loops."""
    return MIN_ELEMENTS_PER_THREAD if all(map(_streams, _loops(kernel))) else 1


def _loops(kernel: EntryOp) -> Sequence[Operation]:
    """The loops of a kernel that may run more than once.

    A head of 128 dims as blocks of 64 pairs is `for 0 to 1`, which is its body.
    """
    found = instances_in(kernel, ForOp, LoopOp)
    return [op for op in found if not (isinstance(op, ForOp) and runs_once(op))]


def _streams(loop: Operation) -> bool:
    """Whether a loop has little to do but to wait: a conversion and a sum for what it loads."""
    ops = [op for op in operations_in(loop) if op is not loop]
    loads = sum(isinstance(op, WAITS) for op in ops)
    work = sum(any(map(_is_of_floats, op.results)) for op in ops if not isinstance(op, WAITS))
    return work <= 2 * loads and not any(isinstance(op, ReduceOp | ScanOp) for op in ops)


def _is_of_floats(value: SSAValue) -> bool:
    return isinstance(element_of(value.type), AnyFloat) and _elements(value) > 1


def _reduces_what_it_has(kernel: EntryOp) -> bool:
    """Whether a loop reduces tiles and loads nothing: instructions bound it, not memory."""
    loops = [op for op in _loops(kernel) if op.parent_op() is kernel]
    inner = [list(operations_in(loop)) for loop in loops]
    return any(
        any(map(_combines, ops)) and not any(isinstance(op, WAITS) for op in ops) for ops in inner
    )


def _combines(op: Operation) -> bool:
    """Whether an operation combines several elements; those of extent 1 are only renamed."""
    return isinstance(op, ReduceOp) and shape_of(op.values[0].type)[op.dim.value.data] > 1


def enough_warps(kernel: EntryOp, hint: int) -> int:
    """The warps of a hint, or more where theirs have not registers enough for the live tiles.

    A product's warps are kept: which tiles its operands become is not known yet.
    """
    if has_instance(kernel, MmaFOp, MmaIOp):
        return hint
    live, warps = _live_registers(kernel), hint
    while warps < REGISTER_LIMITED_WARPS and live > REGISTERS_LEFT_FOR_TILES * WARP * warps:
        warps *= 2
    if warps != hint:
        text = (
            f"num_worker_warps_per_cta = {hint} is too few: tiles that are live at once take "
            f"{live // (hint * WARP)} registers of each thread; {warps} warps share them"
        )
        emit_remark(kernel, text, prefix=False)
    return warps


def _live_registers(kernel: EntryOp) -> int:
    """The registers of all threads that tiles take where most of them are live."""
    return peak_registers(kernel.regions[0], _registers)


def warps_of_product(shape: tuple[int, ...]) -> int:
    """Return the warps among which the sums of a product of a shape are spread.

    Warpgroups share more columns than an instruction has: two have 64x256 each of 64x512.
    """
    warps, rows, sums = DEFAULT_WARPS, prod(shape[:-1]), prod(shape)
    while sums > MAX_ACCUMULATORS_PER_THREAD * WARP * warps and rows % (2 * warps * ROWS) == 0:
        if (
            2 * warps >= REGISTER_LIMITED_WARPS
            and sums > MAX_ACCUMULATORS_PER_THREAD * WARP * REGISTER_LIMITED_WARPS
        ):
            break
        warps *= 2
    shared = DEFAULT_WARPS * ceil_div(shape[-1], MAX_COLUMNS)
    return max(warps, shared) if shared < REGISTER_LIMITED_WARPS else warps


_FREE = Kinds(BroadcastOp, ConstantOp, IotaOp)
"""Operations whose tile is made again wherever it is used."""


def _elements(value: SSAValue) -> int:
    """The elements of a tile that registers hold."""
    is_tile = isinstance(value.type, TileType) and not _FREE[type(value.owner)]
    return prod(shape_of(value.type)) if is_tile else 0


def _registers(value: SSAValue) -> int:
    """The 32-bit registers of a tile; booleans are predicates, pointers have 64 bits.

    Addresses and what they are computed from take none, but for tiles from memory.
    """
    element = element_of(value.type)
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else POINTER_BITS
    if bits == 1 or is_from_coordinates(value, _integer_sources):
        return 0
    return ceil_div(_elements(value) * bits, 32)


def _integer_sources(value: SSAValue) -> Sequence[SSAValue] | None:
    """The tiles that a tile of integers or pointers is computed from by pure operations."""
    made = value.owner
    if _FREE[type(made)]:
        return ()
    if not isinstance(element_of(value.type), IntegerType | PtrType):
        return None
    if isinstance(made, Block) or made.regions or not is_side_effect_free(made):
        return None
    return [operand for operand in made.operands if shape_of(operand.type)]
