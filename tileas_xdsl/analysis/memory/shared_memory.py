"""Shared memory of a kernel's tiles in bytes, before lowering to threads.

A tile is counted where it is allocated: views of it, slices, and loops that carry it are aliases. A
TMA store of registers counts the tile that it goes through:

    %b = alloc_tensor : tensor<128x64xf16, smem>             16384
    %v = extract_slice %b[0, 0][64, 64]                      0, an alias
    tiled_store %r, %view {atom = tma_store_2d}              8192 for the 64x64xf16 of %r

Scratch for exchanges between threads is not counted: it depends on layouts. Where the lowering
finds that it does not fit, it gives up stages of pipelines (`convert-tileas-to-cute-nvgpu`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.interfaces import Producer
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    TiledAtomicRmwOp,
    TiledLoadBase,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp, StageOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import scalar_type_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledAtomicRmwOp, AsyncTiledTmaStoreOp
from tileas_xdsl.layout.integers import align_up, ceil_div

TILE_ALIGNMENT = 1024
"""Alignment of tiles in bytes: the period of the widest swizzle."""

_MAKERS = Kinds(AllocTensorOp, ConvertLayoutOp, TiledLoadBase)
"""Operations whose result in shared memory is a tile of its own."""


def allocated_tiles(root: Operation) -> Iterator[tuple[Operation, Attribute]]:
    """Yield each operation that allocates a tile in shared memory, with the type of that tile."""
    for op in operations_in(root):
        if _MAKERS[type(op)] and space_of(op.results[0].type) is Space.SMEM:
            if not _is_of_stage(op):
                yield op, op.results[0].type
        elif type(op) is TiledStoreOp and _is_staged(op):
            yield op, op.value.type


def first_free_offset(
    dead: Iterable[tuple[int, int]], size: int, is_free: Callable[[int], bool]
) -> int | None:
    """Return the first offset, in dead memory of (offset, bytes), from which on a tile is free.

    The smallest dead memory comes first, so that large tiles find large memory later.
    """
    for offset, available in sorted(dead, key=lambda found: found[1]):
        for place in range(offset, offset + available - size + 1, TILE_ALIGNMENT):
            if is_free(place):
                return place
    return None


def is_staging(op: Operation) -> bool:
    """Whether an operation allocates a tile that threads fill and from which it is stored."""
    if not isinstance(op, AllocTensorOp):
        return False
    pending: list[SSAValue] = [op.result]
    users: list[Operation] = []
    while pending:
        for use in pending.pop().uses:
            users.append(use.operation)
            if isinstance(use.operation, ViewOp):
                pending.append(use.operation.result)
    fills = [user for user in users if isinstance(user, CopyOp) and user.source is not op.result]
    stores = (
        TiledStoreOp,
        TiledAtomicRmwOp,
        AsyncTiledTmaStoreOp,
        AsyncTiledAtomicRmwOp,
        ViewOp,
    )
    return bool(fills) and all(user in fills or isinstance(user, stores) for user in users)


def reuses_stage_memory(op: Operation) -> bool:
    """Return whether a staging tile is allocated after the loops that read pipeline stages.

    It then has the shared memory of those stages.
    """
    if op.parent is None or not is_staging(op):
        return False
    before = itertools.takewhile(lambda one: one is not op, op.parent.ops)
    return any(isinstance(inner, StageOp) for one in before for inner in operations_in(one))


def _is_of_stage(op: Operation) -> bool:
    """Whether a tile is yielded to a pipeline stage, which has memory of its own."""
    users = [use.operation for use in op.results[0].uses]
    return bool(users) and all(
        isinstance(user, PipelineYieldOp) and isinstance(user.parent_op(), Producer)
        for user in users
    )


def _is_staged(store: TiledStoreOp) -> bool:
    """Whether TMA stores a tile of registers, which goes through shared memory."""
    return isinstance(store.atom.data, TmaAtom) and space_of(store.value.type) is not Space.SMEM


def tile_bytes(type_: Attribute) -> int:
    """Return the bytes of a tile, or of a number."""
    return ceil_div(prod(shape_of(type_) or ()) * bits_of(scalar_type_of(type_)), 8)


def aligned_bytes(type_: Attribute) -> int:
    """Return the bytes of a tile with what is lost to the alignment of the next one."""
    return align_up(tile_bytes(type_), TILE_ALIGNMENT)
