"""Load what waits for nothing in front of the reduction that it stands behind.

    %x = tiled_load %rows[%i]              %x = tiled_load %rows[%i]
    %m = reduce %x                         %w = tiled_load %weights[0]
    %w = tiled_load %weights[0]     ->     %m = reduce %x
    use %m, %w                             use %m, %w

Threads meet in a reduction, and ptxas moves no load over a barrier: the latency of the second load
comes behind that of the first and of the reduction, where both could be on their way together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from xdsl.dialects import func
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.liveness.tiles import peak_registers, tile_registers
from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars, operations_behind
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tma.store_order import writes_unordered
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder
from tileas_xdsl.threads.pipeline.occupancy import (
    ENOUGH_WARPS,
    EXPECTED_HEADROOM,
    resident_registers,
)

ARRAYS = ("nv_tileaa.assume", "nv_tileaa.make_memref")
"""Names of operations on pointers and numbers that declare nothing about effects."""

FEW_REGISTERS = 2
"""Of a thread, for what is loaded ahead whatever else is live: a column, in a round of a loop."""


def load_ahead(function: func.FuncOp, target: Target) -> None:
    """Move loads in front of the first reduction of their block, where registers are left for them.

    No store may stand in between that nothing but its place orders, and no grid be waited for.
    """
    for first in [op for op in function.walk() if isinstance(op, ReduceOp)]:
        block = first.parent_block()
        if block is None or any(isinstance(op, ReduceOp) for op in _before(first, block)):
            continue
        behind = list(block.ops)[len(_before(first, block)) :]
        loads = [op for op in takewhile(_may_be_passed, behind) if _may_move(op)]
        moved = {op for load in loads for op in operations_behind(load.operands)} | set(loads)
        if not loads or not _fits(function, target, loads):
            continue
        for op in [op for op in behind if op in moved]:
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(first))


def _before(op: Operation, block: Block) -> Sequence[Operation]:
    """Return the operations of a block in front of one."""
    return list(takewhile(lambda one: one is not op, block.ops))


def _fits(function: func.FuncOp, target: Target, loads: Sequence[Operation]) -> bool:
    """Whether as many warps are resident with what is loaded ahead as without, or it is little."""
    threads = spec_of(function).num_warps * WARP
    added = sum(tile_registers(op.results[0]) for op in loads)
    if added <= FEW_REGISTERS * threads:
        return True
    live = peak_registers(function.body, resident_registers)
    resident = max(threads, ENOUGH_WARPS * WARP)
    registers = target.registers_per_multiprocessor // resident
    return (live + added) // threads + EXPECTED_HEADROOM <= registers


def _may_be_passed(op: Operation) -> bool:
    return not any(
        writes_unordered(inner) or isinstance(inner, GridDependencyOp) for inner in op.walk()
    )


def _may_move(op: Operation) -> bool:
    """Whether threads load in no order with anything else, from a place computed of numbers."""
    if not isinstance(op, TiledLoadOp) or not is_plain_load(op):
        return False
    if op.token is None or (op.out_token and op.out_token.uses):
        return False
    return all(map(is_of_numbers, operations_behind(op.operands)))


def is_plain_load(op: TiledLoadOp) -> bool:
    """Whether threads load a whole tile into registers, in no order with other threads."""
    is_weak = MemoryOrder.of(op.mem_semantic, op.mem_scope).semantics is None
    is_in_registers = space_of(op.result.type) in (None, Space.RMEM)
    return op.atom.data.family == "ldg" and op.mask is None and is_weak and is_in_registers


def is_of_numbers(op: Operation) -> bool:
    """Whether an operation computes a number, a view or an array, or begins an order."""
    made = isinstance(op, ViewOp | CreateNoneOp) or op.name in ARRAYS
    return made or is_of_scalars(op)
