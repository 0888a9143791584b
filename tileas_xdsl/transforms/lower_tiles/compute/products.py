"""Handlers of matrix products, their transposed operands, and waits."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue, Use

from tileas_xdsl.analysis.layouts.dot_layouts import Tiling, tiling_of
from tileas_xdsl.analysis.memory.accumulators import is_tensor_product
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import (
    AsyncDotOp,
    BlockScaledMmaOp,
    DotOp,
    MatrixProduct,
)
from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import scale_tile
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.tma.store_order import store_of
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    AskedTileBlock,
    BegunLoad,
    BulkToken,
    DotToken,
    KeptTile,
    LateSums,
    LoadedLine,
    LoadToken,
    Lowered,
    OrderToken,
    RegisterTile,
    StoreToken,
)
from tileas_xdsl.threads.dot.dot_block_scaled import block_scaled_mma
from tileas_xdsl.threads.dot.dot_fma import thread_product
from tileas_xdsl.threads.dot.dot_mma_sync import warp_product
from tileas_xdsl.threads.dot.dot_tcgen05 import issue
from tileas_xdsl.threads.dot.dot_wgmma import (
    delivered,
    issue_wgmma,
    promoted_wgmma,
    zero_accumulator,
)
from tileas_xdsl.threads.dot.mma_accumulate import await_wgmma, groups_behind
from tileas_xdsl.threads.gmem.kept_loads import await_kept
from tileas_xdsl.threads.gmem.launch_memory.tile_block_counter import hand_out
from tileas_xdsl.threads.gmem.rows.own_lines import keep_loaded_line
from tileas_xdsl.threads.registers.register_tile import laid_out
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.tma.bulk_load import wait_for_load
from tileas_xdsl.threads.tma.descriptor_args import wait_for_store
from tileas_xdsl.threads.tmem.tmem_scales import view_of_scales
from tileas_xdsl.transforms.lower_tiles.memory.views import view


def async_dot(e: ThreadBuilder, op: AsyncDotOp) -> Sequence[Lowered]:
    """Issue a product; its registers are read after a wait."""
    if is_tensor_product(op):
        return [DotToken(issue(e, op))]
    if (tiling := tiling_of(op, e.agent.warps)) is not None:
        return [LoadToken(_by_threads(e, op, tiling))]
    product, kept = issue_wgmma(e, op)
    return [DotToken(product, tuple(kept), len(e.wgmma_groups) - 1)]


def dot(e: ThreadBuilder, op: DotOp) -> Sequence[Lowered]:
    """Issue a product and wait for it."""
    if is_tensor_product(op):
        return [issue(e, op)]
    if (tiling := tiling_of(op, e.agent.warps)) is not None:
        return [laid_out(e, op, _by_threads(e, op, tiling), op.result.type)]
    late = e.get(op.c)
    if isinstance(late, LateSums):  # The product is waited for in the next round.
        e.values[op.c] = late.sums
        if op.promote is not None:
            return [promoted_wgmma(e, op, late)]
        product, _ = issue_wgmma(e, op)
        return [LateSums(product)]
    if op.promote is not None and zero_accumulator(e, op) is None:
        return [promoted_wgmma(e, op)]
    return [delivered(e, *issue_wgmma(e, op))]


def _by_threads(e: ThreadBuilder, op: DotOp | AsyncDotOp, tiling: Tiling) -> RegisterTile:
    """Lower a synchronous product in the registers of all threads (`mma.sync`, FMA)."""
    atom = atom_of(op.atom)
    assert isinstance(atom, MmaAtom)
    make = warp_product if atom.instruction == "mma" else thread_product
    return make(e, op, tiling)


def operand(e: ThreadBuilder, op: ViewOp) -> Sequence[Lowered]:
    """Lower a view of an MMA operand: a transposed matrix, scales in atoms, or any other view.

    No data moves: the type of the view selects the operand, and nothing else may use it.
    """
    if scale_tile(op.result.type) is not None:
        return [view_of_scales(e, op)]
    if not is_transposed(op.result.type):
        return view(e, op)
    source = shared_tile(e, op.source)
    whole = shape_of(op.source.type) or ()
    if not op.is_whole or shape_of(op.result.type) != whole[::-1]:
        raise op_error(op, f"transposes a tile of {'x'.join(map(str, whole))} as a whole")
    if is_transposed(op.source.type) or not all(_is_read_so(use) for use in op.result.uses):
        raise op_error(
            op, "a transposed tile is A or B of a product; other uses are not lowered yet"
        )
    return [source]


def _is_read_so(use: Use) -> bool:
    """Whether a transposed tile is A or B of a product, or is written by rows to other memory."""
    user = use.operation
    if isinstance(user, ConvertLayoutOp):
        return space_of(user.result.type) is Space.SMEM
    return isinstance(user, MatrixProduct) and use.index in FACTORS


FACTORS = (0, 1)
"""The indices of A and B among the operands of a product."""


def wait(e: ThreadBuilder, op: WaitOp | FutureWaitOp) -> Sequence[Lowered]:
    """Wait for the asynchronous operation of a token."""
    token = e.get(op.token)
    match token:
        case DotToken():
            pending = groups_behind(e, token.group)
            if not op.values:
                await_wgmma(e, (), token.kept, pending)
                return []
            done = delivered(e, token.fragment, token.kept, pending)
            return [done]
        case LoadToken() | BegunLoad():
            return [token.delivered()][: len(op.values)]
        case LoadedLine():
            return [keep_loaded_line(e, token)][: len(op.values)]
        case KeptTile():
            assert isinstance(op, WaitOp)
            return [await_kept(e, op, token)]
        case AskedTileBlock():
            return hand_out(e, op, token, len(op.values))
        case StoreToken():
            wait_for_store(e, token, store_of(op.token))
            return []
        case BulkToken():
            wait_for_load(e, token)
            return [e.get(v) for v in _delivered(op)]
        case OrderToken():
            return []
        case _:
            raise op_error(op, "waits for something that is not lowered to threads yet")


def _delivered(op: WaitOp | FutureWaitOp) -> Sequence[SSAValue]:
    """Return the destination tile of an awaited load, if its value is used."""
    load = op.token.owner
    return [load.operands[1]] if op.values and isinstance(load, TmaTransferOp) else []


HANDLERS: Handlers = {
    AsyncDotOp: async_dot,
    BlockScaledMmaOp: block_scaled_mma,
    DotOp: dot,
    FutureWaitOp: wait,
    ViewOp: operand,
    WaitOp: wait,
}
