"""Access chunks of a register layout that is given as a table, without a closed form."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from tileas_xdsl.layout.registers.access_chunks import access_chunks
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add
from tileas_xdsl.threads.index.per_thread_tables import holds, tabulated
from tileas_xdsl.threads.registers.access_chunk import AccessChunk


def encoded_access_chunks(
    e: ThreadBuilder, layout: RegisterLayout, bits: int, *, stored: bool
) -> Iterator[AccessChunk]:
    """The pieces of a thread; of those that are stored only what no thread before it has."""
    lines: dict[tuple[SSAValue, int, SSAValue], int] = {}
    digits = layout.thread_digits
    for strip in access_chunks(layout, chunk_elements(bits)):
        flags = strip.first if stored else strip.present
        if not flags.any():
            continue
        row, down = tabulated(e, strip.row, digits)
        column, right = tabulated(e, strip.column, digits)
        if right < 0:
            column, right = add(e, column, right), 0
        yield AccessChunk(
            0,
            strip.register,
            strip.count,
            add(e, row, down) if len(layout.shape) > 1 else None,
            column,
            right,
            1,
            lines.setdefault((row, down, column), len(lines)),
            holds(e, flags, digits),
        )


def chunk_elements(bits: int) -> int:
    """The most elements of `bits` that one access of a thread moves."""
    return 8 * ACCESS_BYTES // bits
