"""The pass `share-ctas`: tile blocks of one warp each are taken by the warps of larger CTAs.

func.func @k {nvvm.reqntid = [32, 1, 1],       func.func @k {nvvm.reqntid = [128, 1, 1],
              tileas.persistent}                             tileas.persistent}
  %i = block_idx "x"                             %i = block_idx "x" + warp_idx * grid_dim "x"
  %n = grid_dim "x"                       ->     %n = grid_dim "x" * 4
  scf.for %t = %i to %tiles step %n              scf.for %t = %i to %tiles step %n
    %p = get_dyn_smem 0                            %p = get_dyn_smem 0 + warp_idx * 512
    barrier id 0                                   sync_warp

A multiprocessor runs 32 CTAs, which are half of its 64 warps where a CTA is one.  The first tile
blocks of a launch go to different CTAs, so that few of them are spread over all multiprocessors.
"""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, i8, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import PtrAddOp, RecastPtrOp
from tileas_xdsl.dialects.cute_nvgpu import (
    BarrierOp,
    BlockIdxOp,
    GetDynSmemOp,
    GridDimOp,
    LaneIdxOp,
    LdsmOp,
    MakeWarpUniformOp,
    MmaSm80Op,
    PrmtOp,
    ReduxOp,
    ShuffleOp,
    StsmOp,
    SyncWarpOp,
    ThreadIdxOp,
    VoteOp,
    WarpIdxOp,
)
from tileas_xdsl.dialects.kinds import Kinds, instances_in
from tileas_xdsl.dialects.nv_tileas.builders.arith import add, constant, mul
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.kernel_abi import PERSISTENT

WARPS = 4
"""Warps of a CTA that take tile blocks of their own: 16 such CTAs fill a multiprocessor."""

MAX_SHARED_BYTES = 12 << 10
"""Shared memory of a warp up to which CTAs take no more of it than four times as many would."""

OF_A_WARP = Kinds(
    *(BlockIdxOp, GridDimOp, ThreadIdxOp, WarpIdxOp, LaneIdxOp, MakeWarpUniformOp, GetDynSmemOp),
    *(ShuffleOp, ReduxOp, VoteOp, PrmtOp, LdsmOp, StsmOp, MmaSm80Op, SyncWarpOp, BarrierOp),
)
"""Operations of the GPU that do the same in one of several warps, or are rewritten here."""


OF_A_THREAD = frozenset(("arith", "cute", "func", "math", "scf", "vector"))
"""Dialects whose operations are those of each thread."""


@dataclass(frozen=True)
class ShareCtas(ModulePass):
    """Make CTAs of four warps that take tile blocks of their own, where a CTA was one warp.

    Needs persistent kernels of threads, since a launch of others has a CTA for each tile block.
    Kernels with operations of the whole CTA, such as mbarriers and bulk copies, stay.
    """

    name = "share-ctas"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, func.FuncOp) and _is_of_a_warp(kernel):
                _share(kernel)


def _is_of_a_warp(kernel: func.FuncOp) -> bool:
    """Whether CTAs are a warp each, take many tile blocks, and do nothing that needs a CTA."""
    found = kernel.attributes
    if PERSISTENT not in found or "tileas.arena_slots" in found or "nvvm.cluster_dim" in found:
        return False
    threads = found.get("nvvm.reqntid")
    if not isinstance(threads, DenseArrayBase) or tuple(threads.get_values()) != (WARP, 1, 1):
        return False
    return _bytes(kernel) <= MAX_SHARED_BYTES and all(map(_is_allowed, operations_in(kernel)))


def _is_allowed(op: Operation) -> bool:
    """Whether an operation does the same in one of several warps."""
    if isinstance(op, BarrierOp):
        return op.id_value is None and op.threads is None
    return OF_A_WARP[type(op)] or op.dialect_name() in OF_A_THREAD


def _share(kernel: func.FuncOp) -> None:
    """Give each warp tile blocks, shared memory and barriers of its own."""
    ids = instances_in(kernel, BlockIdxOp, GridDimOp, ThreadIdxOp, WarpIdxOp)
    rooms = instances_in(kernel, GetDynSmemOp)
    build = Builder(InsertPoint.at_start(kernel.body.block))
    warp = build.insert(WarpIdxOp()).result
    ctas = build.insert(GridDimOp("x")).result
    first = add(build, build.insert(BlockIdxOp("x")).result, mul(build, warp, ctas))
    step = mul(build, ctas, constant(build, WARPS, i32))
    lane, zero = build.insert(LaneIdxOp()).result, constant(build, 0, i32)
    size = align_up(_bytes(kernel), max((op.result.type.align for op in rooms), default=1))
    offset = mul(build, warp, constant(build, size, i32))
    own = {BlockIdxOp: first, GridDimOp: step, ThreadIdxOp: lane, WarpIdxOp: zero}
    for op in ids:
        if isinstance(op, WarpIdxOp) or op.axis.data == "x":
            Rewriter.replace_op(op, [], [own[type(op)]])
    for barrier in instances_in(kernel, BarrierOp):
        Rewriter.replace_op(barrier, SyncWarpOp())
    for room in rooms:
        _of_own(room, offset)
    attributes = kernel.attributes
    attributes["nvvm.reqntid"] = DenseArrayBase.from_list(i32, [WARPS * WARP, 1, 1])
    attributes["tileas.smem_bytes"] = IntegerAttr(WARPS * size, 32)
    resident = attributes.get("nvvm.minctasm")
    if isinstance(resident, IntegerAttr):
        attributes["nvvm.minctasm"] = IntegerAttr(max(resident.value.data // WARPS, 1), 32)


def _of_own(room: GetDynSmemOp, offset: SSAValue) -> None:
    """Replace a place in the shared memory of the CTA by that in the part of the warp."""
    type_ = room.result.type
    start = GetDynSmemOp(room.offset.value.data, i8, type_.align)
    moved = PtrAddOp(start, offset, type_.align)
    Rewriter.replace_op(room, [start, moved, RecastPtrOp(moved, type_.element_type)])


def _bytes(kernel: func.FuncOp) -> int:
    """The dynamic shared memory of a CTA."""
    found = kernel.attributes.get("tileas.smem_bytes")
    return found.value.data if isinstance(found, IntegerAttr) else 0
