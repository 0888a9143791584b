"""Lines combined with rows that all rounds of a loop rotate alike: each thread keeps its elements.

    %f = async.tiled_load %w[0] offset[-%d] {kept_as_read}     vectors cut out of two
    async.wait %f                                              st.shared.v4 [%mine + k * threads]
    scf.for %i {
      %y = tiled_load %w[0] offset[-%d] {kept = 0} }           ld.shared.v4

No thread reads what another one has stored, so that there is no barrier.  Accesses of 16 bytes of
neighbouring threads lie side by side, whatever elements they are, without a bank conflict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import readers_of
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    KEPT,
    KEPT_EXTENDED,
    AsyncTiledLoadOp,
    TiledLoadOp,
)
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, multiply
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, LoadedLine, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.shared_allocations import OwnLine
from tileas_xdsl.threads.codegen.thread_ids import thread_id
from tileas_xdsl.threads.convert.register_conversion import converted
from tileas_xdsl.threads.gmem.coalesced_access import layout_within_rows, padding_of, rotated_loads
from tileas_xdsl.threads.gmem.memory_order import order
from tileas_xdsl.threads.gmem.rows.kept_lines import keep_line, number_in, read_line
from tileas_xdsl.threads.gmem.rows.rotated_access import Rows, begin_rotated
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import thread_chunks
from tileas_xdsl.threads.registers.vector_values import (
    constant_elements,
    joined,
    strip,
    tile_of_chunks,
)


def load_own_line(e: ThreadBuilder, op: AsyncTiledLoadOp) -> LoadedLine:
    """Begin to load a line as the rows that are combined with it are rotated."""
    source, layout = e.get(op.view), layout_within_rows(e, [op, *readers_of(op)][-1])
    assert isinstance(source, GlobalView)
    order(e, op)
    rows, layout, kind, loads_of = rotated_loads(e, op, source, layout)
    finish = begin_rotated(e, rows, layout, kind, loads_of)
    kept, threads = op.attributes.get(KEPT_EXTENDED, kind), e.agent.warps * WARP
    padding = number_in(padding_of(op.padding_value, kind), kept)
    chunks = list(thread_chunks(e, layout, bits_of(kind)))
    model = OwnLine(layout, kind, kept, source.pointer, threads, _reach(rows, chunks), padding)
    count = sum(1 for chunk in _stored(e, model) for _ in _accesses(model, chunk))
    name, what = f"%{op.result.name_hint or 'line'}", f"{layout.shape[-1]}, by threads"
    size = count * threads * ACCESS_BYTES
    offset = e.plan.shared.allocate(op, name, size, what, ACCESS_BYTES)
    pointer = e.insert(GetDynSmemOp(offset, kept, ACCESS_BYTES)).result
    thread = add(e, thread_id(e), -e.agent.first_warp * WARP)
    mine = advance(e, pointer, multiply(e, thread, model.run), ACCESS_BYTES)
    return LoadedLine(finish, replace(model, pointer=mine), op)


def _reach(rows: Rows, chunks: Sequence[AccessChunk]) -> int | None:
    """Return the column behind all elements of a line that may not be padding."""
    if any(chunk.span == 1 for chunk in chunks):
        return None
    inside = [one for one in chunks if not rows(one).is_never_inside(rows(one).piece(one))]
    return max((one.shift + one.span for one in inside), default=None)


def _stored(e: ThreadBuilder, line: OwnLine) -> Iterator[AccessChunk]:
    chunks = thread_chunks(e, line.layout, bits_of(line.loaded))
    return (one for one in chunks if line.reach is None or one.shift < line.reach)


def keep_loaded_line(e: ThreadBuilder, loaded: LoadedLine) -> RegisterTile:
    """Put a line into shared memory, from where rows read it."""
    line, values = loaded.line, loaded.finish()
    if isinstance(line, OwnLine):
        _keep(e, line, values)
    else:
        keep_line(e, line, values, loaded.op)
    e.kept_lines[loaded.op.attributes[KEPT]] = line
    return values


def _keep(e: ThreadBuilder, line: OwnLine, values: RegisterTile) -> None:
    """Store the elements of each thread, extended once where all rows extend them."""
    places = _places(e, line)
    for chunk in _stored(e, line):
        value = strip(e, values.parts[chunk.block], chunk.register, chunk.count)
        if line.element != line.loaded:
            value = e.insert(arith.ExtFOp(value, VectorType(line.element, [chunk.count]))).result
        for first, count in _accesses(line, chunk):
            e.insert(StoreOp(strip(e, value, first, count), next(places)))


def read_kept_line(e: ThreadBuilder, op: TiledLoadOp) -> RegisterTile:
    """Read a line in the layout of its reader, in the type that it is kept in."""
    line = e.kept_lines[op.attributes[KEPT]]
    return _read(e, op, line) if isinstance(line, OwnLine) else read_line(e, op, line)


def _read(e: ThreadBuilder, op: TiledLoadOp, line: OwnLine) -> RegisterTile:
    places = _places(e, line)
    found = {(one.block, one.register): _loaded(e, line, one, places) for one in _stored(e, line)}
    values = [
        (one, found.get((one.block, one.register)) or _padding(e, line, one))
        for one in thread_chunks(e, line.layout, bits_of(line.loaded))
    ]
    tile = tile_of_chunks(e, line.layout, line.element, values)
    return converted(e, op, tile, layout_within_rows(e, op))


def _loaded(
    e: ThreadBuilder, line: OwnLine, chunk: AccessChunk, places: Iterator[SSAValue]
) -> SSAValue:
    types = [VectorType(line.element, [count]) for _, count in _accesses(line, chunk)]
    return joined(e, [e.insert(LoadOp(next(places), type_)).result for type_ in types])


def _padding(e: ThreadBuilder, line: OwnLine, chunk: AccessChunk) -> SSAValue:
    return constant_elements(e, line.padding, chunk.count)


def _accesses(line: OwnLine, chunk: AccessChunk) -> Sequence[tuple[int, int]]:
    """The accesses of a chunk: the first element of each, and how many."""
    firsts = range(0, chunk.count, line.run)
    return [(first, min(line.run, chunk.count - first)) for first in firsts]


def _places(e: ThreadBuilder, line: OwnLine) -> Iterator[SSAValue]:
    """The addresses of the accesses of a thread, one after another."""
    number = 0
    while True:
        yield advance(e, line.pointer, number * line.threads * line.run, ACCESS_BYTES)
        number += 1
