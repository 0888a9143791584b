"""Shared-memory matrix descriptors of wgmma and tcgen05.mma, and their advance along K."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cute_nvgpu import (
    MakeGmmaSmemDescOp,
    MakeUmmaSmemDescOp,
    SmemDescAddOp,
)
from tileas_xdsl.target.mma.canonical import CanonicalLayout, Major
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import SharedTile
from tileas_xdsl.threads.codegen.pointer_ops import advance


def operand_start(e: ThreadBuilder, tile: SharedTile, mn: int, major: Major) -> SSAValue:
    """Return the address of an operand from element `mn` along MN on.

    That is a row of a K-major operand, and a column of an MN-major one, where a panel begins.
    """
    row, column = (0, mn) if major == "mn" else (mn, 0)
    rows = (tile.first_row + row) * tile.layout.row_bytes
    return advance(e, tile.pointer, rows + tile.layout.column_offset(column))


def wgmma_descriptor(e: ThreadBuilder, pointer: SSAValue, layout: CanonicalLayout) -> SSAValue:
    """Return the wgmma descriptor of an operand that starts at an address."""
    made = MakeGmmaSmemDescOp(
        pointer, layout.mode, layout.leading_byte_offset, layout.stride_byte_offset
    )
    return e.insert(made).result


def tcgen05_descriptor(e: ThreadBuilder, tile: SharedTile, layout: CanonicalLayout) -> SSAValue:
    """Return the tcgen05 descriptor of a tile that is an operand."""
    pointer = advance(e, tile.pointer, tile.first_row * tile.layout.row_bytes)
    made = MakeUmmaSmemDescOp(
        pointer, layout.mode, layout.leading_byte_offset, layout.stride_byte_offset
    )
    return e.insert(made).result


def step_descriptor(
    e: ThreadBuilder, descriptor: SSAValue, layout: CanonicalLayout, k: int
) -> SSAValue:
    """Return the descriptor of step `k` along K."""
    offset: Any = layout.starts(k)
    return e.insert(SmemDescAddOp(descriptor, int(offset))).result
