"""Select the instruction family of each dot; lower dots to `wgmma` with operands in shared memory.

    nv_tileas.dot %a, %b, %c : 128x64 by 64x256, bf16, agent of two warpgroups
    ->  %da = make_gmma_smem_desc ... swizzle "128B" leading 16 stride 1024      of its 64 rows
        %db = make_gmma_smem_desc ... swizzle "128B" leading 8192 stride 1024
        wgmma_fence
        %0 = mma.SM90 %da, %db, %c shape [64, 256, 16]          256 bits of K an instruction
        %1 = mma.SM90 %da + 32 bytes, %db + 2048 bytes, %0      and the next 16 of K, four in all
        ...
        wgmma_commit_group
        %r = wgmma_wait_group 0, %3

A descriptor is made once; later instructions add to its start address.  The accumulators stay in
the same registers through a loop: each MMA updates them in place.  Source: PTX ISA, wgmma.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import SmemDescAddOp
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute.depth_order import has_depth_of_sums
from tileas_xdsl.dialects.nv_tileas.compute.dot import (
    AsyncDotOp,
    DotOp,
)
from tileas_xdsl.dialects.nv_tileas.compute.product_ends import ends_of
from tileas_xdsl.dialects.nv_tileas.compute.row_order import has_rows_in_pairs
from tileas_xdsl.dialects.nv_tileas.shapes.slices import tile_of
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import major_of
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.mma.canonical import CanonicalLayout
from tileas_xdsl.target.mma.matrix_units import COLUMN_STEP, MAX_COLUMNS, WGMMA
from tileas_xdsl.target.mma.warp_tiles import (
    accumulator_layout,
    columns_of_warpgroup,
)
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import divide, modulo, multiply
from tileas_xdsl.threads.codegen.lowered_values import (
    LateSums,
    RegisterTile,
    SharedTile,
    Splat,
    TmemTile,
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
from tileas_xdsl.threads.dot.operands.smem_descriptors import (
    operand_start,
    step_descriptor,
    wgmma_descriptor,
)
from tileas_xdsl.threads.dot.operands.wgmma_operand_a import OperandA, operand_a
from tileas_xdsl.threads.registers.coordinates import warpgroup_index
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import (
    constant_elements,
    element_type,
    length,
    zero_of,
)
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT

INSTRUCTION_K_BITS = 256
"""Bits along K of one instruction."""

COLUMNS_OF_ANY = 16
"""Instructions have any multiple of so many columns, of integers too."""


def delivered(
    e: ThreadBuilder,
    product: RegisterTile | TmemTile,
    kept: Sequence[SSAValue] = (),
    pending: int = 0,
) -> RegisterTile | TmemTile:
    """Wait for a wgmma result in registers; readers of tensor memory wait at the read instead.

    `kept` are registers of A, which must stay unchanged until then; `pending` groups were issued
    behind, and stay in flight.
    """
    if isinstance(product, TmemTile):
        return product
    return product.of(await_wgmma(e, product.parts, kept, pending))


def issue_wgmma(
    e: ThreadBuilder, op: DotOp | AsyncDotOp
) -> tuple[RegisterTile, Sequence[SSAValue]]:
    """Emit the wgmma group of a product; return it with the registers of A that it reads."""
    layout = _accumulator_layout_of(e, op)
    zero = zero_accumulator(e, op)
    start = in_registers(e, op, op.c, layout) if zero is None else _undefined(e, zero, layout)
    _check_registers(e, op, start)
    factors = _Operands.of(e, op, layout)
    columns = columns_of_warpgroup(layout)
    width = _columns_of_interest(op, columns)
    registers = vectors_of(layout).length * width // columns
    accumulators = [_first(e, part, registers) for part in start.parts]
    factors.multiply(e, op, accumulators, 0, width, from_zero=zero is not None)
    rest = vectors_of(layout).length - registers
    return start.of([_with_zeros(e, part, rest) for part in accumulators]), factors.a.kept


def _columns_of_interest(op: DotOp | AsyncDotOp, columns: int) -> int:
    """Return of how many columns instructions are; a warpgroup may leave out some if it has all."""
    depth, whole = shape_of(op.b.type) or (0, 0)
    own, _ = ends_of(op, whole, depth)
    return columns if columns < whole else min(align_up(own, COLUMNS_OF_ANY), columns)


def _first(e: ThreadBuilder, part: SSAValue, registers: int) -> SSAValue:
    """Return the registers of the first columns."""
    if registers == length(part):
        return part
    return e.insert(SliceFragmentOp(part, 0, registers)).result


def _with_zeros(e: ThreadBuilder, first: SSAValue, rest: int) -> SSAValue:
    """Return the registers of the first columns and of others, of which nothing comes."""
    if not rest:
        return first
    zeros = constant_elements(e, zero_of(element_type(first)), rest)
    return e.insert(MakeFragmentOp([first, zeros])).result


PROMOTED_REGISTERS = 64
"""Registers of the products that are added to C at once, beside those of C."""


def promoted_wgmma(
    e: ThreadBuilder, op: DotOp, late: LateSums | None = None
) -> RegisterTile | LateSums:
    """Multiply from zero and add to C in f32, 64 rows and some columns at a time.

        d = wgmma(a[:64], b[:, :128], zero); wait; c[:64, :128] += d; ...

    As many columns as have room: an instruction of more reads fewer bytes for each product.  Where
    products run `late` the last one does, in the registers of the one before.

    Source: CUTLASS, promotion of FP8 accumulators (sm90 mainloops `FP8FastAccum` lack it).
    """
    layout = _accumulator_layout_of(e, op)
    start = in_registers(e, op, op.c, layout)
    _check_registers(e, op, start)
    factors, columns = _Operands.of(e, op, layout), columns_of_warpgroup(layout)
    width, registers = _promoted_columns(layout)
    last = len(start.parts) - 1, columns - width
    parts: list[SSAValue] = []
    products = [] if late is None else [*late.product]
    for row, part in enumerate(start.parts):
        sums: list[SSAValue] = []
        for first in range(0, columns, width):
            if late is None:
                products = undefined_accumulators(e, start.element, registers, 1)
            factors.multiply(e, op, products, first, width, from_zero=True, first_row=row)
            offset = first * registers // width
            before = e.insert(SliceFragmentOp(part, offset, registers)).result
            if late is not None and (row, first) == last:
                sums.append(before)
                continue
            products = [*await_wgmma(e, products, factors.a.kept)]
            sums.append(e.insert(arith.AddfOp(before, products[0])).result)
        parts.append(e.insert(MakeFragmentOp(sums)).result)
    done = start.of(parts)
    return done if late is None else LateSums(done, tuple(products))


def _promoted_columns(layout: RegisterLayout) -> tuple[int, int]:
    """Return the columns of a product that is added to C at once, and its registers."""
    columns, elements = columns_of_warpgroup(layout), vectors_of(layout).length
    most = max(PROMOTED_REGISTERS * columns // elements, COLUMN_STEP)
    width = max(w for w in range(COLUMN_STEP, most + 1, COLUMN_STEP) if columns % w == 0)
    return width, width * elements // columns


def before_late_products(e: ThreadBuilder, op: DotOp, sums: RegisterTile) -> LateSums:
    """Return sums in front of a loop whose product runs on from round to round.

    Of promoted sums the product in front of the first round is -0.0, which changes no sum.
    """
    if op.promote is None:
        return LateSums(sums)
    _, registers = _promoted_columns(sums.layout)
    assert isinstance(sums.element, AnyFloat)
    return LateSums(sums, (constant_elements(e, FloatAttr(-0.0, sums.element), registers),))


def finished(e: ThreadBuilder, late: LateSums) -> LateSums:
    """Wait for the product that runs on, and return the sums with it, and its registers."""
    if not late.product:
        return LateSums(late.sums.of(await_wgmma(e, late.sums.parts)))
    (product,) = await_wgmma(e, late.product)
    *parts, last = late.sums.parts
    first = length(last) - length(product)
    before = e.insert(SliceFragmentOp(last, first, length(product))).result
    added = e.insert(arith.AddfOp(before, product)).result
    if first:
        added = e.insert(MakeFragmentOp([_first(e, last, first), added])).result
    return LateSums(late.sums.of([*parts, added]), (product,))


def _accumulator_layout_of(e: ThreadBuilder, op: DotOp | AsyncDotOp) -> RegisterLayout:
    """Return the layout of C; raise for an atom or a shape that wgmma does not have."""
    _check_atom(e, op)
    tile = op.result.type if isinstance(op, DotOp) else tile_of(op.c.type)
    rows, columns = (0, 0) if tile is None else shape_of(tile) or (0, 0)
    _check_shape(e, op, rows, columns)
    return accumulator_layout(rows, columns, e.agent.groups, in_pairs=has_rows_in_pairs(op))


@dataclass(frozen=True)
class _Operands:
    """A and B of a product, as wgmma reads them."""

    a: OperandA
    b: SharedTile
    canonical: CanonicalLayout
    steps: int
    """Instructions along K."""
    accumulators: RegisterLayout
    """Of which each warpgroup may have its share of the columns."""

    @staticmethod
    def of(e: ThreadBuilder, op: DotOp | AsyncDotOp, layout: RegisterLayout) -> _Operands:
        """Make what is made before the instructions; raise where B lies as wgmma does not read."""
        a, b = operand_a(e, op, e.agent.groups), shared_tile(e, op.b)
        if b.is_in_order_of_sums != has_depth_of_sums(op):
            raise op_error(op, "reads B whose rows come in another order than the columns of A")
        depth, columns = shape_of(op.b.type) or (0, 0)
        major = major_of(op.b.type, of_b=True)
        right = b.layout.canonical(op, columns, depth, e.plan.target, major=major)
        a.begin(e, layout)
        _, end = ends_of(op, columns, depth)
        steps = ceil_div(end * bits_of(a.element), INSTRUCTION_K_BITS)
        return _Operands(a, b, right, steps, layout)

    def _descriptor(self, e: ThreadBuilder, start: SSAValue) -> SSAValue:
        """That of those columns of B which a warpgroup multiplies by; they may begin in a panel."""
        _, group = warpgroup_index(e, self.accumulators)
        if group is None:
            return wgmma_descriptor(e, start, self.canonical)
        share, layout = columns_of_warpgroup(self.accumulators), self.b.layout
        in_panel = layout.panel // share if self.canonical.major == "mn" else 1
        if in_panel < 2:  # Whole rows or panels: both are powers of two.
            step = layout.column_offset(share)
            step = step if self.canonical.major == "mn" else share * layout.row_bytes
            start = advance(e, start, multiply(e, group, step), gcd(step, ALIGNMENT))
            return wgmma_descriptor(e, start, self.canonical)
        panel = multiply(e, divide(e, group, in_panel), layout.panel_bytes)
        descriptor = wgmma_descriptor(e, advance(e, start, panel, ALIGNMENT), self.canonical)
        inside = multiply(e, modulo(e, group, in_panel), share * layout.bits // 8)
        return e.insert(SmemDescAddOp(descriptor, inside)).result

    def multiply(
        self,
        e: ThreadBuilder,
        op: DotOp | AsyncDotOp,
        accumulators: list[SSAValue],
        first: int,
        width: int,
        *,
        from_zero: bool,
        first_row: int = 0,
    ) -> None:
        """Emit the group for `width` columns from column `first` on, whole panels if MN-major.

        There are accumulators for each block of 64 rows, from block `first_row` on.
        """
        start = operand_start(e, self.b, first, self.canonical.major)
        descriptor = self._descriptor(e, start)
        b_steps: dict[int, SSAValue] = {}

        def operands(k: int, row: int) -> tuple[SSAValue, SSAValue]:
            if k not in b_steps:
                b_steps[k] = step_descriptor(e, descriptor, self.canonical, k)
            return self.a.operand(e, first_row + row, k), b_steps[k]

        depth = INSTRUCTION_K_BITS // bits_of(self.a.element)
        majors = self.a.major, self.canonical.major
        instruction = WgmmaInstruction(width, depth, *operand_types(op), *majors)
        wgmma_group(e, instruction, accumulators, self.steps, operands, from_zero=from_zero)


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
    reason = e.plan.target.lacks(Feature.WGMMA, f"atom '{atom.keyword}'")
    if reason is not None:
        raise op_error(op, reason)


def _check_shape(e: ThreadBuilder, op: Operation, rows: int, columns: int) -> None:
    if not e.agent.groups:
        raise op_error(
            op, f"wgmma takes whole warpgroups; {e.agent.name} has {e.agent.warps} warps"
        )
    if rows % WGMMA_ROWS:
        raise op_error(op, f"warpgroups multiply multiples of {WGMMA_ROWS} rows, not {rows}")
    if not WGMMA.takes_extents(rows, columns, e.agent.groups):
        raise op_error(op, f"wgmma has 8 to {MAX_COLUMNS} columns in steps of 8, not {columns}")


def _check_registers(e: ThreadBuilder, op: Operation, accumulator: RegisterTile) -> None:
    """A thread keeps its accumulators in registers, and needs some more."""
    count = vectors_of(accumulator.layout).elements
    needed = count * bits_of(accumulator.element) // WORD_BITS
    most = e.plan.target.registers_per_thread
    most = min(e.agent.registers, most) if e.agent.registers else most
    if needed >= most:
        raise op_error(
            op,
            f"its accumulators take {needed} registers of a thread; {e.agent.name} has {most}",
        )
