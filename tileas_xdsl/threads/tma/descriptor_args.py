"""TMA descriptors as kernel arguments; bulk stores, one instruction per panel.

A tensor map is a 128-byte grid constant. Its box and swizzle must be those of the shared-memory
tile that it fills, so the first transfer through a descriptor fixes them in its recipe, and later
ones must agree. A swizzle permutes 16-byte units within rows of at most 128 bytes, so a wide tile
is several panels, each a box of its own. A store of 64x128 f16 under the 128-byte swizzle:

    fence.proxy.async.shared::cta                writes of threads become visible to TMA
    bar.sync                                     all have written
    one thread:  cp.async.bulk.tensor.2d ... [%map, {%column, %row}], [%smem]
                 cp.async.bulk.tensor.2d ... [%map, {%column + 64, %row}], [%smem + 8192]
                 cp.async.bulk.commit_group
    wait:        the same thread waits for its groups, the others at a barrier
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.values.integer_bounds import is_never_negative
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import (
    BulkCommitOp,
    BulkWaitOp,
    FenceProxyAsyncOp,
    PrefetchTmaDescOp,
    TmaDescriptorTiledType,
)
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import (
    AsyncTiledAtomicRmwOp,
    AsyncTiledTmaStoreOp,
    TmaLoadBase,
    TmaTransferOp,
)
from tileas_xdsl.dialects.nv_tileas.tma.store_order import AFTER_STORES, UNTIL_READ
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import TensorMapRecipe
from tileas_xdsl.target.tma.tensor_map_rules import BOX_LIMIT
from tileas_xdsl.target.tma.tma_box import BOX_ROW_BYTES
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    cast_index,
    cta_mask,
    i1_constant,
    i32_constant,
    is_equal,
    is_less,
    logical_and,
    multiply,
)
from tileas_xdsl.threads.codegen.kernel_signature import add_hidden_argument
from tileas_xdsl.threads.codegen.lowered_values import (
    Descriptor,
    PendingTile,
    SharedTile,
    StoreToken,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import is_elected_in_agent, thread_id
from tileas_xdsl.threads.pipeline.tile_properties import origin
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT
from tileas_xdsl.threads.smem.warpgroup_rows import (
    is_elected_for,
    rows_of_warpgroup,
    synchronize_writers,
    warpgroup,
)
from tileas_xdsl.threads.tma.boxes import panels
from tileas_xdsl.threads.tma.bulk_load import is_of_stage, is_written


def hidden_argument(e: ThreadBuilder, recipe: TensorMapRecipe) -> Descriptor:
    """Add a tensor map to the kernel as a hidden argument."""
    name = f"tensor map {len(e.plan.recipes)}"
    e.plan.recipes.append(recipe)
    return Descriptor(add_hidden_argument(e, name, TmaDescriptorTiledType()), recipe)


def prefetch_descriptors(e: ThreadBuilder) -> None:
    """Prefetch the tensor maps that the kernel was given into the cache."""
    for value in e.values.values():
        if isinstance(value, Descriptor):
            prefetch_descriptor(e, value)


def prefetch_descriptor(e: ThreadBuilder, descriptor: Descriptor) -> None:
    """Let the first thread fetch a tensor map ahead of its first copy."""
    e.insert(PrefetchTmaDescOp(descriptor.argument, is_equal(e, thread_id(e), 0)))


def transfer(
    e: ThreadBuilder,
    op: Operation,
    desc: SSAValue,
    tile: SSAValue,
    atom: object,
    rows: int | None = None,
) -> tuple[Descriptor, SharedTile]:
    """Return the descriptor and the shared-memory tile of a transfer of boxes, of so many rows."""
    if not isinstance(atom, TmaAtom) or atom.mode != "tiled":
        raise op_error(op, "moves boxes only; this mode is not lowered to threads")
    outer = tuple(reversed(shared_tile(e, tile).shape[:-1]))
    return described(e, op, desc, tile, outer if rows is None else (rows, *outer[1:]))


def described(
    e: ThreadBuilder, op: Operation, desc: SSAValue, tile: SSAValue, rows: tuple[int, ...]
) -> tuple[Descriptor, SharedTile]:
    """Return descriptor and tile, and let the tile fix box and swizzle of the tensor map.

    `rows` is the box of one instruction without its innermost extent.
    """
    descriptor, shared = e.get(desc), shared_tile(e, tile)
    if not isinstance(descriptor, Descriptor):
        raise op_error(op, "uses a descriptor that this kernel does not make")
    recipe, layout = descriptor.recipe, shared.layout
    is_cut = layout.swizzle != "none" and layout.row_bytes != layout.swizzle_span
    if is_cut or layout.row_bytes % BOX_ROW_BYTES:
        raise op_error(
            op,
            f"TMA fills rows of {BOX_ROW_BYTES} bytes or more, all that its swizzle permutes, not "
            f"{layout.describe()}",
        )
    box = (layout.panel, *rows)
    if recipe.swizzle is None:
        recipe.swizzle, recipe.panel, recipe.box = layout.swizzle, layout.panel, box
    elif (recipe.swizzle, recipe.box) != (layout.swizzle, box):
        raise op_error(op, f"moves boxes {box} through a descriptor of boxes {recipe.box}")
    if any(extent > BOX_LIMIT for extent in box):
        raise op_error(op, f"moves a box of {box}, of which an extent is beyond {BOX_LIMIT}")
    return descriptor, shared


def is_for_pair(e: ThreadBuilder, op: TmaLoadBase) -> bool:
    """Return whether a load fills a stage of a CTA pair's MMAs."""
    return is_of_stage(op) and e.stage is not None and e.stage[0].is_of_pair


