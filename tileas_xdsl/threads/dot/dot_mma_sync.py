"""Lower a dot to `mma.sync`: 16x8 accumulators in the registers of each warp.

A step along K takes, for f16, 16 columns of A and rows of B. In lane `t` of `m16n8k16` (PTX ISA,
"Matrix Fragments for mma.m16n8k16") the accumulator has rows `t / 4` and `t / 4 + 8`, columns
`2 * (t % 4)` and the next: four registers. `_Cells` maps instruction operands to the registers of
the tile's layout: which register of the thread is operand `k` of instruction `(batch, row,
column)`.

    dot 32x16 by 16x16 in one warp:   2 x 2 instructions, each
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {4 D}, {4 x f16x2 A}, {2 x f16x2 B}, {4 C}

Where a tile has fewer rows or columns than the instruction, lanes hold some of them twice; where it
has less of K, an instruction of less is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float16Type, f32
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.analysis.layouts.dot_layouts import (
    EIGHT,
    HALVES,
    PAIR,
    QUAD,
    Tiling,
    min_depth,
    register_elements,
)
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.convert.register_conversion import cast
from tileas_xdsl.threads.dot.mma_accumulate import Cell, mma_sync, operand_types
from tileas_xdsl.threads.dot.operands.in_registers import (
    Operand,
    Slice,
    operands_of,
)
from tileas_xdsl.threads.registers.register_array import RegisterFile, VectorElement
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of

MULTIPLIED = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "f64")
"""Element types of `mma.sync` on both targets (PTX ISA 9.7.14)."""

_BYTES = ("e4m3", "e5m2")


def warp_product(e: ThreadBuilder, op: DotOp | AsyncDotOp, tiling: Tiling) -> RegisterTile:
    """Lower a product to `mma.sync`."""
    types = operand_types(op)
    _check(op, tiling, types)
    start = in_registers(e, op, op.c, tiling.accumulator)
    is_widened = types[0] in _BYTES and start.element == Float16Type()
    accumulators = cast(e, start, arith.ExtFOp, f32) if is_widened else start
    left, right = operands_of(e, op, tiling)
    found = _multiplied(e, _Cells(tiling), accumulators, (left, right), types)
    return cast(e, found, arith.TruncFOp, start.element) if is_widened else found


def _check(op: DotOp | AsyncDotOp, tiling: Tiling, types: tuple[str, str]) -> None:
    for type_ in types:
        if type_ not in MULTIPLIED:
            raise op_error(op, f"mma.sync multiplies {', '.join(MULTIPLIED)} here, not {type_}")
    least = min_depth(tiling.extents.bits)
    if tiling.extents.k < least:
        raise op_error(
            op,
            f"mma.sync multiplies {least} or more of K at once, not {tiling.extents.k}: "
            f"fma_A_B_D multiplies any",
        )


class _Cells:
    """The registers of a thread by `mma.sync` instruction, in operand order."""

    def __init__(self, tiling: Tiling) -> None:
        x = tiling.extents
        _, rows, columns = tiling.warps
        self.tiling = tiling
        self.packed = register_elements(x.bits)
        self.high = min(HALVES, max(x.m // EIGHT, 1))
        self.pair = min(PAIR, x.n)
        self.deep = tiling.step // (QUAD * self.packed)
        self.rows = max(x.m // (EIGHT * HALVES * rows), 1)
        self.columns = max(x.n // (EIGHT * columns), 1)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the instruction."""
        return EIGHT * HALVES, EIGHT, self.tiling.step

    def cells(self) -> Sequence[Cell]:
        """Return the instructions of a step along K."""
        x, y, z = self.tiling.batches, self.rows, self.columns
        return [(b, i, j) for b in range(x) for i in range(y) for j in range(z)]

    def accumulators(self, cell: Cell) -> Sequence[int]:
        """Return the registers of C; rows and columns beyond the tile repeat others."""
        b, i, j = cell
        first = ((b * self.rows + i) * self.columns + j) * self.high * self.pair
        return [
            first + h % self.high * self.pair + p % self.pair
            for h in range(HALVES)
            for p in range(PAIR)
        ]

    def left(self, b: int, i: int) -> Sequence[int]:
        """Return the registers of A, in operand order."""
        first = (b * self.rows + i) * self.deep * self.high * self.packed
        return [
            first + (d * self.high + h % self.high) * self.packed + w
            for d in range(self.deep)
            for h in range(HALVES)
            for w in range(self.packed)
        ]

    def right(self, b: int, j: int) -> Sequence[int]:
        """Return the registers of B, in operand order."""
        first = (b * self.columns + j) * self.deep * self.packed
        return [first + d * self.packed + w for d in range(self.deep) for w in range(self.packed)]


def _multiplied(
    e: ThreadBuilder,
    cells: _Cells,
    start: RegisterTile,
    operands: tuple[Operand, Operand],
    types: tuple[str, str],
) -> RegisterTile:
    """Emit all instructions, for each step along K."""
    file = RegisterFile.of(e, start)
    accumulators = {
        cell: file.joined([file.vector_element(register) for register in cells.accumulators(cell)])
        for cell in cells.cells()
    }
    for k in range(cells.tiling.steps):
        left, right = (operand.slice(k) for operand in operands)
        a: dict[tuple[int, int], SSAValue] = {}
        # A column after another: few registers of B are held at once, beside all of A.
        for b, j in dict.fromkeys((b, j) for b, _, j in accumulators):
            of_b = _taken(e, operands[1].element, right, cells.right(b, j))
            for i in range(cells.rows):
                if (b, i) not in a:
                    a[b, i] = _taken(e, operands[0].element, left, cells.left(b, i))
                c = accumulators[b, i, j]
                accumulators[b, i, j] = mma_sync(e, a[b, i], of_b, c, cells.shape, types)
    return _together(e, cells, start, accumulators)


def _taken(
    e: ThreadBuilder, element: Attribute, elements: Slice, registers: Sequence[int]
) -> SSAValue:
    """Join the registers of an operand of an instruction."""
    return RegisterFile(e, element).joined([elements[r] for r in registers])


def _together(
    e: ThreadBuilder, cells: _Cells, like: RegisterTile, accumulators: Mapping[Cell, SSAValue]
) -> RegisterTile:
    """Assemble the accumulators of all instructions into the registers of C."""
    elements: dict[int, VectorElement] = {}
    for cell, part in accumulators.items():
        for position, register in enumerate(cells.accumulators(cell)):
            elements.setdefault(register, (part, position))
    count = vectors_of(like.layout).elements
    file = RegisterFile(e, like.element)
    return file.fragment(like.layout, [elements.get(register) for register in range(count)])
