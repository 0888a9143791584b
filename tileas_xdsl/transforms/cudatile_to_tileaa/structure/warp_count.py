"""Choose the number of warps of a kernel without a hint: by its products, else by its tiles."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.live_tiles import peak_registers
from tileas_xdsl.dialects.cuda_tile.matches import shape_of
from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp
from tileas_xdsl.dialects.cuda_tile.tiles.constants import ConstantOp
from tileas_xdsl.dialects.cuda_tile.tiles.matmul import MmaFOp, MmaIOp
from tileas_xdsl.dialects.cuda_tile.tiles.shapes import BroadcastOp, IotaOp
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType, element_of
from tileas_xdsl.layout.integers import ceil_div

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

MAX_REGISTERS_OF_TILES = 128
"""Registers of live tiles in a thread from which on more threads share them."""

LANES = 32

POINTER_BITS = 64

ROWS = 16
"""Rows of a product that each warp has at least (PTX ISA, wgmma and mma)."""


def default_warps(kernel: EntryOp) -> int:
    """The warps that the products of a kernel need, or those that its tiles do."""
    shapes = [shape_of(op.acc.type) for op in kernel.walk() if isinstance(op, MmaFOp | MmaIOp)]
    if shapes:
        return max(map(_warps_of_product, shapes))
    largest = max((_elements(value) for op in kernel.walk() for value in op.results), default=0)
    live = peak_registers(kernel.regions[0], _registers) if largest else 0
    warps = DEFAULT_WARPS
    while warps < REGISTER_LIMITED_WARPS and (
        largest > MAX_ELEMENTS_PER_THREAD * LANES * warps
        or live > MAX_REGISTERS_OF_TILES * LANES * warps
    ):
        warps *= 2
    return warps


def _warps_of_product(shape: tuple[int, ...]) -> int:
    warps, rows, sums = DEFAULT_WARPS, prod(shape[:-1]), prod(shape)
    while sums > MAX_ACCUMULATORS_PER_THREAD * LANES * warps and rows % (2 * warps * ROWS) == 0:
        if (
            2 * warps >= REGISTER_LIMITED_WARPS
            and sums > MAX_ACCUMULATORS_PER_THREAD * LANES * REGISTER_LIMITED_WARPS
        ):
            break
        warps *= 2
    return warps


_FREE = (BroadcastOp, ConstantOp, IotaOp)
"""Operations whose tile is made again wherever it is used."""


def _elements(value: SSAValue) -> int:
    """The elements of a tile that registers hold."""
    is_tile = isinstance(value.type, TileType) and not isinstance(value.owner, _FREE)
    return prod(shape_of(value.type)) if is_tile else 0


def _registers(value: SSAValue) -> int:
    """The 32-bit registers of a tile; booleans are predicates, pointers have 64 bits."""
    element = element_of(value.type)
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else POINTER_BITS
    return 0 if bits == 1 else ceil_div(_elements(value) * bits, 32)
