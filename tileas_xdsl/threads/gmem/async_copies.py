"""Copies of tiles behind pointers into shared memory that go on beside the threads: `cp.async`.

    %x = nv_tileas.load %p mask %m           each thread, for its pieces of 16 bytes:
    nv_tileas.copy %x, %tile          ->     cp.async [%tile + at], [%p], 16, %m ? 16 : 0

A masked chunk is filled with zeros by the copy itself.  Source: PTX ISA, cp.async.
"""

from __future__ import annotations

from tileas_xdsl.dialects.cute_nvgpu import CpAsyncOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.target.isa.tables.asynchronous import COPY_SIZES
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i32_constant, logical_and
from tileas_xdsl.threads.codegen.lowered_values import SharedTile
from tileas_xdsl.threads.gmem.contiguous_pointer_runs import Runs
from tileas_xdsl.threads.gmem.pointer_elements import PointerElements
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.smem.swizzled_tile_access import chunk_address

PAST_THE_FIRST_CACHE = 16
"""Bytes of a copy that leaves the first cache out, for nothing else reads them soon."""


def can_copy(e: ThreadBuilder, load: LoadOp, tile: SharedTile) -> bool:
    """Whether the pieces that threads have of a tile lie side by side in shared memory too."""
    layout = encoded_layout(e, load, load.result.type)
    form = None if layout is None else blocked(layout)
    if form is None or not tile.layout.is_by_row:
        return False
    return form.vector * tile.layout.bits // 8 in COPY_SIZES["ca"]


def start_copies(e: ThreadBuilder, load: LoadOp, tile: SharedTile) -> None:
    """Let each thread start the copies of its pieces; no two threads copy the same one."""
    runs = Runs.of(PointerElements.of(e, load, load.base, load.mask), stored=True)
    assert runs is not None
    assert runs.are_known
    for chunk in runs.chunks:
        size = chunk.count * runs.type.element_bytes
        there = logical_and(e, runs.mine, chunk.exists)
        flag = runs.flag(chunk)
        copied = None
        if flag is not None:
            both = (i32_constant(e, size), i32_constant(e, 0))
            copied = e.insert(selection(flag, *both)).result
        cache = "global" if size == PAST_THE_FIRST_CACHE else "always"
        address = chunk_address(e, tile, chunk)
        e.insert(
            CpAsyncOp(address, runs.address(chunk), size, cache, pred=there, source_bytes=copied)
        )
