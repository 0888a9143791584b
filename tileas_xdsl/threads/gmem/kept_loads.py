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
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i1
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import is_kept, waits_for
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import StoreOp
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
    logical_and,
    xor,
)
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, KeptTile, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.async_copies import PAST_THE_FIRST_CACHE
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile
from tileas_xdsl.threads.gmem.chunk_accesses import Accesses
from tileas_xdsl.threads.gmem.coalesced_access import in_rows, padding_of
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder, order
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.registers.coordinates import is_first_replica, thread_chunks
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import layout_of
from tileas_xdsl.threads.registers.vector_values import (
    repeated,
    zero_of,
)
from tileas_xdsl.threads.smem.kept_tile import chunk_of, read_kept


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
    if runs_again(op) and not _is_private(e, op, layout):
        synchronize_agent(e)
    padding = padding_of(op.padding_value, source.element)
    window = GlobalTile.of(e, op, source, shape)
    end = window.end if _is_read_at_known_places(op) else None
    tile = _allocated(e, op, layout, source.element, end)
    tile = replace(tile, end=end, padding=padding)
    accesses, mine = Accesses.of(e, op, window, layout, guard=None), is_first_replica(e, layout)
    accesses.chosen(
        lambda one: one.if_inside(lambda accesses: _copy(accesses, tile, mine, padding))
    )
    e.insert(CpAsyncCommitOp())
    return tile


def await_kept(e: ThreadBuilder, op: WaitOp, tile: KeptTile) -> KeptTile | RegisterTile:
    """Wait for the copies of the thread, and for those of others where it reads what they copy.

    What is not read part by part, nor by name, is read here: the next copy may have the same
    memory.
    """
    e.insert(CpAsyncWaitOp(0))
    if not tile.is_private or not _reads_own(e, op, tile.layout):
        synchronize_agent(e)
    is_read_later = is_kept(op.values[0]) or not op.values[0].uses
    return tile if is_read_later else read_kept(e, tile, tile.layout)


def _is_read_at_known_places(op: AsyncTiledLoadOp) -> bool:
    """Whether it is known of each chunk that is read where in the tile it is."""
    waits = [user for user in waits_for(op.result) if isinstance(user, WaitOp)]
    kept = [value for wait in waits if is_kept(value := wait.values[0])]
    slices = [use.operation for value in kept for use in value.uses]
    return all(isinstance(one, ExtractSliceOp) and not one.offsets for one in slices)


def _is_private(e: ThreadBuilder, op: AsyncTiledLoadOp, layout: RegisterLayout) -> bool:
    """Whether each thread reads of a tile what it has copied, and nothing else."""
    users = waits_for(op.result)
    return all(isinstance(user, WaitOp) and _reads_own(e, user, layout) for user in users)


def _reads_own(e: ThreadBuilder, op: WaitOp, copied: RegisterLayout) -> bool:
    if not op.values[0].uses:
        return True
    if not is_kept(op.values[0]):
        return has_same_threads(copied, copied)
    for use in op.values[0].uses:
        user, value = use.operation, use.operation.operands[use.index]
        if isinstance(user, ExtractSliceOp):
            value = user.result
        layout = encoded_layout(e, user, value.type)
        if layout is not None and not has_same_threads(in_rows(e, layout), copied):
            return False
    return True


def has_same_threads(part: RegisterLayout, copied: RegisterLayout) -> bool:
    """Whether columns of a part of rows, which begins at a chunk of all threads, are of the same
    threads as in the whole."""
    a, b = blocked(part), blocked(copied)
    if a is None or b is None or prod(copied.shape) < copied.threads:
        return False
    return replace(a, shape=b.shape) == b and part.shape[:-1] == copied.shape[:-1]


def _allocated(
    e: ThreadBuilder,
    op: AsyncTiledLoadOp,
    layout: RegisterLayout,
    element: Attribute,
    end: int | None,
) -> KeptTile:
    """Allocate a tile, of one row as far as chunks of it are in front of its end."""
    shape = layout.shape
    count = prod(shape)
    if end is not None and count == shape[-1]:
        chunks = thread_chunks(e, layout, bits_of(element))
        count = max((one.shift + one.span for one in chunks if one.shift < end), default=0)
    size, name = count * bits_of(element) // 8, f"%{op.result.name_hint or 'tile'}"
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
