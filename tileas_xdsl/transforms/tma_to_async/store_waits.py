"""Let bulk stores run on: their waits sink below what touches neither tile nor array.

In a loop a store that is waited for until its tile is read may run into the next round, which
waits for it where it fills the tile again:

    scf.for {                                %tile = alloc_tensor
      %tile = alloc_tensor                   %last = scf.for iter_args(%before = create_none) {
      copy %sum, %tile                ->       async.wait %before
      %s = tma_store %tile                     copy %sum, %tile
      async.wait %s                            %s = tma_store %tile
    }                                          yield %s
                                             }
                                             async.wait %last

Where that loop, of columns of a tile, is in one over tiles, the next tile waits:

    scf.for {                                    scf.for iter_args(%carried = create_none) {
      %last = scf.for iter_args(create_none)       %last = scf.for iter_args(%carried)
      async.wait %last                    ->       yield %last
    }                                            }

A branch on the way yields the token, too: the other arm that of the round before.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from tileas_xdsl.analysis.values.launches.array_slices import array_slice
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import pointed_array
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp, FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase, TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.tma.slices import SliceTmaDescOp, unsliced
from tileas_xdsl.dialects.nv_tileas.tma.store_order import UNTIL_READ

DELAYED = "nv_tileas.delay_store_wait"
"""What marks a bulk store whose wait may come later than it."""

_FREE = (
    AllocTensorOp,
    AsyncDotOp,
    BlockScaledMmaOp,
    ConvertLayoutOp,
    CreateNoneOp,
    DotOp,
    FutureWaitOp,
    MakeTiledTmaDescOp,
    SliceTmaDescOp,
    WaitOp,
    arith.ConstantOp,
    scf.ForOp,
    scf.IfOp,
    scf.YieldOp,
)
"""Operations that write no tile that is there before, and reach no array."""


def delay(wait: WaitOp) -> None:
    """Move the wait of a store down its block, as far as nothing depends on it."""
    store = wait.token.owner
    assert isinstance(store, TmaTransferOp)
    store.attributes[DELAYED] = UnitAttr()
    block = wait.parent
    place = following = wait.next_op
    while following is not None and _may_pass(following, wait.token, store):
        place = following = following.next_op
    if block is None or place is None or place is wait.next_op:
        return
    wait.detach()
    block.insert_op_before(wait, place)


def carry(wait: WaitOp) -> None:
    """Wait for a store in a loop where the next round fills its tile, and behind the loop."""
    store, block = wait.token.owner, wait.parent
    loop = None if block is None else block.parent_op()
    if not isinstance(store, TmaTransferOp) or not isinstance(loop, scf.ForOp):
        return
    tile = memory_of(store.operands[1]).owner
    fill = _only_fill(tile, store)
    if UNTIL_READ not in store.attributes or store.parent is not block or fill is None:
        return
    if not wait.token.has_one_use() or not isinstance(tile, AllocTensorOp):
        return
    none, before, after = _carried(loop, wait.token)
    Rewriter.insert_op(_wait(wait, before), InsertPoint.before(fill))
    while (outer := _loop_around(after.op)) is not None:
        inner = [none]
        while isinstance(branch := after.op.parent_op(), scf.IfOp):
            none, after = _yielded(branch, after)
            inner.append(none)
        none, before, after = _carried(outer, after)
        for one in inner:
            Rewriter.replace_op(one, [], [before])
    if tile.parent is not none.parent:
        tile.detach()
        Rewriter.insert_op(tile, InsertPoint.before(none))
    Rewriter.insert_op(_wait(wait, after), InsertPoint.after(after.owner))
    Rewriter.erase_op(wait)


def _only_fill(tile: Operation | Block, store: TmaTransferOp) -> CopyOp | None:
    """The copy in front of a store that fills its tile, which nothing else uses."""
    if not isinstance(tile, AllocTensorOp):
        return None
    users = [*_users(tile.result)]
    fills = [user for user in users if isinstance(user, CopyOp)]
    others = [user for user in users if not isinstance(user, CopyOp | ViewOp)]
    if len(fills) != 1 or others != [store] or memory_of(fills[0].destination) != tile.result:
        return None
    is_before = fills[0].parent is store.parent and fills[0].is_before_in_block(store)
    return fills[0] if is_before else None


def _users(value: SSAValue) -> Iterator[Operation]:
    for use in value.uses:
        yield use.operation
        if isinstance(use.operation, ViewOp):
            yield from _users(use.operation.result)


def _carried(loop: scf.ForOp, token: SSAValue) -> tuple[CreateNoneOp, BlockArgument, OpResult]:
    """Let a loop carry a token of its rounds; the first, that of the round before, the last one."""
    none = CreateNoneOp(token.type)
    none.location = loop.location
    Rewriter.insert_op(none, InsertPoint.before(loop))
    body, end = loop.body.block, loop.body.block.last_op
    assert isinstance(end, scf.YieldOp)
    before = body.insert_arg(token.type, len(body.args))
    Rewriter.replace_op(end, scf.YieldOp(*end.operands, token))
    begin = [*loop.iter_args, none.token]
    made = scf.ForOp(loop.lb, loop.ub, loop.step, begin, loop.detach_region(loop.body))
    made.attributes, made.location = loop.attributes, loop.location
    *results, last = made.results
    Rewriter.replace_op(loop, made, results)
    return none, before, last


def _loop_around(op: Operation) -> scf.ForOp | None:
    """The loop that an operation is in, with nothing but branches between."""
    parent = op.parent_op()
    while isinstance(parent, scf.IfOp):
        parent = parent.parent_op()
    return parent if isinstance(parent, scf.ForOp) else None


def _yielded(branch: scf.IfOp, token: OpResult) -> tuple[CreateNoneOp, OpResult]:
    """Let a branch yield a token of one arm, and that of no store of the other one; the result."""
    none = CreateNoneOp(token.type)
    none.location = branch.location
    regions: list[Region] = []
    for region in branch.regions:
        block = region.blocks.first or Block([scf.YieldOp()])
        if block.parent is None:
            region.add_block(block)
        end = block.last_op
        assert end is not None
        is_there = token.op.parent is block
        if not is_there:
            Rewriter.insert_op(none, InsertPoint.before(end))
        Rewriter.replace_op(end, scf.YieldOp(*end.operands, token if is_there else none.token))
        regions.append(branch.detach_region(region))
    types = [*branch.result_types, token.type]
    true_region, false_region = regions
    made = scf.IfOp(branch.cond, types, true_region, false_region)
    made.attributes, made.location = branch.attributes, branch.location
    *results, last = made.results
    Rewriter.replace_op(branch, made, results)
    return none, last


def _wait(like: WaitOp, token: SSAValue) -> WaitOp:
    made = WaitOp(token)
    made.location = like.location
    return made


def _may_pass(op: Operation, token: SSAValue, store: TmaTransferOp) -> bool:
    """Whether an operation does not care if the store is complete."""
    if op.has_trait(IsTerminator):
        return False
    return all(_is_independent(inner, token, store) for inner in operations_in(op))


def _is_independent(op: Operation, token: SSAValue, store: TmaTransferOp) -> bool:
    if token in op.operands:
        return False
    if isinstance(op, _FREE):
        return True
    tile, array = memory_of(store.operands[1]), _array(store)
    touched = [*_touched(op)]
    if not touched:
        return is_side_effect_free(op)
    return tile not in touched and array is not None and array not in touched


def _touched(op: Operation) -> Iterator[SSAValue | None]:
    """The memories that an operation writes, and the arrays that it reads; None for any."""
    match op:
        case TiledLoadOp() | TiledStoreOp():
            yield memory_of(op.view)
        case CopyOp():
            yield memory_of(op.source)
            yield memory_of(op.destination)
        case TmaLoadBase():
            yield memory_of(op.operands[1])
            yield _array(op)
        case TmaTransferOp():
            yield _array(op)
        case _:
            return


def _array(op: TmaTransferOp) -> SSAValue | None:
    """The array of a descriptor, if it is made here."""
    made = unsliced(op.operands[0]).owner
    return memory_of(made.view) if isinstance(made, MakeTiledTmaDescOp) else None


def memory_of(view: SSAValue) -> SSAValue:
    """What views are of: a tile, an array, or the pointer behind which an array, or a slice, is."""
    while isinstance(made := view.owner, ViewOp):
        view = made.source
    whole = pointed_array(view)
    if whole is None and (part := array_slice(view)) is not None:
        whole = part.whole
    return view if whole is None else whole.pointer
