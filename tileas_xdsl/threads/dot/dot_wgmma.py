"""Products: which of their kinds each is, and those by wgmma on operands in shared memory.

Source: PTX ISA, wgmma.  The accumulators stay in the same registers through a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import UndefFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import (
    MmaSm90Op,
    SmemDescAddOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaWaitOp,
)
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute import (
    AsyncDotOp,
    DotOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma_checks import bits_of
from tileas_xdsl.dialects.nv_tileas.transposed import is_transposed
from tileas_xdsl.layout.register_layout import RegisterLayout
from tileas_xdsl.target.canonical import CanonicalLayout
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.warp_tiles import accumulator_layout, instructions_of
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i1_constant
from tileas_xdsl.threads.codegen.lowered_values import (
    RegisterTile,
    SharedTile,
    Splat,
    TensorTile,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.dot.wgmma_operand_a import (
    INSTRUCTION_ROWS,
    descriptor,
    left_factor,
    start_of,
)
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.smem.shared_tile import shared_tile

INSTRUCTION_K_BITS = 256
"""Bits of K that one instruction multiplies."""

MOST_COLUMNS = 256
REGISTER_BITS = 32

TRANSPOSED_BITS = 16
"""Only operands of such elements may be MN-major."""


def await_wgmma(
    e: ThreadBuilder, fragment: RegisterTile | TensorTile, kept: Sequence[SSAValue] = ()
) -> RegisterTile | TensorTile:
    """What a product has left, with registers kept; those who read tensor memory wait for it."""
    if isinstance(fragment, TensorTile):
        return fragment
    done = e.insert(WgmmaWaitOp(0, [*fragment.parts, *kept])).results
    return fragment.of(done[: len(fragment.parts)])


def issue_wgmma(
    e: ThreadBuilder, op: DotOp | AsyncDotOp
) -> tuple[RegisterTile, Sequence[SSAValue]]:
    """The instructions of a product, as one group, and the registers of A that they read."""
    _check_atom(e, op)
    rows, columns = shape_of(op.result.type if isinstance(op, DotOp) else op.c.type) or (0, 0)
    _check_shape(e, op, rows, columns)
    layout = accumulator_layout(rows, columns, e.agent.groups)
    a, b = left_factor(e, op, e.agent.groups), shared_tile(e, op.b)
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
        for block in range(instructions_of(layout)):
            registers[block] = e.insert(
                MmaSm90Op(
                    a.operand(e, block, k),
                    step_b,
                    registers[block],
                    i1_constant(e, False) if zeros and k == 0 else None,
                    shape=(INSTRUCTION_ROWS, columns, depth),
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


def _unset(e: ThreadBuilder, sums: Splat, layout: RegisterLayout) -> RegisterTile:
    """Registers of sums that hold nothing yet."""
    vectors = vectors_of(layout)
    type_ = VectorType(sums.element, [vectors.length])
    parts = [e.insert(UndefFragmentOp(type_)).result for _ in range(vectors.count)]
    return RegisterTile(layout, sums.element, tuple(parts))


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
    step = INSTRUCTION_ROWS * e.agent.groups
    if rows % step:
        raise op_error(
            op, f"{e.agent.groups} warpgroups multiply multiples of {step} rows, not {rows}"
        )
    if columns > MOST_COLUMNS or columns % 8:
        raise op_error(op, f"wgmma has 8 to {MOST_COLUMNS} columns in steps of 8, not {columns}")


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


def _descriptor_of_b(e: ThreadBuilder, b: SharedTile, canonical: CanonicalLayout) -> Any:
    start = b.first_row * b.layout.row_bytes
    return e.insert(descriptor(advance(e, b.pointer, start), canonical)).result
