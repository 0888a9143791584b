"""Sink the waits of bulk stores below operations that touch neither tile nor array."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp, FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase, TmaTransferOp

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


def _may_pass(op: Operation, token: SSAValue, store: TmaTransferOp) -> bool:
    """Whether an operation does not care if the store is complete."""
    if op.has_trait(IsTerminator):
        return False
    return all(_is_independent(inner, token, store) for inner in op.walk())


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
    made = op.operands[0].owner
    return memory_of(made.view) if isinstance(made, MakeTiledTmaDescOp) else None


def memory_of(view: SSAValue) -> SSAValue:
    """What views are of."""
    while isinstance(made := view.owner, ViewOp):
        view = made.source
    return view
