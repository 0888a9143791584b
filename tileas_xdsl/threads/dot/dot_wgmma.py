"""Products: which of their kinds each is, and those by wgmma on operands in shared memory.

Source: PTX ISA, wgmma.  The accumulators stay in the same registers through a loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import (
    AsyncDotOp,
    DotOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.register_layout import RegisterLayout
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.warp_tiles import accumulator_layout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    RegisterTile,
    Splat,
    TensorTile,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.dot.mma_accumulate import (
    WGMMA_ROWS,
    WgmmaInstruction,
    await_wgmma,
    operand_types,
    undefined_accumulators,
    wgmma_group,
)
from tileas_xdsl.threads.dot.smem_descriptors import step_descriptor, wgmma_descriptor
from tileas_xdsl.threads.dot.wgmma_operand_a import (
    operand_a,
)
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.smem.shared_tile import shared_tile

INSTRUCTION_K_BITS = 256
"""Bits along K of one instruction."""

MAX_COLUMNS = 256
REGISTER_BITS = 32

TRANSPOSED_BITS = 16
"""Element width for which operands may be MN-major."""


def delivered(
    e: ThreadBuilder, product: RegisterTile | TensorTile, kept: Sequence[SSAValue] = ()
) -> RegisterTile | TensorTile:
    """Wait for a wgmma result in registers; readers of tensor memory wait at the read instead.

    `kept` are registers of A, which must stay unchanged until then.
    """
    if isinstance(product, TensorTile):
        return product
    return product.of(await_wgmma(e, product.parts, kept))


def issue_wgmma(
    e: ThreadBuilder, op: DotOp | AsyncDotOp
) -> tuple[RegisterTile, Sequence[SSAValue]]:
    """Emit the wgmma group of a product; return it with the registers of A that it reads."""
    _check_atom(e, op)
    rows, columns = shape_of(op.result.type if isinstance(op, DotOp) else op.c.type) or (0, 0)
    _check_shape(e, op, rows, columns)
    layout = accumulator_layout(rows, columns, e.agent.groups)
    a, b = operand_a(e, op, e.agent.groups), shared_tile(e, op.b)
    is_mn_major = not is_transposed(op.b.type)
    zero = zero_accumulator(e, op)
    start = in_registers(e, op, op.c, layout) if zero is None else _undefined(e, zero, layout)
    _check_registers(e, op, start)
    if is_mn_major and b.layout.bits != TRANSPOSED_BITS:
        raise op_error(
            op,
            f"wgmma reads elements of {b.layout.bits} bits K-major only, and B lies with its "
            f"columns adjacent",
        )
    right = b.layout.canonical(op, b.height, e.plan.target, transposed=is_mn_major)
    a.begin(e, layout)
    first = wgmma_descriptor(e, advance(e, b.pointer, b.first_row * b.layout.row_bytes), right)
    steps = a.columns * bits_of(a.element) // INSTRUCTION_K_BITS
    b_steps: dict[int, SSAValue] = {}

    def operands(k: int, row: int, column: int) -> tuple[SSAValue, SSAValue]:
        if k not in b_steps:
            b_steps[k] = step_descriptor(e, first, right, k)
        return a.operand(e, row, k), b_steps[k]

    depth, b_major = a.columns // steps, "mn" if is_mn_major else "k"
    instruction = WgmmaInstruction(columns, depth, *operand_types(op), "k", b_major)
    accumulators = list(start.parts)
    wgmma_group(e, instruction, accumulators, steps, 1, operands, from_zero=zero is not None)
    return start.of(accumulators), a.kept


def zero_accumulator(e: ThreadBuilder, op: DotOp | AsyncDotOp) -> Splat | None:
    """Return the accumulator where it starts at zero, so that no register is initialised."""
    found = e.get(op.c)
    if not isinstance(found, Splat):
        return None
    number = found.constant
    is_zero = isinstance(number, FloatAttr | IntegerAttr) and number.value.data == 0
    return found if is_zero else None


def _undefined(e: ThreadBuilder, like: Splat, layout: RegisterLayout) -> RegisterTile:
    vectors = vectors_of(layout)
    parts = undefined_accumulators(e, like.element, vectors.length, vectors.count)
    return RegisterTile(layout, like.element, tuple(parts))


def _check_atom(e: ThreadBuilder, op: DotOp | AsyncDotOp) -> None:
    atom = atom_of(op.atom)
    if atom is None:
        raise op_error(op, "has no atom yet: tileas-assign-load-store-layouts chooses one")
    reason = e.plan.target.lacks(Feature.WGMMA, f"atom '{atom.word}'")
    if reason is not None:
        raise op_error(op, reason)


def _check_shape(e: ThreadBuilder, op: Operation, rows: int, columns: int) -> None:
    if not e.agent.groups:
        raise op_error(
            op, f"wgmma takes whole warpgroups; {e.agent.name} has {e.agent.warps} warps"
        )
    step = WGMMA_ROWS * e.agent.groups
    if rows % step:
        raise op_error(
            op, f"{e.agent.groups} warpgroups multiply multiples of {step} rows, not {rows}"
        )
    if columns > MAX_COLUMNS or columns % 8:
        raise op_error(op, f"wgmma has 8 to {MAX_COLUMNS} columns in steps of 8, not {columns}")


def _check_registers(e: ThreadBuilder, op: Operation, sums: RegisterTile) -> None:
    """A thread keeps its accumulators in registers, and needs some more."""
    count = vectors_of(sums.layout).elements
    needed = count * bits_of(sums.element) // REGISTER_BITS
    most = e.plan.target.registers_per_thread
    most = min(e.agent.registers, most) if e.agent.registers else most
    if needed >= most:
        raise op_error(
            op,
            f"its accumulators take {needed} registers of a thread; {e.agent.name} has {most}",
        )
