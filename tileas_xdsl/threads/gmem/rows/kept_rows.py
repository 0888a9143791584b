"""Rotated rows in shared memory: threads copy the vectors that a row is in, and read their own.

    %f = async.tiled_load %v[%i] offset[-%d] {kept = 0}   cp.async of each vector, whole
    async.wait %f                                         cp.async.wait_group 0
    %x = tiled_load %v[%i] offset[-%d] {kept = 0}         ld.shared.v4, of which some are in the row

Vectors reach into the rows before and behind (`vectors_around.py`), so that copies need no more
than addresses, and what belongs to the row is known where it is read.  That may be a round of a
loop later, or part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import readers_of
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import CpAsyncCommitOp, CpAsyncOp, GetDynSmemOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    KEPT,
    AsyncTiledLoadOp,
    TiledLoadOp,
)
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import logical_and
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, KeptTile, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.coalesced_access import layout_within_rows, padding_of
from tileas_xdsl.threads.gmem.kept_loads import has_same_threads
from tileas_xdsl.threads.gmem.memory_order import order
from tileas_xdsl.threads.gmem.rows.rotated_access import load_rotated
from tileas_xdsl.threads.gmem.rows.rotated_row import RotatedRow, RowLoads, either
from tileas_xdsl.threads.gmem.rows.vectors_around import VectorsAround
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import is_first_replica, thread_chunks
from tileas_xdsl.threads.smem.kept_tile import chunk_of


def keep_row(e: ThreadBuilder, op: AsyncTiledLoadOp) -> KeptTile:
    """Start the copies of a row."""
    source, layout = e.get(op.view), layout_within_rows(e, op)
    assert isinstance(source, GlobalView)
    order(e, op)
    readers = [layout_within_rows(e, reader) for reader in readers_of(op)]
    is_private = all(has_same_threads(reader, layout) for reader in readers)
    if not is_private and runs_again(op):
        synchronize_agent(e)
    row = RotatedRow.of(e, op, source, layout, None)
    pieces = list(thread_chunks(e, layout, bits_of(source.element)))
    copied = [piece for piece in pieces if not row.is_never_inside(piece)]
    size = copied[0].count * row.size
    if size != ACCESS_BYTES or any(piece.span == 1 for piece in copied):
        raise op_error(
            op, "keeps a rotated row of which threads have vectors of 16 bytes, no other"
        )
    pointer = _memory(e, op, (copied[-1].shift + copied[-1].span) * row.size, source)
    tile = KeptTile(layout, source.element, pointer, layout.shape, is_private=is_private)
    loads = RowLoads(e, row, padding_of(op.padding_value, source.element))
    around = VectorsAround.of(loads, copied[0].count)
    mine = is_first_replica(e, layout)
    for piece in copied:
        exists = logical_and(e, logical_and(e, mine, around.is_there(piece)), piece.exists)
        place, vector = chunk_of(e, tile, piece), row.pointer(around.column(piece), piece.count)
        e.insert(CpAsyncOp(place, vector, size, "global", pred=exists))
    e.insert(CpAsyncCommitOp())
    _pad(loads, tile, around, [piece for piece in copied if row.is_certain(piece)])
    e.kept_rows.setdefault(op.attributes[KEPT], tile)
    return tile


def _pad(
    loads: RowLoads, tile: KeptTile, around: VectorsAround, inside: Sequence[AccessChunk]
) -> None:
    """Keep padding of a row that does not exist where others have elements for certain."""
    e = loads.e
    if not inside:
        return

    def pad() -> list[SSAValue]:
        for piece in inside:
            mine = logical_and(e, is_first_replica(e, tile.layout), piece.exists)
            e.insert(StoreOp(loads.nothing(piece)[0], chunk_of(e, tile, piece), mine))
        return []

    either(e, around.is_whole(inside[-1]), list, pad)


def read_row(e: ThreadBuilder, op: TiledLoadOp) -> RegisterTile:
    """Read a row, or a part of it, that threads have copied."""
    source, layout = e.get(op.view), layout_within_rows(e, op)
    assert isinstance(source, GlobalView)
    tile, row = e.kept_rows[op.attributes[KEPT]], RotatedRow.of(e, op, source, layout, None)
    begin = tile.pointer
    if row.part is not None:
        begin = advance(e, begin, row.part, ACCESS_BYTES)

    def read(piece: AccessChunk, exists: SSAValue | None) -> SSAValue:
        place = advance(e, begin, piece.column, ACCESS_BYTES)
        type_ = VectorType(tile.element, [piece.count])
        return e.insert(LoadOp(advance(e, place, piece.shift, ACCESS_BYTES), type_, exists)).result

    padding = padding_of(op.padding_value, source.element)
    loads = partial(RowLoads, e, padding=padding, vector=read)
    return load_rotated(e, lambda _: row, layout, source.element, loads)


def _memory(e: ThreadBuilder, op: AsyncTiledLoadOp, size: int, source: GlobalView) -> SSAValue:
    number = op.attributes[KEPT]
    if number not in e.kept_tiles:
        name, what = f"%{op.result.name_hint or 'row'}", "a rotated row, kept"
        e.kept_tiles[number] = e.plan.shared.allocate(op, name, size, what, ACCESS_BYTES)
    return e.insert(GetDynSmemOp(e.kept_tiles[number], source.element, ACCESS_BYTES)).result
