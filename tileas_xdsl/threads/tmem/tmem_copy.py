"""Copies between tensor memory and registers (`tcgen05.ld`, `tcgen05.st`)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.memory.tensor_registers import STEP, TmemTransfer, move_to
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import TmemFenceOp, TmemLoadOp, TmemStoreOp, TmemWaitOp
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import TMEM_MAX_REGISTERS, TMEM_REGISTERS
from tileas_xdsl.target.tensor_memory import LANE_STEP
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, divide, i1_constant, modulo, multiply, xor
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile, TmemTile
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import warp_id
from tileas_xdsl.threads.convert.register_conversion import converted
from tileas_xdsl.threads.registers.vector_values import joined, strip, zero

WAITED_REGISTERS = 64
"""Registers of a thread that are loaded and waited for at once.

What is computed of them, like their sums with other registers, frees them before more are loaded.
Of 128x256 sums in two warpgroups, 128 registers of 216, ptxas 13.5 spilled 560 bytes, now none.
"""

ZEROS = 8
"""Columns cleared by one store; accumulators have a multiple of it."""


def address(e: ThreadBuilder, tile: TmemTile) -> SSAValue:
    """The address of the first column of a tile, in lane 0."""
    assert e.tensor is not None
    place, ring = tile.place, tile.place.ring
    first = add(e, add(e, e.tensor.base, place.column), tile.column)
    if ring is None or ring.copies == 1:
        return first
    return add(e, first, multiply(e, e.accumulator_stages[ring].stage, place.columns))


def lanes_of_warp(e: ThreadBuilder, start: SSAValue) -> SSAValue:
    """Return an address advanced to the first lane that this warp can access."""
    quarter = modulo(e, warp_id(e), WARPGROUP_WARPS)
    return add(e, start, multiply(e, quarter, WARP * LANE_STEP))


def load(
    e: ThreadBuilder, op: Operation, tile: TmemTile, wanted: RegisterLayout | None = None
) -> RegisterTile:
    """A tile in registers: those of a layout where one instruction fills them, else the usual."""
    move, layout, starts = _moves(e, op, tile, wanted, WAITED_REGISTERS)
    waited: list[SSAValue] = []
    together = max(WAITED_REGISTERS // (starts[0][1] * TMEM_REGISTERS[move.shape]), 1)
    for first in range(0, len(starts), together):
        loads = [
            e.insert(TmemLoadOp(start, tile.element, move.shape, count)).result
            for start, count in starts[first : first + together]
        ]
        waited += e.insert(TmemWaitOp("load", loads)).results
    return RegisterTile(layout, tile.element, (joined(e, waited),))


def store(e: ThreadBuilder, op: Operation, source: RegisterTile, tile: TmemTile) -> None:
    """Store registers to tensor memory; complete for all threads of the agent on return."""
    move, layout, starts = _moves(e, op, tile, source.layout)
    (registers,) = converted(e, op, source, layout).parts
    first = 0
    for start, count in starts:
        size = count * TMEM_REGISTERS[move.shape]
        e.insert(TmemStoreOp(start, strip(e, registers, first, size), move.shape, count))
        first += size
    e.insert(TmemWaitOp("store"))
    _synchronise(e)


def _moves(
    e: ThreadBuilder,
    op: Operation,
    tile: TmemTile,
    wanted: RegisterLayout | None,
    most: int = TMEM_MAX_REGISTERS,
) -> tuple[TmemTransfer, RegisterLayout, Sequence[tuple[SSAValue, int]]]:
    """Return the instructions that move a tile: start column and repetitions of each."""
    (rows, columns), groups = tile.shape, e.agent.groups
    found = move_to(rows, columns, groups, wanted, tile.halves)
    if found is None:
        raise op_error(
            op,
            f"moves {rows}x{columns} elements of tensor memory with {e.agent.warps} warps; whole "
            f"warpgroups reach all of its lanes, and share columns in groups of {STEP}",
        )
    move, layout = found
    start, share = lanes_of_warp(e, address(e, tile)), columns // tile.halves // groups
    if groups > 1:
        start = add(e, start, multiply(e, divide(e, warp_id(e), WARPGROUP_WARPS), share))
    return (
        move,
        layout,
        [
            (add(e, start, lane * LANE_STEP + column), count)
            for lane, column, count in move.instructions(share, most)
        ],
    )


def clear_unless_full(e: ThreadBuilder, tile: TmemTile) -> None:
    """Zero an accumulator that no MMA has written: this warp clears the lanes it reads.

    Where several warps share lanes each clears a part of the columns, and all synchronise.
    """
    if isinstance(tile.full.owner, arith.ConstantOp):
        return
    groups, columns = e.agent.groups, tile.shape[1] // tile.halves
    with predicated(e, xor(e, tile.full, i1_constant(e, True))):
        start = lanes_of_warp(e, address(e, tile))
        if groups > 1:
            start = add(
                e, start, multiply(e, divide(e, warp_id(e), WARPGROUP_WARPS), columns // groups)
            )
        zeros = joined(e, [zero(e, tile.element)] * ZEROS)
        for first in range(0, columns // groups, ZEROS):
            e.insert(TmemStoreOp(add(e, start, first), zeros, "32x32b", ZEROS))
        e.insert(TmemWaitOp("store"))
        if groups > 1:
            _synchronise(e)


def _synchronise(e: ThreadBuilder) -> None:
    """Synchronise the threads of the agent between stores and loads of tensor memory."""
    e.insert(TmemFenceOp("before"))
    synchronize_agent(e)
    e.insert(TmemFenceOp("after"))
