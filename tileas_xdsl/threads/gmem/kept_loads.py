"""Loads into shared memory, where threads read the tile, or chunks of it, as often as they need it.

    %f = async.tiled_load %v[%i] {kept}          each thread, for its chunks of 16 bytes:
                                                   cp.async [%tile + at], [%p + at]
                                                 cp.async.commit_group
    %x = async.wait %f                     ->    cp.async.wait_group 0
    scf.for %c {                                 scf.for %c {
      %k = extract_slice %x[0, %c * 8192]          ld.shared.v4 [%tile + %c * 8192 + at]
      ... }                                        ... }

So registers need not hold a row from one reduction to the next.  The tile is row-major: the chunks
of a warp lie side by side, and accesses have no bank conflicts.  Where threads read those chunks
that they have copied themselves, as layouts of rows have it, no barrier is needed.  Chunks out of
bounds get the padding, and those that are not aligned in global memory their elements, by plain
stores.  Source: PTX ISA, cp.async.wait_group.

Lines that rows meet which are rotated (`tileas-rotate-rows`) are put there as they are in memory,
and then as such a row has them: each chunk is cut out of two (`vector_cuts.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, VectorType, i1, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import is_kept, waits_for
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import (
    CpAsyncCommitOp,
    CpAsyncOp,
    CpAsyncWaitOp,
    GetDynSmemOp,
)
from tileas_xdsl.dialects.nv_tileas.memory.tiled import KEPT, AsyncTiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES, blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.isa.tables.asynchronous import COPY_SIZES
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    index_constant,
    logical_and,
    modulo,
    multiply,
    subtract,
    xor,
)
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, KeptTile, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.gmem.async_copies import PAST_THE_FIRST_CACHE
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile
from tileas_xdsl.threads.gmem.coalesced_access import Accesses, in_rows, load_window, padding_of
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder, order
from tileas_xdsl.threads.gmem.rotated_row import Column, RotatedRow
from tileas_xdsl.threads.gmem.vector_cuts import VectorCut
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import is_first_replica, thread_chunks
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import layout_of
from tileas_xdsl.threads.registers.vector_values import (
    assembled,
    joined,
    repeated,
    strip,
    zero_of,
)
from tileas_xdsl.threads.smem.kept_tile import chunk_of, read_kept

WARP = 32


def keep(e: ThreadBuilder, op: AsyncTiledLoadOp) -> KeptTile:
    """Start the copies of a load."""
    source, type_ = e.get(op.view), op.loaded_type()
    shape = shape_of(type_) or ()
    if not isinstance(source, GlobalView) or op.mask is not None:
        raise op_error(op, "keeps a tile of global memory that is not masked, no other")
    if MemoryOrder.of(op.mem_semantic, op.mem_scope).semantics is not None:
        raise op_error(op, "keeps what it loads in order with other accesses; only weak loads do")
    layout = in_rows(e, encoded_layout(e, op, type_) or layout_of(e, op, shape))
    order(e, op)
    if op.rotated is not None:
        return _kept_line(e, op)
    if runs_again(op) and not _is_private(e, op, layout):
        synchronize_agent(e)
    tile = _allocated(e, op, layout, source.element)
    padding = padding_of(op.padding_value, source.element)
    window = GlobalTile.of(e, op, source, shape)
    if not any(
        isinstance(user, WaitOp) and is_kept(user.values[0]) for user in waits_for(op.result)
    ):
        tile = replace(tile, end=window.end, padding=padding)
    accesses, mine = Accesses.of(e, op, window, layout, guard=None), is_first_replica(e, layout)
    accesses.chosen(
        lambda one: one.if_inside(lambda accesses: _copy(accesses, tile, mine, padding))
    )
    e.insert(CpAsyncCommitOp())
    return tile


def await_kept(e: ThreadBuilder, op: WaitOp, tile: KeptTile) -> KeptTile | RegisterTile:
    """Wait for the copies of the thread, and for those of others where it reads what they copy.

    What is not read part by part is read here: the next copy may have the same memory.
    """
    if tile.is_copied:
        e.insert(CpAsyncWaitOp(0))
    if tile.is_copied and not _reads_own(e, op, tile.layout):
        synchronize_agent(e)
    return tile if is_kept(op.values[0]) else read_kept(e, tile, tile.layout)


def _is_private(e: ThreadBuilder, op: AsyncTiledLoadOp, layout: RegisterLayout) -> bool:
    """Whether each thread reads of a tile what it has copied, and nothing else."""
    users = waits_for(op.result)
    return all(isinstance(user, WaitOp) and _reads_own(e, user, layout) for user in users)


def _reads_own(e: ThreadBuilder, op: WaitOp, copied: RegisterLayout) -> bool:
    if not is_kept(op.values[0]):
        return _has_same_threads(copied, copied)
    for use in op.values[0].uses:
        user, value = use.operation, use.operation.operands[use.index]
        if isinstance(user, ExtractSliceOp):
            value = user.result
        layout = encoded_layout(e, user, value.type)
        if layout is not None and not _has_same_threads(in_rows(e, layout), copied):
            return False
    return True


def _has_same_threads(part: RegisterLayout, copied: RegisterLayout) -> bool:
    """Whether columns of a part of rows, which begins at a chunk of all threads, are of the same
    threads as in the whole."""
    a, b = blocked(part), blocked(copied)
    if a is None or b is None or prod(copied.shape) < copied.threads:
        return False
    return replace(a, shape=b.shape) == b and part.shape[:-1] == copied.shape[:-1]


def _allocated(
    e: ThreadBuilder, op: AsyncTiledLoadOp, layout: RegisterLayout, element: Attribute
) -> KeptTile:
    shape = layout.shape
    size, name = prod(shape) * bits_of(element) // 8, f"%{op.result.name_hint or 'tile'}"
    what, number = f"{'x'.join(map(str, shape))}, kept", op.attributes[KEPT]
    offset = e.kept_tiles.get(number)
    if offset is None:
        offset = e.plan.shared.allocate(op, name, size, what, ACCESS_BYTES)
    if isinstance(number, IntegerAttr):
        e.kept_tiles[number] = offset
    pointer = e.insert(GetDynSmemOp(offset, element, ACCESS_BYTES)).result
    return KeptTile(layout, element, pointer, shape)


def _copy(
    accesses: Accesses,
    tile: KeptTile,
    mine: SSAValue | None,
    padding: FloatAttr | IntegerAttr | None,
) -> list[SSAValue]:
    """Copy whole chunks asynchronously; what is not whole is loaded, and stored to its place."""
    e = accesses.e
    for chunk in thread_chunks(e, tile.layout, bits_of(tile.element)):
        if tile.end is not None and chunk.span > 1 and chunk.shift >= tile.end:
            continue
        place, size = chunk_of(e, tile, chunk), chunk.count * bits_of(tile.element) // 8
        holds = logical_and(e, mine, chunk.exists)
        if not accesses.is_whole(chunk) or size not in COPY_SIZES["ca"]:
            e.insert(StoreOp(accesses.by_elements(chunk, padding), place, holds))
            continue
        pointer, exists = accesses.wide(chunk)
        cache = "global" if size == PAST_THE_FIRST_CACHE else "always"
        source = advance(e, pointer, chunk.shift, size)
        e.insert(CpAsyncOp(place, source, size, cache, pred=logical_and(e, mine, exists)))
        if exists is not None:
            number = e.insert(arith.ConstantOp(padding or zero_of(tile.element))).result
            missing = logical_and(e, holds, xor(e, exists, e.constant(1, i1)))
            e.insert(StoreOp(repeated(e, number, chunk.count), place, missing))
    return []


def _kept_line(e: ThreadBuilder, op: AsyncTiledLoadOp) -> KeptTile:
    """Load lines as they are in memory, all that follow one another, and rotate what is stored."""
    if op in e.kept_lines:
        return e.kept_lines[op]
    lines: list[AsyncTiledLoadOp] = []
    following: Operation | None = op
    while isinstance(following, AsyncTiledLoadOp) and following.rotated is not None:
        lines.append(following)
        following = following.next_op
    if runs_again(op):
        synchronize_agent(e)
        e.kept_lines |= {line: _kept_in_loop(e, line) for line in lines}
    else:
        e.kept_lines |= _kept_by_vectors(e, lines)
    synchronize_agent(e)
    return e.kept_lines[op]


def _kept_by_vectors(
    e: ThreadBuilder, lines: Sequence[AsyncTiledLoadOp]
) -> dict[Operation, KeptTile]:
    """Put lines into shared memory as they are, and again as the rotated row has them.

    Elements that were stored one by one, with four-fold bank conflicts, took 8 % of a layer_norm.
    """
    tiles: dict[Operation, KeptTile] = {}
    loaded = [_loaded(e, line) for line in lines]
    for line, values in zip(lines, loaded, strict=True):
        made = _allocated(e, line, values.layout, values.element)
        tiles[line] = replace(made, is_copied=False)
        _store(e, tiles[line], values)
    synchronize_agent(e)
    rotated = [_rotated(e, line, tiles[line]) for line in lines]
    synchronize_agent(e)
    for tile, values in zip(tiles.values(), rotated, strict=True):
        _store(e, tile, values)
    return tiles


def _kept_in_loop(e: ThreadBuilder, op: AsyncTiledLoadOp) -> KeptTile:
    """Load and store the elements of a line one after another.

    In a loop over rows that is rare, and takes no registers of what is known of the row.
    """
    source, layout = _line_of(e, op)
    row, tile = (
        RotatedRow.of(e, op, source, layout, None),
        _allocated(e, op, layout, source.element),
    )
    body, first = Block(arg_types=[IndexType()]), add(e, lane_id(e), multiply(e, warp_id(e), WARP))
    with e.within(body):
        position = cast_index(e, body.args[0], i32)
        column = Column(modulo(e, add(e, position, row.shift), row.width))
        padding = padding_of(op.padding_value, source.element)
        made = LoadOp(row.pointer(column), tile.element, row.is_inside(column), fill=padding)
        e.insert(StoreOp(e.insert(made).result, advance(e, tile.pointer, position)))
        e.insert(scf.YieldOp())
    begin, end = cast_index(e, first, IndexType()), index_constant(e, row.width)
    e.insert(scf.ForOp(begin, end, index_constant(e, e.agent.threads), [], Region(body)))
    return replace(tile, is_copied=False)


def _line_of(e: ThreadBuilder, op: AsyncTiledLoadOp) -> tuple[GlobalView, RegisterLayout]:
    source, type_ = e.get(op.view), op.loaded_type()
    assert isinstance(source, GlobalView)
    return source, in_rows(
        e, encoded_layout(e, op, type_) or layout_of(e, op, shape_of(type_) or ())
    )


def _loaded(e: ThreadBuilder, op: AsyncTiledLoadOp) -> RegisterTile:
    """The elements of a line in the order of memory, by vectors."""
    source, layout = _line_of(e, op)
    return load_window(e, op, GlobalTile.of(e, op, source, layout.shape), layout)


def _store(e: ThreadBuilder, tile: KeptTile, values: RegisterTile) -> None:
    """Store the chunks of a thread to their places."""
    mine = is_first_replica(e, tile.layout)
    for chunk in thread_chunks(e, tile.layout, bits_of(tile.element)):
        value = strip(e, values.parts[chunk.block], chunk.register, chunk.count)
        e.insert(StoreOp(value, chunk_of(e, tile, chunk), logical_and(e, mine, chunk.exists)))


def _rotated(e: ThreadBuilder, op: AsyncTiledLoadOp, tile: KeptTile) -> RegisterTile:
    """Read what the chunks of a thread are in the rotated row out of a line as it is in memory.

    Each vector is cut out of two; where the line ends it goes on at its begin.
    """
    assert op.rotated is not None
    bits, width = bits_of(tile.element), tile.layout.shape[-1]
    count = next(thread_chunks(e, tile.layout, bits)).count
    count = min(count, 8 * ACCESS_BYTES // bits)
    shift = cast_index(e, e.scalar(op.offsets[-1]), i32)
    beyond = modulo(e, shift, count)
    cut = VectorCut.of(e, beyond, count * bits, bits, 8 * op.rotated.value.data)
    type_ = VectorType(tile.element, [count])

    def vector_at(column: SSAValue) -> SSAValue:
        place = advance(e, tile.pointer, modulo(e, column, width), ACCESS_BYTES)
        return e.insert(LoadOp(place, type_)).result

    def read(chunk: AccessChunk) -> SSAValue:
        begin = add(e, add(e, cast_index(e, chunk.column, i32), chunk.shift), shift)
        first = subtract(e, begin, beyond)
        vectors = [vector_at(add(e, first, k)) for k in range(0, chunk.count + 1, count)]
        return joined(e, [cut.cut_out(both) for both in pairwise(vectors)])

    return assembled(e, tile.layout, tile.element, read)
