"""Thread ids, warp roles, shuffles and warp matrix accesses."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.cute_nvgpu.threads.warp_collectives import REDUCTIONS, SHUFFLE_MODES

WHOLE_WARP = -1
"""The mask of all 32 threads."""

LAST_LANE = 31

AXES: Mapping[type[Operation], str] = {
    nvgpu.ThreadIdxOp: "tid",
    nvgpu.BlockIdxOp: "ctaid",
    nvgpu.GridDimOp: "nctaid",
}

SPECIAL_REGISTERS: Mapping[type[Operation], str] = {
    nvgpu.GetDynSmemSizeOp: "dynamic_smem_size",
    nvgpu.LaneIdxOp: "laneid",
    nvgpu.ClusterRankOp: "cluster_ctarank",
}


def special(low: Lowering, name: str) -> SSAValue:
    """A special register, read once."""
    return low.once(("special", name), lambda: ptx.SregOp(name))


def _axis(op: nvgpu.ThreadIdxOp, low: Lowering) -> None:
    low.define(op.result, special(low, f"{AXES[type(op)]}.{op.axis.data}"))


def _special_register(op: nvgpu.LaneIdxOp, low: Lowering) -> None:
    low.define(op.result, special(low, SPECIAL_REGISTERS[type(op)]))


def _warp(op: nvgpu.WarpIdxOp, low: Lowering) -> None:
    thread, five = special(low, "tid.x"), low.constant(5)
    operands = _uniform_operands(low)
    warp = low.once(("warp",), lambda: ptx.ShrOp(thread, five, "u32"))
    uniform = low.once(("uniform warp",), lambda: ptx.ShflOp(warp, *operands, "idx"))
    low.define(op.result, uniform)


def _uniform_operands(low: Lowering) -> tuple[SSAValue, SSAValue, SSAValue]:
    return low.constant(0), low.constant(LAST_LANE), low.constant(WHOLE_WARP)


def _uniform(op: nvgpu.MakeWarpUniformOp, low: Lowering) -> None:
    low.define(op.result, low.emit(ptx.ShflOp(low.value(op.value), *_uniform_operands(low), "idx")))


def _elect(op: nvgpu.ElectOneOp, low: Lowering) -> None:
    elect = ptx.ElectSyncOp(low.constant(WHOLE_WARP))
    low.act(elect)
    low.define(op.result, elect.elected)


def _set_registers(op: nvgpu.SetMaxRegisterOp, low: Lowering) -> None:
    direction = "inc" if op.increase.value.data else "dec"
    low.act(ptx.SetmaxnregOp(op.count.value.data, direction))


def _shuffle(op: nvgpu.ShuffleOp, low: Lowering) -> None:
    mode = op.mode.data
    lane = low.value(op.lane) if op.lane is not None else None
    if lane is None and op.offset is not None:
        lane = low.constant(op.offset.value.data)
    assert lane is not None
    clamp, mask = low.constant(SHUFFLE_MODES[mode]), low.constant(WHOLE_WARP)
    low.define(op.result, low.emit(ptx.ShflOp(low.value(op.value), lane, clamp, mask, mode)))


def _reduce(op: nvgpu.ReduxOp, low: Lowering) -> None:
    operation, type_ = REDUCTIONS[op.kind.data].split(".")
    mask = low.constant(WHOLE_WARP)
    low.define(op.result, low.emit(ptx.ReduxOp(low.value(op.value), mask, operation, type_)))


def _store_matrices(op: nvgpu.StsmOp, low: Lowering) -> None:
    address = low.address_of(op.ptr)
    value, form = low.value(op.value), low.form(op.value)
    if form.kind != "b32":
        value = low.emit(ptx.MovOp(value, "b32", kind="b32"))
    transpose = op.transpose is not None
    low.act(ptx.StmatrixOp(address.base, value, trans=transpose, offset=address.offset))


def _vote(op: nvgpu.VoteOp, low: Lowering) -> None:
    mask = low.constant(WHOLE_WARP)
    low.define(op.result, low.emit(ptx.VoteOp(low.value(op.value), mask, op.kind.data)))


def _load_matrices(op: nvgpu.LdsmOp, low: Lowering) -> None:
    address, form = low.address_of(op.ptr), low.form(op.result)
    count, transpose = op.num_matrices.value.data, op.transpose is not None
    loaded = low.emit(ptx.LdmatrixOp(address.base, count, trans=transpose, offset=address.offset))
    if form.kind != "b32":
        loaded = low.emit(ptx.MovOp(loaded, "b32", kind=form.kind))
    low.define(op.result, loaded)


def _permute_bytes(op: nvgpu.PrmtOp, low: Lowering) -> None:
    a, b, selector = low.value(op.a), low.value(op.b), low.value(op.selector)
    low.define(op.result, low.emit(ptx.PrmtOp(a, b, selector, "b32")))


HANDLERS: Mapping[type[Operation], Handler] = {
    **dict.fromkeys(AXES, _axis),
    **dict.fromkeys(SPECIAL_REGISTERS, _special_register),
    nvgpu.WarpIdxOp: _warp,
    nvgpu.MakeWarpUniformOp: _uniform,
    nvgpu.ElectOneOp: _elect,
    nvgpu.SetMaxRegisterOp: _set_registers,
    nvgpu.ShuffleOp: _shuffle,
    nvgpu.PrmtOp: _permute_bytes,
    nvgpu.ReduxOp: _reduce,
    nvgpu.VoteOp: _vote,
    nvgpu.StsmOp: _store_matrices,
    nvgpu.LdsmOp: _load_matrices,
}
