"""Blocked layouts of contiguous chunks: how long chunks are, and whether rows share a warp."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, placed_tile
from tileas_xdsl.analysis.memory.kept_tiles import is_kept
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadBase, LoadOp, StoreBase
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES, blocked_layout, line_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.transforms.assign_layouts.candidates.group_operations import (
    operations_on,
    tile_of_group,
)
from tileas_xdsl.transforms.assign_layouts.candidates.memory.other_side import memory_of
from tileas_xdsl.transforms.assign_layouts.candidates.shown_matrices import (
    matrices_shown,
    staged_bits,
)
from tileas_xdsl.transforms.assign_layouts.request import Assignment

CHUNK_SIZES = (1, 2, 4, 8, 16)
"""Bytes of the elements that fill chunks of 16 bytes."""


def chunk_layouts(a: Assignment, group: TileGroup, agent: Agent) -> Sequence[RegisterLayout]:
    """Layouts of contiguous chunks: warps that cover several rows, then one, the widest first.

    Where warps cover several rows, shorter chunks come last, for rows that begin between words of
    16 bytes: of 32 unaligned rows of 4 f32 a lane has four single words, where whole rows would be
    dealt to four lanes, all 32 of them eight times over.

    Where a matrix that is shown of them goes to shared memory, chunks are of 16 bytes there: those
    of narrower elements that are loaded would be two, 32 bytes apart in lanes side by side.
    """
    min_bytes = max(_min_element_bytes(a, group), _staged_element_bytes(a, group))
    chunk_bytes = max(min_bytes, _least_for_all_threads(group, agent))
    sizes = [size for size in CHUNK_SIZES if size >= chunk_bytes]
    lines = [*_multi_row_layouts(a, group, agent, min_bytes, chunk_bytes)]
    rows = [blocked_layout(group.shape, agent.warps, size) for size in sizes]
    shorter = [line_layout(group.shape, agent.warps, size) for size in sizes] if lines else []
    return list(dict.fromkeys([*lines, *rows, *shorter]))


def _multi_row_layouts(
    a: Assignment, group: TileGroup, agent: Agent, min_bytes: int, chunk_bytes: int
) -> Iterator[RegisterLayout]:
    """Layouts whose warp covers several rows, so that each thread still accesses 16 bytes.

    Behind pointers each access costs an address of 64 bits, so fewer and wider ones always pay;
    what is computed on the way from shared memory to shared memory may have any layout.
    Elsewhere they pay where a lane would access less than 16 bytes. Along columns the partial sums
    of the rows of a warp are exchanged once, behind the loop; along rows each shuffle serves
    several of them: heads of 128 bf16 in 16 lanes take four shuffles for two, in 32 lanes ten. Not
    for both, nor along columns for several values (argmax), since an exchange would move all.
    """
    operations = [op for op, _ in operations_on(a, group)]
    reductions = [*_reductions(a, group)]
    is_along_rows = any(is_last for _, is_last in reductions)
    if is_along_rows and not all(is_last for _, is_last in reductions):
        return
    if not is_along_rows and any(len(op.sources) > 1 for op, _ in reductions):
        return
    memories = {op: memory_of(a, op, group) for op in operations}
    is_pointed = any(isinstance(op, LoadBase | StoreBase) and memories[op] for op in operations)
    is_staged = any(isinstance(op, ConvertLayoutOp) and memories[op] for op in operations)
    is_global = Space.GMEM in memories.values()
    short = WARP * ACCESS_BYTES
    is_short = prod(group.shape[-1:]) * min_bytes < short
    if is_short if is_along_rows else is_pointed or is_staged or (is_global and is_short):
        yield line_layout(group.shape, agent.warps, chunk_bytes)
    if is_staged and not is_along_rows:
        sizes = (size for size in (2, 4, 8) if size > chunk_bytes)
        yield from (line_layout(group.shape, agent.warps, size) for size in sizes)


def chunk_sizes(a: Assignment, group: TileGroup) -> Sequence[int]:
    """The bytes of elements that may fill chunks of a group: those of its smallest and more."""
    return [size for size in CHUNK_SIZES if size >= _min_element_bytes(a, group)]


def reduced_axes(a: Assignment, group: TileGroup) -> set[int]:
    """The axes along which a group's tiles are reduced."""
    found = (op for op, _ in operations_on(a, group))
    return {op.axis.value.data for op in found if isinstance(op, ReduceOp)}


def _reductions(a: Assignment, group: TileGroup) -> Iterator[tuple[ReduceOp, bool]]:
    """The reductions of a group and of what views show of it without its first extents of 1.

    With each, whether it goes along the last dimension.
    """
    shown = {
        a.groups.of(use.operation.result)
        for value in group.values
        for use in value.uses
        if isinstance(use.operation, ViewOp)
    }
    for one in (group, *shown):
        if one is None or prod(one.shape) != prod(group.shape) or not _ends(group.shape, one.shape):
            continue
        for op, _ in operations_on(a, one):
            if isinstance(op, ReduceOp):
                yield op, op.axis.value.data == len(one.shape) - 1


def _ends(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether a shape ends as the other one."""
    return shape[len(shape) - len(other) :] == other


def _min_element_bytes(a: Assignment, group: TileGroup) -> int:
    """Return the size of the smallest element loaded, kept or stored: of the longest chunks."""
    operations = [op for op, _ in operations_on(a, group) if memory_of(a, op, group) is not None]
    values = [tile_of_group(op, group) for op in operations]
    tiles = [placed_tile(value.type) for value in (*values, *filter(is_kept, group.values))]
    bits = [bits_of(tile.element_type) for tile in tiles if tile is not None]
    return max(min(bits, default=32) // 8, 1)


def _staged_element_bytes(a: Assignment, group: TileGroup) -> int:
    """The size of the elements that matrices shown of a group have in shared memory, or 0."""
    return max(map(staged_bits, matrices_shown(a, group)), default=0) // 8


def _least_for_all_threads(group: TileGroup, agent: Agent) -> int:
    """The least element size whose chunks of 16 bytes give every thread some, 16 bytes at most.

    With longer ones threads would have the elements of others, too, and compute them again: of a
    tile that is loaded for its elements alone nothing is computed, and copies spare an exchange.
    """
    if all(isinstance(value.owner, LoadOp | TiledLoadOp) for value in group.values):
        return 1
    chunks = ceil_div(ACCESS_BYTES * agent.threads, prod(group.shape))
    return min(1 << (chunks - 1).bit_length(), ACCESS_BYTES)
