"""Shared-memory tiles: allocation at first use, and the swizzle of their rows."""

from __future__ import annotations

from xdsl.dialects.builtin import i8
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import divide, modulo, multiply
from tileas_xdsl.threads.codegen.lowered_values import PendingTile, SharedTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.smem.dead_memory import memory_for_operand, memory_for_staging
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT

NOBODY = -1
"""The agent for which memory is visible that had another tile: its loads wait for all readers."""


def shared_tile(e: ThreadBuilder, value: SSAValue) -> SharedTile:
    """Return a tile in shared memory; a pending one is allocated now."""
    found = e.values[value]
    if isinstance(found, SharedTile):
        return found
    op = value.owner if isinstance(value.owner, Operation) else e.plan.kernel
    if not isinstance(found, PendingTile):
        raise op_error(op, "is used as a tile in shared memory, but lives elsewhere")
    layout = found.layout
    if found.offset is None and e.plan.is_thrifty:
        found.offset = memory_for_operand(e, value, found.bytes)
        if found.offset is not None:
            found.visible_to = NOBODY
    if found.offset is None:
        found.offset = memory_for_staging(e, value, found.bytes)
        if found.offset is not None:
            found.visible_to = NOBODY
    if found.offset is None:
        found.offset = e.plan.shared.allocate(op, found.name, found.bytes, layout.describe())
    pointer = e.insert(GetDynSmemOp(found.offset, i8, ALIGNMENT)).result
    if found.place is not None:
        pointer = advance(e, pointer, multiply(e, found.place, layout.bytes), ALIGNMENT)
    order = found.is_in_order_of_sums
    return SharedTile(pointer, layout, found.element, is_in_order_of_sums=order)


def swizzled_rows(mode: str) -> int:
    """Return after how many rows a swizzle flips the same bits again."""
    bits = BYTE_SWIZZLES[mode].bits
    return 128 // (16 << bits) << bits if bits else 1


def row_swizzle(e: ThreadBuilder, row: SSAValue, mode: str) -> SSAValue | None:
    """Return the bits that a swizzle flips in byte offsets of a row; None where it flips none.

    A swizzle <B, 4, 3> flips bits 4 to 4 + B by bits 7 to 7 + B of the address, so a row of
    `16 << B` bytes is flipped by its index modulo `1 << B`, or by that of its group of rows where
    several rows share 128 bytes.
    """
    bits = BYTE_SWIZZLES[mode].bits
    if bits == 0:
        return None
    rows_of_span = swizzled_rows(mode) >> bits
    return multiply(e, modulo(e, divide(e, row, rows_of_span), 1 << bits), 16)
