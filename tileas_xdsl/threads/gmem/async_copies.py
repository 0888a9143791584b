"""Copies of what threads load into shared memory that go on beside them: `cp.async`.

    %x = nv_tileas.load %p mask %m           each thread, for its runs of 16 bytes:
    nv_tileas.copy %x, %tile          ->     cp.async [%tile + at], [%p], 16, %m ? 16 : 0

    %y = nv_tileas.tiled_load %v             of 8 bytes, where rows are that far aligned:
    nv_tileas.copy %y, %tile          ->     cp.async [%tile + at], [%v + at], 8, inside ? 8 : 0

A run that is masked or out of bounds is filled with zeros by the copy itself.  Source: PTX ISA,
cp.async.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from tileas_xdsl.analysis.memory.copied_chunks import SIZES, ThreadLoad, copied_bytes
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import CpAsyncOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i32_constant, logical_and
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, SharedTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile
from tileas_xdsl.threads.gmem.chunk_accesses import Accesses
from tileas_xdsl.threads.gmem.pointers.contiguous_pointer_runs import Runs
from tileas_xdsl.threads.gmem.pointers.pointer_elements import PointerElements
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import is_first_replica, thread_chunks
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.smem.swizzled_tile_access import chunk_address

PAST_THE_FIRST_CACHE = 16
"""Bytes of a copy that leaves the first cache out, for nothing else reads them soon."""


@dataclass(frozen=True)
class Copied:
    """A run that a thread copies."""

    chunk: AccessChunk
    source: SSAValue
    mine: SSAValue | None
    """Whether the thread copies it; None if always."""
    inside: SSAValue | None
    """Whether there is something to copy, and not zeros; None if always."""


def can_copy(e: ThreadBuilder, load: ThreadLoad, tile: SharedTile) -> bool:
    """Whether threads have runs of a tile, or parts of them, side by side in shared memory too."""
    layout = encoded_layout(e, load, load.result.type)
    form = None if layout is None else blocked(layout)
    if form is None or not tile.layout.is_by_row:
        return False
    size = form.vector * tile.layout.bits // 8
    return size in SIZES and copied_bytes(load) % size == 0


def start_copies(e: ThreadBuilder, load: ThreadLoad, tile: SharedTile) -> None:
    """Let each thread start the copies of its runs; no two threads copy the same one."""
    runs = _of_pointers(e, load) if isinstance(load, LoadOp) else _of_rows(e, load)
    for run in runs:
        size = run.chunk.count * tile.layout.bits // 8
        copied = None
        if run.inside is not None:
            both = (i32_constant(e, size), i32_constant(e, 0))
            copied = e.insert(selection(run.inside, *both)).result
        cache = "global" if size == PAST_THE_FIRST_CACHE else "always"
        address = chunk_address(e, tile, run.chunk)
        e.insert(CpAsyncOp(address, run.source, size, cache, pred=run.mine, source_bytes=copied))


def _of_pointers(e: ThreadBuilder, load: LoadOp) -> Iterator[Copied]:
    # A word alone is copied, too: rows of f32 may be apart by any number of elements.
    runs = Runs.of(PointerElements.of(e, load, load.base, load.mask), stored=True, least=1)
    assert runs is not None
    assert runs.are_known
    for chunk in runs.chunks:
        mine = logical_and(e, runs.mine, chunk.exists)
        yield Copied(chunk, runs.address(chunk), mine, runs.flag(chunk))


def _of_rows(e: ThreadBuilder, load: TiledLoadOp) -> Iterator[Copied]:
    source, shape = e.get(load.view), shape_of(load.result.type)
    layout = encoded_layout(e, load, load.result.type)
    assert isinstance(source, GlobalView)
    assert shape is not None
    assert layout is not None
    window = GlobalTile.of(e, load, source, shape)
    accesses, mine = Accesses.of(e, load, window, layout, guard=None), is_first_replica(e, layout)
    for chunk in thread_chunks(e, layout, bits_of(source.element), stored=True):
        pointer, inside = accesses.wide(chunk)
        pointer = advance(e, pointer, chunk.shift)
        yield Copied(chunk, pointer, logical_and(e, mine, chunk.exists), inside)
