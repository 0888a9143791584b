"""Issue bulk loads of a block together, in front of the first one that is waited for.

    %g = async.tiled_tma_load %q, %a          %g = async.tiled_tma_load %q, %a
    async.wait %g                             %h = async.tiled_tma_load %k, %b
    %s = dot %a, %x                     ->    async.wait %g
    %h = async.tiled_tma_load %k, %b          %s = dot %a, %x
    async.wait %h                             async.wait %h
    %t = dot %b, %s                           %t = dot %b, %s

A load is issued where its tile is needed if no producer runs ahead: its latency then comes behind
that of the one before.  Over loops and branches none is moved, since its tile would take shared
memory for as long, nor over stores that nothing but their place orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.memory.buffer_aliases import AliasView
from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars, operations_behind
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase, TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.tma.store_order import writes_unordered
from tileas_xdsl.transforms.tma_to_async.shared_room import SharedRoom

COMPUTING = (GenerateOp, ReduceOp, ScanOp)
"""Operations with a region that is no control flow."""


def issue_early(loads: Sequence[TmaTransferOp], room: SharedRoom) -> None:
    """Move each load to the first wait for one in front of it, with what it is computed of."""
    issued = set[Operation](loads)
    for load in loads:
        behind = set(operations_behind(load.operands))
        for place in reversed([*_waits_before(load, issued)]):
            between = _between(place, load)
            moved = [op for op in between if op in behind]
            if all(map(_is_movable, moved)) and _has_room(moved, place, between, room):
                for op in (*moved, load):
                    op.detach()
                    Rewriter.insert_op(op, InsertPoint.before(place))
                break


def _waits_before(load: Operation, issued: set[Operation]) -> Iterator[WaitOp]:
    """The waits for others of the loads, the next one first, from which on nothing keeps a load."""
    op = load.prev_op
    while op is not None and not _keeps(op):
        if isinstance(op, WaitOp) and op.operands[0].owner in issued:
            yield op
        op = op.prev_op


def _has_room(
    moved: Sequence[Operation], place: Operation, between: Sequence[Operation], room: SharedRoom
) -> bool:
    """Whether tiles that are allocated in front of a place have as much memory as they had."""
    if not any(map(_reads_shared, between)):
        return True
    return all(room.holds(op, place) for op in moved if isinstance(op, AllocTensorOp))


def _reads_shared(op: Operation) -> bool:
    """Whether a tile in shared memory may be dead behind an operation."""
    shows = isinstance(op, AliasView | TmaLoadBase)
    return not shows and any(space_of(value.type) is Space.SMEM for value in op.operands)


def _keeps(op: Operation) -> bool:
    """Whether loads stay behind an operation."""
    is_control = bool(op.regions) and not isinstance(op, COMPUTING)
    stores = isinstance(op, TmaTransferOp) and not isinstance(op, TmaLoadBase)
    return is_control or stores or isinstance(op, GridDependencyOp) or writes_unordered(op)


def _between(first: Operation, last: Operation) -> Sequence[Operation]:
    """Return the operations from one up to another."""
    found: list[Operation] = []
    op: Operation | None = first
    while op is not None and op is not last:
        found.append(op)
        op = op.next_op
    return found


def _is_movable(op: Operation) -> bool:
    """Whether an operation makes a number, room for a tile, or a barrier."""
    return isinstance(op, AllocTensorOp | CreateNoneOp) or is_of_scalars(op)
