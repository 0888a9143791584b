"""Rotated rows in shared memory: threads copy the vectors that a row is in, and read their own.

    %f = async.tiled_load %v[%i] offset[-%d] {kept = 0}   cp.async of each vector, whole
    async.wait %f                                         cp.async.wait_group 0
    %x = tiled_load %v[%i] offset[-%d] {kept = 0}         ld.shared.v4, of which some are in the row

Vectors reach into the rows before and behind (`vectors_around.py`), so that copies need no more
than addresses, and what belongs to the row is known where it is read.  That may be a round of a
loop later, or part by part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

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
from tileas_xdsl.layout.units import BYTE_BITS
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import logical_and
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, KeptTile, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.coalesced_access import layout_within_rows, padding_of
from tileas_xdsl.threads.gmem.kept_loads import has_same_threads
from tileas_xdsl.threads.gmem.memory_order import order
from tileas_xdsl.threads.gmem.rows.rotated_access import load_rotated, rows_of
from tileas_xdsl.threads.gmem.rows.rotated_row import RowLoads, either
from tileas_xdsl.threads.gmem.rows.vectors_around import (
    InsideVectors,
    VectorsAround,
    first_column,
    is_whole,
)
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import is_first_replica, thread_chunks
from tileas_xdsl.threads.smem.kept_tile import chunk_of


def keep_row(e: ThreadBuilder, op: AsyncTiledLoadOp) -> KeptTile:
    """Start the copies of a row, or of several that begin elsewhere in a vector each."""
    source, layout = e.get(op.view), layout_within_rows(e, op)
    assert isinstance(source, GlobalView)
    order(e, op)
    readers = [layout_within_rows(e, reader) for reader in readers_of(op)]
    is_private = all(has_same_threads(reader, layout) for reader in readers)
    if not is_private and runs_again(op):
        synchronize_agent(e)
    rows, bits = rows_of(e, op, source, layout, None), bits_of(source.element)
    pieces = thread_chunks(e, layout, bits)
    copied = [piece for piece in pieces if not rows(piece).is_never_inside(piece)]
    size = copied[0].count * bits // BYTE_BITS
    if size != ACCESS_BYTES or any(piece.span == 1 for piece in copied):
        raise op_error(
            op, "keeps a rotated row of which threads have vectors of 16 bytes, no other"
        )
    before = (prod(layout.shape[:-1]) - 1) * layout.shape[-1]
    reach = max(piece.shift + piece.span for piece in copied)
    pointer = _memory(e, op, (before + reach) * bits // BYTE_BITS, source)
    tile = KeptTile(layout, source.element, pointer, layout.shape, is_private=is_private)
    padding = padding_of(op.padding_value, source.element)
    of_row: dict[int, list[AccessChunk]] = {}
    for piece in copied:
        of_row.setdefault(id(rows(piece)), []).append(piece)
    parts = [(RowLoads(e, rows(own[0]), padding), own) for own in of_row.values()]
    for loads, own in parts:
        _copy(tile, loads, own)
    e.insert(CpAsyncCommitOp())
    for loads, own in parts:
        _pad(tile, loads, [piece for piece in own if loads.row.is_certain(piece)])
    e.kept_rows.setdefault(op.attributes[KEPT], tile)
    return tile


def _copy(tile: KeptTile, loads: RowLoads, pieces: Sequence[AccessChunk]) -> None:
    """Start the copies of the vectors of a row that the thread has."""
    e, row, mine = loads.e, loads.row, is_first_replica(loads.e, tile.layout)

    def copy(meets: Callable[[AccessChunk], SSAValue | None]) -> list[SSAValue]:
        for piece in pieces:
            exists = logical_and(e, logical_and(e, mine, meets(piece)), piece.exists)
            place, vector = (
                chunk_of(e, tile, piece),
                row.pointer(first_column(row, piece), piece.count),
            )
            e.insert(CpAsyncOp(place, vector, piece.count * row.size, "global", pred=exists))
        return []

    def others() -> list[SSAValue]:
        return copy(VectorsAround.of(loads, pieces[0].count).is_there)

    inside = InsideVectors.of(loads, pieces)
    if inside is None:
        others()
    else:
        either(e, inside.holds, partial(copy, inside.meets), others)


def _pad(tile: KeptTile, loads: RowLoads, inside: Sequence[AccessChunk]) -> None:
    """Keep padding of a row that does not exist where others have elements for certain."""
    e = loads.e
    if not inside:
        return

    def pad() -> list[SSAValue]:
        for piece in inside:
            mine = logical_and(e, is_first_replica(e, tile.layout), piece.exists)
            e.insert(StoreOp(loads.nothing(piece)[0], chunk_of(e, tile, piece), mine))
        return []

    either(e, is_whole(loads.row, inside[-1]), list, pad)


def read_row(e: ThreadBuilder, op: TiledLoadOp) -> RegisterTile:
    """Read rows, or a part of one, that threads have copied."""
    source, layout = e.get(op.view), layout_within_rows(e, op)
    assert isinstance(source, GlobalView)
    tile, rows = e.kept_rows[op.attributes[KEPT]], rows_of(e, op, source, layout, None)

    def read(piece: AccessChunk, exists: SSAValue | None) -> SSAValue:
        part, type_ = rows(piece).part, VectorType(tile.element, [piece.count])
        place = chunk_of(e, tile, piece)
        if part is not None:
            place = advance(e, place, part, ACCESS_BYTES)
        return e.insert(LoadOp(place, type_, exists)).result

    padding = padding_of(op.padding_value, source.element)
    loads = partial(RowLoads, e, padding=padding, vector=read)
    return load_rotated(e, rows, layout, source.element, loads)


def _memory(e: ThreadBuilder, op: AsyncTiledLoadOp, size: int, source: GlobalView) -> SSAValue:
    number = op.attributes[KEPT]
    if number not in e.kept_tiles:
        name, what = f"%{op.result.name_hint or 'row'}", "a rotated row, kept"
        e.kept_tiles[number] = e.plan.shared.allocate(op, name, size, what, ACCESS_BYTES)
    return e.insert(GetDynSmemOp(e.kept_tiles[number], source.element, ACCESS_BYTES)).result
