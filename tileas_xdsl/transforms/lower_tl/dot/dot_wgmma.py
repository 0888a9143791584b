"""Lower `tl.gemm` to `wgmma`: 64 rows by up to 256 columns per warpgroup and instruction.

    tl.gemm %a, %b, %c                      wgmma.fence
      A 128x64 f16 in smem, swizzle 128     wgmma m64n128k16  descA + 0, descB + 0
      B 128x64 f16, transposed, likewise    wgmma m64n128k16  descA + 2, descB + 2   (units of 16 B)
      two warpgroups, each 64 rows          ... K / 16 = 4 instructions
                                            wgmma.commit_group ; wgmma.wait_group 0

B, and A unless it is in registers, are read through matrix descriptors (PTX ISA, "Asynchronous
Warpgroup Level Matrix Instructions"). `SmemOperand` matches a buffer's layout, as layout
inference chose it, with the canonical layouts that descriptors can express (`target/mma`): a
mismatch is reported with the layout found. Each warpgroup begins at its own rows; the byte
offset must be a whole period of the swizzle, since the hardware XORs address bits.

The accumulators stay in the registers of C. With `clear`, the first instruction has scale-d = 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.base import element_of
from tileas_xdsl.dialects.tl.compute import GemmOp
from tileas_xdsl.inference.gemm_layouts import (
    WARPS_OF_GROUP,
    Product,
    instruction_columns,
)
from tileas_xdsl.layout.axes import ANONYMOUS, coefficient_of
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.compose import composition
from tileas_xdsl.layout.swizzle import NO_SWIZZLE, Swizzle
from tileas_xdsl.layout.tables import table
from tileas_xdsl.target.mma.canonical import CanonicalLayout, Major
from tileas_xdsl.target.mma.canonical_match import Mismatch, match_canonical
from tileas_xdsl.threads.codegen.integer_ops import divide, modulo, multiply
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import warp_id
from tileas_xdsl.threads.dot.mma_accumulate import (
    WGMMA_ROWS,
    WgmmaInstruction,
    await_wgmma,
    undefined_accumulators,
    wgmma_group,
)
from tileas_xdsl.threads.dot.operands.smem_descriptors import step_descriptor, wgmma_descriptor
from tileas_xdsl.threads.registers.vector_values import joined, strip
from tileas_xdsl.transforms.lower_tl.buffer_locations import FragmentLocation, SharedLocation
from tileas_xdsl.transforms.lower_tl.dot.mma_sync_operands import (
    MmaOperand,
    depth_of,
    multiplied_as,
)
from tileas_xdsl.transforms.lower_tl.lowering_state import State

A_REGISTERS = 4
"""32-bit registers of A that a thread supplies to an instruction (PTX ISA, wgmma)."""


@dataclass(frozen=True)
class SmemOperand:
    """A or B in shared memory, as matrix descriptors address it."""

    place: SharedLocation
    memory: Layout
    """`(rows or columns, K)` to bytes, before the swizzle."""
    canonical: CanonicalLayout

    @staticmethod
    def of(state: State, op: GemmOp, side: str, extent: int) -> SmemOperand:
        """Return an operand of which one instruction reads `extent` rows or columns."""
        value: SSAValue = getattr(op, side)
        place = state.shared(op, value)
        is_transposed_operand = getattr(op, f"transpose_{side}") is not None
        is_k_last = is_transposed_operand == (side == "b")
        swizzle, plain = _parts(op, place)
        memory = plain if is_k_last else make_layout(plain[1], plain[0])
        bits = bits_of(place.element)
        major: Major = "k" if is_k_last else "mn"
        part = composition(memory, (extent, memory[1].size()))
        found = match_canonical(_by_elements(part, bits), swizzle, bits, major, state.target)
        if isinstance(found, Mismatch):
            name = side.upper()
            raise op_error(
                op, f"has {name} as {place.layout}, which wgmma cannot read: {found.reason}"
            )
        return SmemOperand(place, memory, found)

    def descriptor(
        self, state: State, op: GemmOp, starts: Sequence[int], group: SSAValue
    ) -> SSAValue:
        """Return the descriptor of the rows or columns that a warpgroup begins at.

        `starts` has one start per warpgroup; they must be evenly spaced, since `group * step` is
        computed at run time.
        """
        e = state.e
        lines = table(self.memory[0], ANONYMOUS)
        offsets = [int(lines[start]) for start in starts]
        if any(offset % self.canonical.alignment for offset in offsets):
            raise op_error(
                op, f"begins operands at bytes {offsets}, which are no whole patterns of a swizzle"
            )
        pointer = advance(e, self.place.pointer(e), offsets[0])
        step = offsets[1] - offsets[0] if len(offsets) > 1 else 0
        if offsets != [offsets[0] + step * k for k in range(len(offsets))]:
            raise op_error(op, f"begins the operands of warpgroups at bytes {offsets}, unevenly")
        if step:
            pointer = advance(e, pointer, multiply(e, group, step), self.canonical.alignment)
        return wgmma_descriptor(e, pointer, self.canonical)


def _parts(op: GemmOp, place: SharedLocation) -> tuple[Swizzle, Layout]:
    """Return the byte swizzle and the layout below it."""
    layout = place.layout
    if isinstance(layout, Layout):
        return NO_SWIZZLE, layout
    if isinstance(layout.outer, Swizzle) and isinstance(layout.inner, Layout) and not layout.offset:
        return layout.outer, layout.inner
    raise op_error(op, f"has an operand as {layout}, which wgmma cannot read")


def _by_elements(memory: Layout, bits: int) -> Layout:
    """Convert a layout to bytes into one to elements."""
    size = bits // 8
    modes = [
        Layout(
            tuple(extent for extent, _ in memory[k].leaves()),
            tuple(int(coefficient_of(d, ANONYMOUS)) // size for _, d in memory[k].leaves()),
        )
        for k in range(2)
    ]
    return make_layout(*modes)


def multiply_by_warpgroups(
    state: State, op: GemmOp, product: Product, accumulator: FragmentLocation
) -> None:
    """Emit C += A B as wgmma instructions."""
    e, width = state.e, instruction_columns(product.columns_of_warp)
    rows, columns = product.rows_of_warp, product.columns_of_warp // width
    depth = depth_of(bits_of(element_of(op.a.type)))
    operand_a, operand_b = _OperandA(state, op, product), SmemOperand.of(state, op, "b", width)
    groups_m = product.warps_m // WARPS_OF_GROUP
    group = divide(e, warp_id(e), WARPS_OF_GROUP)
    across = divide(e, group, groups_m) if groups_m > 1 else group
    b_descriptors = [
        operand_b.descriptor(
            state,
            op,
            [n * product.columns_of_warp + c * width for n in range(product.warps_n)],
            across,
        )
        for c in range(columns)
    ]
    operand_a.begin(modulo(e, group, groups_m) if product.warps_n > 1 else group)
    tiles = _begin(state, op, accumulator, width // 2, rows * columns)
    a_type, b_type = (multiplied_as(element_of(value.type)) for value in (op.a, op.b))
    majors = operand_a.major, operand_b.canonical.major
    instruction = WgmmaInstruction(width, depth, a_type, b_type, *majors)

    def operands(k: int, row: int, column: int) -> tuple[SSAValue, SSAValue]:
        a = operand_a.operand(row, k)
        return a, step_descriptor(e, b_descriptors[column], operand_b.canonical, k)

    cleared, steps = op.clear is not None, product.k // depth
    wgmma_group(e, instruction, tiles, steps, columns, operands, from_zero=cleared)
    state.registers[accumulator.storage] = joined(e, await_wgmma(e, tiles, operand_a.kept))


def _begin(
    state: State, op: GemmOp, accumulator: FragmentLocation, count: int, tiles: int
) -> list[SSAValue]:
    """Return the accumulator registers of each instruction; undefined where they are cleared."""
    e = state.e
    if op.clear is not None:
        return undefined_accumulators(e, accumulator.element, count, tiles)
    part = state.registers[accumulator.storage]
    return [strip(e, part, k * count, count) for k in range(tiles)]


class _OperandA:
    """Operand A: descriptors of shared memory, or registers."""

    def __init__(self, state: State, op: GemmOp, product: Product) -> None:
        self.state, self.op, self.product = state, op, product
        self.shared: SmemOperand | None = None
        self.registers: list[list[SSAValue]] = []
        self.descriptors: list[SSAValue] = []
        if isinstance(state.places[op.a], SharedLocation):
            self.shared = SmemOperand.of(state, op, "a", WGMMA_ROWS)

    @property
    def major(self) -> Major:
        """The contiguous dimension of A."""
        return "k" if self.shared is None else self.shared.canonical.major

    @property
    def kept(self) -> Sequence[SSAValue]:
        """The registers that must not change until the instructions are complete."""
        return [part for parts in self.registers for part in parts]

    def begin(self, group: SSAValue) -> None:
        """Emit what precedes the instructions: descriptors or register fragments."""
        product = self.product
        if self.shared is None:
            self._begin_registers()
            return
        high, rows = product.warps_m // WARPS_OF_GROUP, product.rows_of_warp
        for i in range(rows):
            starts = [(g * rows + i) * WGMMA_ROWS for g in range(high)]
            self.descriptors.append(self.shared.descriptor(self.state, self.op, starts, group))

    def _begin_registers(self) -> None:
        product, factor = self.product, MmaOperand(self.state, self.op, self.product, "a")
        if product.rows_of_warp > 1 and product.warps_m > WARPS_OF_GROUP:
            raise op_error(
                self.op,
                f"has A of {product.m} rows in registers of {product.warps_m // WARPS_OF_GROUP} "
                "warpgroups, each of which takes 64 rows of such: put A into shared memory",
            )
        count = A_REGISTERS * 32 // bits_of(factor.element)
        for k in range(product.k // factor.depth):
            places = factor.places(k)
            parts = [
                factor.joined(places[i * count : (i + 1) * count])
                for i in range(product.rows_of_warp)
            ]
            self.registers.append(parts)

    def operand(self, i: int, k: int) -> SSAValue:
        """Return A of one instruction."""
        if self.shared is None:
            return self.registers[k][i]
        return step_descriptor(self.state.e, self.descriptors[i], self.shared.canonical, k)
