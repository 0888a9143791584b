"""Operand A of wgmma: shared-memory descriptors, or registers.

For 16-bit elements the register fragment of A equals that of an accumulator with as many columns
(PTX ISA, wgmma register fragments): the accumulator of one product becomes A of the next in place.
Of tf32 it is read from a stage without bank conflicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TypeAlias

from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.compute.depth_order import has_depth_of_sums
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp, MatrixProduct
from tileas_xdsl.dialects.nv_tileas.compute.row_order import has_rows_in_pairs
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import major_of
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.mma.canonical import CanonicalLayout, Major
from tileas_xdsl.target.mma.warp_tiles import (
    fragment_layout,
    fragment_of_sums,
    instructions_of,
    warpgroup_grid,
)
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import multiply
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile, SharedTile, Splat
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.dot.mma_accumulate import WGMMA_ROWS
from tileas_xdsl.threads.dot.operands.smem_descriptors import (
    operand_start,
    step_descriptor,
    wgmma_descriptor,
)
from tileas_xdsl.threads.registers.coordinates import warpgroup_index
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import strip
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT

FRAGMENT_BITS = 128
"""Of A per thread in one instruction: four registers."""

INSTRUCTION_K_BITS = 256
"""Of a row of A in one instruction."""


@dataclass(frozen=True)
class SmemOperandA:
    """A in shared memory."""

    tile: SharedTile
    canonical: CanonicalLayout
    descriptors: list[SSAValue] = field(default_factory=list[SSAValue])
    """Descriptors of the row blocks of this warpgroup."""

    @property
    def major(self) -> Major:
        """Whether elements are adjacent along K or along M."""
        return self.canonical.major

    @property
    def element(self) -> Attribute:
        """Of A."""
        return self.tile.element

    @property
    def kept(self) -> Sequence[SSAValue]:
        """Registers that have to stay unchanged until the product is done."""
        return ()

    def begin(self, e: ThreadBuilder, layout: RegisterLayout) -> None:
        """What is made before the instructions."""
        tile, blocks = self.tile, instructions_of(layout)
        block_bytes = WGMMA_ROWS * tile.layout.row_bytes
        if self.major == "mn":
            block_bytes = tile.layout.column_offset(WGMMA_ROWS)
        pointer = operand_start(e, tile, 0, self.major)
        group, _ = warpgroup_index(e, layout)
        if group is not None:
            pointer = advance(e, pointer, multiply(e, group, blocks * block_bytes), ALIGNMENT)
        for block in range(blocks):
            start = advance(e, pointer, block * block_bytes)
            self.descriptors.append(wgmma_descriptor(e, start, self.canonical))

    def operand(self, e: ThreadBuilder, block: int, k: int) -> SSAValue:
        """A of one instruction."""
        return step_descriptor(e, self.descriptors[block], self.canonical, k)


@dataclass(frozen=True)
class RegisterOperandA:
    """A in registers: a vector for each block of rows of this warpgroup."""

    layout: RegisterLayout
    element: Attribute
    parts: Sequence[SSAValue]
    strips: dict[tuple[int, int], SSAValue] = field(default_factory=dict[tuple[int, int], SSAValue])

    @property
    def major(self) -> Major:
        """Registers are K-major: the fragments of other elements are those of the instruction."""
        return "k"

    @property
    def kept(self) -> Sequence[SSAValue]:
        """Registers that have to stay unchanged until the product is done."""
        return self.parts

    def begin(self, e: ThreadBuilder, layout: RegisterLayout) -> None:
        """Registers are written before the fence."""
        count, blocks = FRAGMENT_BITS // bits_of(self.element), instructions_of(layout)
        length, of_block = vectors_of(self.layout).length, self.layout.values // blocks
        for block in range(blocks):
            for k in range(of_block // count):
                vector, first = divmod(block * of_block + k * count, length)
                self.strips[block, k] = strip(e, self.parts[vector], first, count)

    def operand(self, e: ThreadBuilder, block: int, k: int) -> SSAValue:
        """A of one instruction."""
        return self.strips[block, k]


OperandA: TypeAlias = RegisterOperandA | SmemOperandA


def takes_registers(op: MatrixProduct) -> bool:
    """Whether wgmma reads A of a product from registers as threads have it; else it is stored.

    An asynchronous product would have to keep the registers unchanged until it is waited for.
    """
    columns, bits = (shape_of(op.a.type) or (0,))[-1], bits_of(element_of(op.a.type))
    return columns * bits % INSTRUCTION_K_BITS == 0 and not isinstance(op, AsyncDotOp)


def operand_a(e: ThreadBuilder, op: AsyncDotOp | DotOp, groups: int) -> OperandA:
    """Return operand A of a product by a number of warpgroups, in registers or shared memory."""
    if not isinstance(e.get(op.a), RegisterTile | Splat):
        tile = shared_tile(e, op.a)
        major, (_, depth) = major_of(op.a.type, of_b=False), shape_of(op.a.type) or (0, 0)
        layout = tile.layout.canonical(op, WGMMA_ROWS, depth, e.plan.target, major=major)
        return SmemOperandA(tile, layout)
    rows, columns = shape_of(op.a.type) or (0, 0)
    bits = bits_of(element_of(op.a.type))
    if columns * bits % INSTRUCTION_K_BITS:
        raise op_error(
            op,
            f"has A in registers, {rows}x{columns} elements of {bits} bits; wgmma takes multiples "
            f"of {INSTRUCTION_K_BITS // bits} columns",
        )
    if warpgroup_grid(rows, groups)[1] > 1:
        raise op_error(
            op,
            f"has A in registers, {rows} rows for {groups} warpgroups, which share its columns; "
            "they read A from shared memory",
        )
    layout = fragment_layout(rows, columns, bits, groups, in_pairs=has_rows_in_pairs(op))
    if has_depth_of_sums(op):
        layout = fragment_of_sums(rows, columns, groups)
    tile = in_registers(e, op, op.a, layout)
    return RegisterOperandA(tile.layout, tile.element, tile.parts)
