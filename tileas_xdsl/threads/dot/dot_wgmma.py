"""Products: which of their kinds each is, and those by wgmma on operands in shared memory.

Source: PTX ISA, wgmma.  The accumulators stay in the same registers through a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Operation, SSAValue, Use

from tileas_xdsl.analysis.accumulators import is_tensor_product
from tileas_xdsl.analysis.dot_layouts import Tiling, tiling_of
from tileas_xdsl.analysis.register_tiles import AccumulatorLayout
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import UndefFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import (
    MmaSm90Op,
    SmemDescAddOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaWaitOp,
)
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute import (
    AsyncDotOp,
    BlockScaledMmaOp,
    DotOp,
    MatrixProduct,
)
from tileas_xdsl.dialects.nv_tileas.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.scale_tiles import scale_tile
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma import TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.tma_checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tokens import FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.transposed import is_transposed
from tileas_xdsl.target.canonical import CanonicalLayout
from tileas_xdsl.target.features import Feature
from tileas_xdsl.threads.codegen.builder import Handler, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i1_constant
from tileas_xdsl.threads.codegen.lowered_values import (
    BulkToken,
    DotToken,
    Ghost,
    LoadToken,
    Lowered,
    RegisterTile,
    SharedTile,
    Splat,
    StoreToken,
    TensorTile,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.dot.dot_block_scaled import block_scaled_mma
from tileas_xdsl.threads.dot.dot_fma import thread_product
from tileas_xdsl.threads.dot.dot_mma_sync import warp_product
from tileas_xdsl.threads.dot.dot_tcgen05 import issue
from tileas_xdsl.threads.dot.wgmma_operand_a import (
    INSTRUCTION_ROWS,
    descriptor,
    left_factor,
    start_of,
)
from tileas_xdsl.threads.gmem.view_access import view
from tileas_xdsl.threads.registers.register_tile import in_registers, laid_out
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.tma.bulk_load import wait_for_load
from tileas_xdsl.threads.tma.descriptor_args import wait_for_store
from tileas_xdsl.threads.tmem.tmem_scales import view_of_scales

INSTRUCTION_K_BITS = 256
"""Bits of K that one instruction multiplies."""

MOST_COLUMNS = 256
REGISTER_BITS = 32

TRANSPOSED_BITS = 16
"""Only operands of such elements may be MN-major."""


def async_dot(e: ThreadBuilder, op: AsyncDotOp) -> Sequence[Lowered]:
    """Begin a product; its registers are read after a wait."""
    if is_tensor_product(op):
        return [DotToken(issue(e, op))]
    if (tiling := tiling_of(op, e.agent.warps)) is not None:
        return [LoadToken(_by_threads(e, op, tiling))]
    return [DotToken(_issue(e, op)[0])]


def operand(e: ThreadBuilder, op: ViewOp) -> Sequence[Lowered]:
    """A tile whose rows are the columns of B, scales in atoms, or a view of any other kind.

    The tile stays as it is: its type tells the product, and nothing else may use it.
    """
    if scale_tile(op.result.type) is not None:
        return [view_of_scales(e, op)]
    if not is_transposed(op.result.type):
        return view(e, op)
    source = shared_tile(e, op.source)
    if not op.is_whole or shape_of(op.result.type) != source.shape[::-1]:
        raise op_error(op, f"transposes a tile of {'x'.join(map(str, source.shape))} as a whole")
    if is_transposed(op.source.type) or not all(_is_b(use) for use in op.result.uses):
        raise op_error(op, "a transposed tile is B of a product; other uses are not lowered yet")
    return [source]


def _is_b(use: Use) -> bool:
    return isinstance(use.operation, MatrixProduct) and use.index == 1


def dot(e: ThreadBuilder, op: DotOp) -> Sequence[Lowered]:
    """A product, waited for."""
    if is_tensor_product(op):
        return [issue(e, op)]
    if (tiling := tiling_of(op, e.agent.warps)) is not None:
        return [laid_out(e, op, _by_threads(e, op, tiling), op.result.type)]
    return [_waited(e, *_issue(e, op))]


def _by_threads(e: ThreadBuilder, op: DotOp | AsyncDotOp, tiling: Tiling) -> RegisterTile:
    """A product in the registers of all threads, which is done when they go on."""
    atom = atom_of(op.atom)
    assert isinstance(atom, MmaAtom)
    make = warp_product if atom.instruction == "mma" else thread_product
    return make(e, op, tiling)


def wait(e: ThreadBuilder, op: WaitOp | FutureWaitOp) -> Sequence[Lowered]:
    """Wait until what a token stands for is done."""
    token = e.get(op.token)
    match token:
        case DotToken():
            done = _waited(e, token.fragment)
            return [done] if op.values else []
        case LoadToken():
            return [token.fragment] if op.values else []
        case StoreToken():
            wait_for_store(e, token)
            return []
        case BulkToken():
            wait_for_load(e, token)
            return [e.get(v) for v in _delivered(op)]
        case Ghost():
            return []
        case _:
            raise op_error(op, "waits for something that is not lowered to threads yet")


def _delivered(op: WaitOp | FutureWaitOp) -> Sequence[SSAValue]:
    """The tile that a load was to fill, if that is asked for."""
    load = op.token.owner
    return [load.operands[1]] if op.values and isinstance(load, TmaTransferOp) else []


def _waited(
    e: ThreadBuilder, fragment: RegisterTile | TensorTile, kept: Sequence[SSAValue] = ()
) -> RegisterTile | TensorTile:
    """What a product has left, with registers kept; those who read tensor memory wait for it."""
    if isinstance(fragment, TensorTile):
        return fragment
    done = e.insert(WgmmaWaitOp(0, [*fragment.parts, *kept])).results
    return fragment.of(done[: len(fragment.parts)])


def _issue(e: ThreadBuilder, op: DotOp | AsyncDotOp) -> tuple[RegisterTile, Sequence[SSAValue]]:
    """The instructions of a product, as one group, and the registers of A that they read."""
    _check_atom(e, op)
    rows, columns = shape_of(op.result.type if isinstance(op, DotOp) else op.c.type) or (0, 0)
    layout = AccumulatorLayout(rows, columns, e.agent.groups)
    _check_shape(e, op, layout)
    a, b = left_factor(e, op, layout.groups), shared_tile(e, op.b)
    is_mn_major = not is_transposed(op.b.type)
    zeros = _zeros(e, op)
    start = in_registers(e, op, op.c, layout) if zeros is None else _unset(e, zeros, layout)
    _check_registers(e, op, start)
    if is_mn_major and b.layout.bits != TRANSPOSED_BITS:
        raise op_error(
            op,
            f"wgmma reads elements of {b.layout.bits} bits K-major only, and B lies with its "
            f"columns adjacent",
        )
    right = b.layout.canonical(op, b.height, e.plan.target, transposed=is_mn_major)
    a.begin(e, layout)
    other = _descriptor_of_b(e, b, right)
    e.insert(WgmmaFenceOp())
    registers = list(start.parts)
    depth = INSTRUCTION_K_BITS // bits_of(a.element)
    for k in range(a.columns // depth):
        step_b = e.insert(SmemDescAddOp(other, start_of(right, k))).result
        for block in range(layout.blocks):
            registers[block] = e.insert(
                MmaSm90Op(
                    a.operand(e, block, k),
                    step_b,
                    registers[block],
                    i1_constant(e, False) if zeros and k == 0 else None,
                    shape=(INSTRUCTION_ROWS, layout.n, depth),
                    a_type=a.element,
                    b_type=b.element,
                    a_major="k",
                    b_major="mn" if is_mn_major else "k",
                )
            ).result
    e.insert(WgmmaCommitOp())
    return start.of(registers), a.kept


def _zeros(e: ThreadBuilder, op: DotOp | AsyncDotOp) -> Splat | None:
    """The sums, where nothing is in them: their registers then need no numbers before."""
    found = e.get(op.c)
    if not isinstance(found, Splat):
        return None
    number = found.constant
    is_zero = isinstance(number, FloatAttr | IntegerAttr) and number.value.data == 0
    return found if is_zero else None


def _unset(e: ThreadBuilder, sums: Splat, layout: AccumulatorLayout) -> RegisterTile:
    """Registers of sums that hold nothing yet."""
    type_ = VectorType(sums.element, [layout.registers])
    parts = [e.insert(UndefFragmentOp(type_)).result for _ in range(layout.blocks)]
    return RegisterTile(layout, sums.element, tuple(parts))


def _check_atom(e: ThreadBuilder, op: DotOp | AsyncDotOp) -> None:
    atom = atom_of(op.atom)
    if atom is None:
        raise op_error(op, "has no atom yet: tileas-assign-load-store-layouts chooses one")
    reason = e.plan.target.lacks(Feature.WGMMA, f"atom '{atom.word}'")
    if reason is not None:
        raise op_error(op, reason)


def _check_shape(e: ThreadBuilder, op: Operation, layout: AccumulatorLayout) -> None:
    if not e.agent.groups:
        raise op_error(
            op, f"wgmma takes whole warpgroups; {e.agent.name} has {e.agent.warps} warps"
        )
    rows = INSTRUCTION_ROWS * layout.groups
    if layout.m % rows:
        raise op_error(
            op, f"{layout.groups} warpgroups multiply multiples of {rows} rows, not {layout.m}"
        )
    if layout.n > MOST_COLUMNS or layout.n % 8:
        raise op_error(op, f"wgmma has 8 to {MOST_COLUMNS} columns in steps of 8, not {layout.n}")


def _check_registers(e: ThreadBuilder, op: Operation, sums: RegisterTile) -> None:
    """A thread keeps its accumulators in registers, and needs some more."""
    count = sums.layout.blocks * sums.layout.registers
    needed = count * bits_of(sums.element) // REGISTER_BITS
    most = e.plan.target.registers_per_thread
    most = min(e.agent.registers, most) if e.agent.registers else most
    if needed >= most:
        raise op_error(
            op,
            f"its accumulators take {needed} registers of a thread; {e.agent.name} has {most}",
        )


def _descriptor_of_b(e: ThreadBuilder, b: SharedTile, canonical: CanonicalLayout) -> Any:
    start = b.first_row * b.layout.row_bytes
    return e.insert(descriptor(advance(e, b.pointer, start), canonical)).result


_TABLE: Any = {
    AsyncDotOp: async_dot,
    BlockScaledMmaOp: block_scaled_mma,
    DotOp: dot,
    FutureWaitOp: wait,
    ViewOp: operand,
    WaitOp: wait,
}

PRODUCTS: Mapping[type[Operation], Handler] = _TABLE
"""Products, their transposed operands, and waits."""
