"""Operations that may run once for each chunk of their tiles, in a loop.

Memory operations may only move into the loop if tokens say that no access of one chunk is ordered
against one of another: program order of a whole tile is not program order of its chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import owning_op
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.atomics import AtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    GenerateOp,
    ViewOp,
)
from tileas_xdsl.transforms.tile_parts.parts import Tiles

_REPEATABLE = (
    *(ConvertLayoutOp, CreateNoneOp, DotOp, ExpandDimsOp, GenerateOp, LoadOp, ReduceOp, ScanOp),
    *(AtomicRmwOp, StoreOp, TiledLoadOp, TiledStoreOp, ViewOp, YieldOp),
)
"""Operations beside arithmetic that may run once for each chunk."""

CONTROL = (scf.ConditionOp, scf.ForOp, scf.IfOp, scf.WhileOp, scf.YieldOp)

WRITES = (AtomicRmwOp, StoreOp, TiledStoreOp)

ACCESSES = (LoadOp, TiledLoadOp, *WRITES)


def is_awaited(op: Operation) -> bool:
    """Whether an operation behind an access is ordered after it."""
    return isinstance(op, ACCESSES) and op.out_token is not None and bool(op.out_token.uses)


def operations_of(tiles: Tiles) -> Sequence[Operation]:
    """Return what runs once for each chunk, in one block; nothing where it may not."""
    block = common_block(tiles)
    if block is None:
        return ()
    near = {block.find_ancestor_op_in_block(op) for tile in tiles for op in touching(tile)}
    moved = [op for op in block.ops if op in near]
    inner = [op for one in moved for op in operations_in(one)]
    inside = set(inner)
    if not all(may_be_repeated(op, tiles) and _is_unordered(op, inside, block) for op in inner):
        return ()
    users = [
        (value, above)
        for one in moved
        for value in one.results
        for use in value.uses
        if use.operation not in inside
        and (above := block.find_ancestor_op_in_block(use.operation)) is not None
    ]
    return moved if all(_may_be_carried(v, user, moved[-1]) for v, user in users) else ()


def _may_be_carried(value: SSAValue, user: Operation, last: Operation) -> bool:
    """Whether the loop can give a value to a later operation: the token of an ordered access."""
    made = value.owner
    is_token = isinstance(made, ACCESSES) and value is made.out_token and made.token is not None
    return is_token and last.is_before_in_block(user)


def may_be_repeated(op: Operation, tiles: Tiles) -> bool:
    """Whether an operation may run once a chunk; a store must be of a chunk."""
    if isinstance(op, WRITES) and not any(value in tiles for value in op.operands):
        return False
    plain = op.name.startswith(("arith.", "math.", "tensor.", "gpu.", "nv_tileaa."))
    return plain or isinstance(op, (*_REPEATABLE, *CONTROL))


def _is_unordered(op: Operation, inside: AbstractSet[Operation], block: Block) -> bool:
    """Whether tokens order an access behind none of another chunk.

    Without a token, program order does, so that it may not move.
    """
    if not isinstance(op, ACCESSES):
        return True
    uses = () if op.out_token is None else op.out_token.uses
    if any(use.operation in inside for use in uses) or (uses and op.parent is not block):
        return False
    if op.token is None:
        return False
    made = op.token.owner
    if isinstance(made, CreateNoneOp):
        return True
    return (made.parent_op() if isinstance(made, Block) else made) not in inside


def touching(tile: SSAValue) -> Iterator[Operation]:
    """Yield the operation that defines a tile and those that read it."""
    above = owning_op(tile)
    if above is not None:
        yield above
    for use in tile.uses:
        yield use.operation


def common_block(tiles: Tiles) -> Block | None:
    """Return the innermost block that contains all tiles and carries none as a block argument."""
    first = next(iter(tiles))
    owner = first.owner
    block = owner if isinstance(owner, Block) else owner.parent
    while block is not None and not _has_all(block, tiles):
        parent = block.parent_op()
        block = None if parent is None else parent.parent
    return None if block is None or isinstance(block.parent_op(), GenerateOp) else block


def _has_all(block: Block, tiles: Tiles) -> bool:
    last = block.last_op
    if last is not None and any(value in tiles for value in last.operands):
        return False
    for tile in tiles:
        if isinstance(tile, BlockArgument) and tile.owner is block:
            return False
        if any(block.find_ancestor_op_in_block(op) is None for op in touching(tile)):
            return False
    return True