def mask_of(e: ThreadBuilder, op: TmaLoadBase) -> SSAValue | None:
    """Return the multicast mask of a load; None for its own CTA only."""
    if is_for_pair(e, op):
        raise op_error(op, "loads for products of two blocks, which load boxes only")
    group = number_of(op.num_multicast) or 1
    return None if group == 1 else cta_mask(e, (1 << group) - 1)


def commit(
    e: ThreadBuilder,
    op: AsyncTiledTmaStoreOp | AsyncTiledAtomicRmwOp,
    make: Callable[[SSAValue, SSAValue, Sequence[SSAValue], SSAValue | None], Operation],
) -> StoreToken:
    """Fence and synchronise the writers; then one thread issues the copies and commits.

    Threads that have written the tile for TMA have done so already (`overwrite_shared`).  One of
    each warpgroup issues those of its rows, where warpgroups store a tile apart.
    """
    rows, shifts = rows_of_warpgroup(e, op.source), dict[int, SSAValue]()
    descriptor, tile = transfer(e, op, op.desc, op.source, op.atom.data, rows)
    if rows is not None:
        row = multiply(e, warpgroup(e), rows)
        shifts[len(tile.shape) - 2] = row
        step = multiply(e, row, tile.layout.row_bytes)
        tile = replace(tile, pointer=advance(e, tile.pointer, step, ALIGNMENT))
    filled = e.values.get(origin(op.source))
    is_visible = isinstance(filled, PendingTile) and filled.visible_to == e.agent.number
    if is_written(e, op) or not is_visible:
        e.insert(FenceProxyAsyncOp("generic" if is_written(e, op) else "shared::cta"))
        synchronize_agent(e)
    elected = is_elected_for(e, op.source)
    if AFTER_STORES in op.attributes:
        e.insert(BulkWaitOp(0, read=False, pred=elected))
    moves = logical_and(e, elected, _has_begun(e, op))
    for pointer, coordinates in panels(e, tile, op.coords, op.offsets, descriptor.rows, shifts):
        e.insert(make(descriptor.argument, pointer, coordinates, moves))
    e.insert(BulkCommitOp(elected))
    if elected is None:
        elected = i1_constant(e, True)
    return StoreToken(elected, until_read=UNTIL_READ in op.attributes)


def _has_begun(
    e: ThreadBuilder, op: AsyncTiledTmaStoreOp | AsyncTiledAtomicRmwOp
) -> SSAValue | None:
    """Return whether a tile is not in front of its array, None where that is known.

    A write that begins there is an illegal instruction on an H200, and would write nothing.
    """
    found: SSAValue | None = None
    for coordinate in op.coords:
        if not is_never_negative(coordinate):
            first = cast_index(e, e.scalar(coordinate), i32)
            found = logical_and(e, found, is_less(e, i32_constant(e, -1), first))
    return found


def wait_for_store(e: ThreadBuilder, token: StoreToken, store: TmaTransferOp | None = None) -> None:
    """Wait for bulk stores in the thread that committed; the other writers wait at a barrier.

    Nobody reads the tile of the store any more then.
    """
    elected = token.elected
    if elected is None:
        elected = is_elected_in_agent(e) if store is None else is_elected_for(e, store.operands[1])
    e.insert(BulkWaitOp(0, read=token.until_read, pred=elected))
    if store is None:
        synchronize_agent(e)
        return
    synchronize_writers(e, store.operands[1])
    tile = e.values.get(origin(store.operands[1]))
    if isinstance(tile, PendingTile):
        tile.is_free_in = e.builder.insertion_point.block


UNSIGNED_REDUCTIONS: Mapping[RmwMode, str] = {RmwMode.UMIN: "min", RmwMode.UMAX: "max"}
"""Unsigned reductions as spelled in PTX: signedness comes from the tensor map's element type."""
