"""Resident blocks of kernels that only stream: load tiles, compute each element, store tiles.

Memory is busy where enough bytes are on their way (Little's law: 4.8 TB/s for 1.3 us are 47 KB of
each of 132 multiprocessors), and each block has its own on their way only while it loads.  What is
computed of one element is needed for no other one, so that registers hold what was loaded, what
will be stored, and a few elements between:

    %x = tiled_load                8 registers of a thread (16 elements of 16 bits)
    %w = extf %x; %t = tanh ...    those of some elements, one after the other
    %y = truncf ...                8
    tiled_store %y

On an H200, of a copy, gelu by a hyperbolic tangent in tiles of 2,048 f16 with 36, 40, 48 and 64
warps a multiprocessor: 0.91, 0.94, 0.98, 0.98 (54, 47, 40, 32 registers).  In tiles of 4,096 with
28, 40 and 48, which have 56 KB and more: 0.97, 0.89, 0.92.
"""

from __future__ import annotations

from xdsl.dialects import arith, func, tensor
from xdsl.ir import Operation

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.analysis.values.float_intervals import is_plain_inverse
from tileas_xdsl.analysis.values.float_ranges import FloatRanges
from tileas_xdsl.analysis.values.liveness.tiles import tile_registers
from tileas_xdsl.analysis.values.operand_ranges import operand_ranges
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS

BYTES_ON_THEIR_WAY = 48 * 1024
"""That loads of a multiprocessor should have."""

HEADROOM_OF_STREAMS = 24
"""Registers of a thread beside what is loaded and stored: addresses, and some elements at once."""

FEW_INSTRUCTIONS = frozenset(("exp", "exp2", "tanh"))
"""Functions of which ptxas was seen to compute one element after the other."""


def blocks_of_streams(kernel: func.FuncOp, threads: int, target: Target) -> int:
    """Return the blocks that have enough on their way, as far as registers go; 1 of other kernels.

    A division has a branch for operands of extreme magnitude, which holds all elements, unless
    there are none.
    """
    operations = list(kernel.body.block.ops)
    loads = [op for op in operations if isinstance(op, TiledLoadOp)]
    stores = [op for op in operations if isinstance(op, TiledStoreOp)]
    if not loads or not all(map(_streams, operations)):
        return 1
    words = sum(tile_registers(op.result) for op in loads)
    words += sum(tile_registers(op.value) for op in stores)
    registers = ceil_div(words, threads) + HEADROOM_OF_STREAMS
    by_registers = target.registers_per_multiprocessor // (threads * registers)
    wanted = ceil_div(BYTES_ON_THEIR_WAY, sum(tile_bytes(op.result.type) for op in loads))
    by_threads = 32 * target.warps_per_multiprocessor // threads
    return max(1, min(by_registers, wanted, by_threads, target.blocks_per_multiprocessor))


def _streams(op: Operation) -> bool:
    """Whether an operation computes numbers, or each element on its own in few instructions."""
    tiles = [value for value in (*op.operands, *op.results) if as_tile(value.type) is not None]
    if not tiles:
        return not op.regions
    if isinstance(op, TiledLoadOp | TiledStoreOp):
        return op.atom.data.family in ("ldg", "stg") and op.rotated is None
    if isinstance(op, arith.ConstantOp | tensor.SplatOp):
        return True
    return layout_role(op) is LayoutRole.ELEMENTWISE and not op.regions and _is_short(op)


def _is_short(op: Operation) -> bool:
    if isinstance(op, arith.DivfOp):
        return is_plain_inverse(*operand_ranges(op, FloatRanges()))
    name = op.name.removeprefix("math.")
    return name not in MATH_FUNCTIONS or name in FEW_INSTRUCTIONS
