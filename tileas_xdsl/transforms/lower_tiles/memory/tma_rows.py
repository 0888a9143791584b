"""Handlers of TMA gather4 and scatter4: one instruction per four rows of a panel.

The thread that issues them reads the numbers of the rows where all threads of the agent have put
them, in shared memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import Block, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp
from tileas_xdsl.dialects.cute_nvgpu import (
    BulkCommitOp,
    FenceProxyAsyncOp,
    TmaLoadOp,
    TmaStoreOp,
)
from tileas_xdsl.dialects.cute_nvgpu.tma.copies import BULK_ALIGNMENT
from tileas_xdsl.dialects.nv_tileas.tma.checks import ROWS_OF_AN_INSTRUCTION
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncGatherTmaLoadOp, AsyncScatterTmaStoreOp
from tileas_xdsl.target.features import Feature
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, cast_index, i1_constant, multiply
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    SharedTile,
    Splat,
    StoreToken,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.structured_control_flow import run_if
from tileas_xdsl.threads.codegen.thread_ids import is_elected_in_agent
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_values import element, splat_scalar
from tileas_xdsl.threads.smem.scratch_buffer import spilled
from tileas_xdsl.threads.tma.bulk_load import is_written, load_by
from tileas_xdsl.threads.tma.descriptor_args import described, mask_of

RowOp = AsyncGatherTmaLoadOp | AsyncScatterTmaStoreOp

Numbers = Callable[[int], Sequence[SSAValue]]
"""From the first of four rows, return the four row indices for the calling thread."""

Copy = Callable[[SSAValue, Sequence[SSAValue]], object]
"""From a shared-memory address and coordinates, emit one gather4 or scatter4 instruction."""


def gather(e: ThreadBuilder, op: AsyncGatherTmaLoadOp) -> Sequence[Lowered]:
    """Load rows by their indices (gather4), whose bytes a barrier counts."""
    descriptor, tile = _described(e, op, op.destination)
    numbers = _numbers(e, op)
    mask = mask_of(e, op)

    def copies(barrier: SSAValue, elected: SSAValue | None) -> None:
        def copy(pointer: SSAValue, coordinates: Sequence[SSAValue]) -> None:
            e.insert(TmaLoadOp(descriptor, pointer, barrier, coordinates, mask, mode="gather4"))

        _by_one_thread(e, elected, lambda: _copies(e, op, tile, numbers, copy))

    return [load_by(e, op, copies)]


def scatter(e: ThreadBuilder, op: AsyncScatterTmaStoreOp) -> Sequence[Lowered]:
    """Fence and synchronise the writers; one thread stores rows by index (scatter4) and commits."""
    descriptor, tile = _described(e, op, op.source)
    numbers = _numbers(e, op)
    e.insert(FenceProxyAsyncOp("generic" if is_written(e, op) else "shared::cta"))
    synchronize_agent(e)
    elected = is_elected_in_agent(e)

    def copy(pointer: SSAValue, coordinates: Sequence[SSAValue]) -> None:
        e.insert(TmaStoreOp(descriptor, pointer, coordinates, mode="scatter4"))

    _by_one_thread(e, elected, lambda: _copies(e, op, tile, numbers, copy))
    e.insert(BulkCommitOp(elected))
    return [StoreToken(i1_constant(e, True) if elected is None else elected)]


def _described(e: ThreadBuilder, op: RowOp, buffer: SSAValue) -> tuple[SSAValue, SharedTile]:
    """The tensor map, of boxes of one row, and the tile."""
    reason = e.plan.target.lacks(Feature.TILE_GATHER, "moves rows by their indices, which")
    if reason is not None:
        raise op_error(op, reason)
    descriptor, tile = described(e, op, op.desc, buffer, (1,))
    if ROWS_OF_AN_INSTRUCTION * tile.layout.row_bytes % BULK_ALIGNMENT:
        raise op_error(
            op,
            f"moves rows of {tile.layout.row_bytes} bytes, but {ROWS_OF_AN_INSTRUCTION} of them "
            f"are a multiple of {BULK_ALIGNMENT}",
        )
    return descriptor.argument, tile


def _numbers(e: ThreadBuilder, op: RowOp) -> Numbers:
    """The numbers of the rows; those in registers are put where one thread sees them all."""
    found = e.get(op.rows)
    if isinstance(found, Splat):
        number = cast_index(e, splat_scalar(e, found), i32)
        return lambda first: [number] * ROWS_OF_AN_INSTRUCTION
    room = spilled(e, op, in_registers(e, op, op.rows))

    def read(first: int) -> Sequence[SSAValue]:
        type_ = VectorType(i32, [ROWS_OF_AN_INSTRUCTION])
        four = e.insert(LoadOp(room.pointer, type_, offset=first)).result
        return [element(e, four, k) for k in range(ROWS_OF_AN_INSTRUCTION)]

    return read


def _copies(e: ThreadBuilder, op: RowOp, tile: SharedTile, numbers: Numbers, copy: Copy) -> None:
    """An instruction for each four rows and each panel."""
    layout = tile.layout
    start = cast_index(e, multiply(e, e.scalar(op.coords[0]), layout.columns), i32)
    columns = [add(e, start, k * layout.panel) for k in range(layout.panels)]
    base = tile.pointer
    for first in range(0, tile.height, ROWS_OF_AN_INSTRUCTION):
        rows = numbers(first)
        for panel, column in enumerate(columns):
            offset = (tile.first_row + first) * layout.row_bytes + panel * layout.panel_bytes
            copy(advance(e, base, offset, BULK_ALIGNMENT), [column, *rows])


def _by_one_thread(e: ThreadBuilder, elected: SSAValue | None, act: Callable[[], None]) -> None:
    """Do something where the elected thread is."""
    if elected is None:
        act()
        return
    block = Block()
    with e.within(block):
        act()
    run_if(e, elected, block)


HANDLERS: Handlers = {
    AsyncGatherTmaLoadOp: gather,
    AsyncScatterTmaStoreOp: scatter,
}
