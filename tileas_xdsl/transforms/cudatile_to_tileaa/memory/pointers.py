"""Convert accesses through pointers, atomics, and memory tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cuda_tile.enums import AtomicRMWMode
from tileas_xdsl.dialects.cuda_tile.memory import atomics, pointers
from tileas_xdsl.dialects.cuda_tile.structure.module import GetGlobalOp
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of as numbers_of
from tileas_xdsl.dialects.nv_tileaa.memory import pointer_access as aa
from tileas_xdsl.dialects.nv_tileaa.memory.block_memory import AllocaOp
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GetGlobalOp as AAGetGlobalOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import CreateMemTokenOp, JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.control import FenceAliasOp, GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise.nibbles import check_whole_bytes
from tileas_xdsl.transforms.cudatile_to_tileaa.memory.access_attributes import (
    FencedAccess,
    hinted,
    token_before,
)


def rmw_mode(mode: AtomicRMWMode) -> RmwMode:
    """Return the mode of an update; sums are called `add`, of integers and of floats."""
    return RmwMode.ADD if mode is AtomicRMWMode.ADDF else RmwMode(mode.value)


def offset(c: Converter, op: pointers.OffsetOp) -> Sequence[SSAValue]:
    """Pointers some elements further on."""
    return [c.insert(AddPtrOp(c.get(op.ptr), c.get(op.offset))).result]


def load(c: Converter, op: pointers.LoadPtrTkoOp) -> Sequence[SSAValue]:
    """What pointers point to."""
    check_whole_bytes(op, numbers_of(op.result.type))
    order, token = FencedAccess.of(c, op, op.source), token_before(c, op)
    made = aa.LoadOp(
        c.get(op.source),
        mask=c.get_optional(op.mask),
        other=c.get_optional(op.padding_value),
        token=token,
        **order.order,
    )
    return order.after(c.insert(hinted(c, op, made)).results, token is not None)


def store(c: Converter, op: pointers.StorePtrTkoOp) -> Sequence[SSAValue]:
    """Writes behind pointers."""
    check_whole_bytes(op, numbers_of(op.value.type))
    order = FencedAccess.of(c, op, op.destination)
    made = aa.StoreOp(
        c.get(op.value),
        c.get(op.destination),
        mask=c.get_optional(op.mask),
        token=order.before(token_before(c, op)),
        **order.order,
    )
    return c.insert(hinted(c, op, made)).results


def update(c: Converter, op: atomics.AtomicRmwTkoOp) -> Sequence[SSAValue]:
    """Combines what is behind pointers with values."""
    order = FencedAccess.of(c, op, op.pointers)
    token = order.before(token_before(c, op))
    made = aa.AtomicRmwOp(
        c.get(op.arg),
        c.get(op.pointers),
        rmw_mode=rmw_mode(op.mode.data),
        mask=c.get_optional(op.mask),
        token=token,
        **order.order,
    )
    return order.after(c.insert(made).results, token is not None)


def exchange(c: Converter, op: atomics.AtomicCasTkoOp) -> Sequence[SSAValue]:
    """Replaces what is behind pointers if it is as expected."""
    order = FencedAccess.of(c, op, op.pointers)
    token = order.before(token_before(c, op))
    made = aa.AtomicCasOp(
        c.get(op.val),
        c.get(op.pointers),
        compare=c.get(op.cmp),
        mask=c.get_optional(op.mask),
        token=token,
        **order.order,
    )
    return order.after(c.insert(made).results, token is not None)


def make_token(c: Converter, op: pointers.MakeTokenOp) -> Sequence[SSAValue]:
    """A token that comes after nothing."""
    return [c.insert(CreateMemTokenOp()).result]


def join_tokens(c: Converter, op: pointers.JoinTokensOp) -> Sequence[SSAValue]:
    """A token that comes after several."""
    return [c.insert(JoinMemTokenOp(c.get_all(op.tokens))).result]


def alloca(c: Converter, op: pointers.AllocaOp) -> Sequence[SSAValue]:
    """Memory of a block: global memory, whether others may use it (`global`) or not."""
    pointer = c.type(op.result)
    assert isinstance(pointer, PtrType)
    made = AllocaOp(op.num_elem.value.data, op.alignment.value.data, pointer)
    return [c.insert(made).result]


def get_global(c: Converter, op: GetGlobalOp) -> Sequence[SSAValue]:
    """The address of a global."""
    return [c.insert(AAGetGlobalOp(op.symbol.string_value(), c.type(op.result))).result]


def grid_dependency(action: str) -> Rule:
    """Order the grids of a stream by an action."""

    def ordered(c: Converter, op: pointers.GridDependencyOp) -> Sequence[SSAValue]:
        return c.insert(GridDependencyOp(action, token_before(c, op))).results

    return ordered


def fence_alias(c: Converter, op: pointers.MemoryFenceAliasTkoOp) -> Sequence[SSAValue]:
    """Order accesses by several addresses of one memory."""
    return c.insert(FenceAliasOp(c.get(op.token))).results


POINTERS: Mapping[type[Operation], Rule] = {
    atomics.AtomicCasTkoOp: exchange,
    pointers.AllocaOp: alloca,
    pointers.GdcLaunchDependentsTkoOp: grid_dependency("launch_dependents"),
    pointers.GdcWaitTkoOp: grid_dependency("wait"),
    GetGlobalOp: get_global,
    atomics.AtomicRmwTkoOp: update,
    pointers.JoinTokensOp: join_tokens,
    pointers.LoadPtrTkoOp: load,
    pointers.MemoryFenceAliasTkoOp: fence_alias,
    pointers.MakeTokenOp: make_token,
    pointers.OffsetOp: offset,
    pointers.StorePtrTkoOp: store,
}
