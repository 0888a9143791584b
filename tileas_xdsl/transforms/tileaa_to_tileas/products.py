"""Which instruction makes a product: that of the target where the tile suits it, else others.

Warps multiply what it does not take by `mma`, and threads what no instruction takes by `fma`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import FloatTF32Type, TensorType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.dot_layouts import min_depth
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.nv_tileaa.attributes import (
    CTAS_HINT,
    KERNEL_SPEC,
    KernelSpec,
    KernelSpecAttr,
)
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute.reductions import DotOp
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.compute import dot as compute
from tileas_xdsl.dialects.nv_tileas.compute.dot_checks import ATOM_ELEMENTS
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.enums import SignednessAttr, Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import transposed_encoding
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of, number_of
from tileas_xdsl.dialects.target_attribute import target_of
from tileas_xdsl.layout.units import WARPGROUP_WARPS
from tileas_xdsl.target.arch import Target, target_of_capability
from tileas_xdsl.target.mma.matrix_units import MATRIX_UNITS, PAIR
from tileas_xdsl.target.tiers import tier
from tileas_xdsl.threads.smem.smem_layout import reads_mn_major
from tileas_xdsl.transforms.normalize_dot_operands.permutations import Permuted, permutation
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert, generated
from tileas_xdsl.transforms.tileaa_to_tileas.scaled_products import (
    dequantized,
    scales_in_atoms,
    takes_scales,
)

ELEMENT_BY_ELEMENT = ("f32",)
"""What no instruction multiplies."""


def dot(op: DotOp, insert: Insert) -> Sequence[SSAValue]:
    """A product; the units of wgmma and tcgen05 take its factors from shared memory."""
    if op.sfa is not None and op.sfb is not None:
        return [_scaled(op, op.sfa, op.sfb, insert)]
    return [_product(op, op.a, op.b, insert)]


def _product(op: DotOp, a: SSAValue, b: SSAValue, insert: Insert) -> SSAValue:
    """The product of the converted operands of an operation.

    One of few rows is that of the transposes, B^T A^T = (A B)^T, where only that has as many rows
    as an instruction of the unit, and sums are transposed once, behind the loop that adds them up.
    """
    family, of_a, of_b = _family(op, a, b), op.signedness_a, op.signedness_b
    is_kept = _reads_shared_memory(family) or _may_be_of_pair(op, a, b)
    if is_kept or shape_of(a.type)[:-2] or not _is_read_behind_loop(op):
        return _of_family(op, family, (a, b, op.c), (of_a, of_b), insert)
    right, left = _transpose(insert, a), _transpose(insert, b)
    family_of_transposes = _family(op, left, right)
    if not _reads_shared_memory(family_of_transposes):
        return _of_family(op, family, (a, b, op.c), (of_a, of_b), insert)
    sums = _transpose(insert, op.c)
    found = _of_family(op, family_of_transposes, (left, right, sums), (of_b, of_a), insert)
    return _transpose(insert, found)


def _may_be_of_pair(op: DotOp, a: SSAValue, b: SSAValue) -> bool:
    """Whether two CTAs that divide the rows of a product can multiply together (`cta_group::2`).

    Its rows stay those of C then, for `tileas-plan-cta` to divide.
    """
    target, kernel = _target_around(op), enclosing(op, func.FuncOp)
    if target is None or kernel is None or number_of(kernel.attributes.get(CTAS_HINT)) != PAIR:
        return False
    words = [element_name(element_of(value.type)) for value in (a, b, op.c)]
    (*_, m, k), n = shape_of(a.type), shape_of(b.type)[-1]
    return target.matrix_unit.takes_of_pair(words, m, n, k)


def _is_read_behind_loop(op: DotOp) -> bool:
    """Return whether a dot is in no loop, or its loop only adds to the accumulator."""
    loop, uses = op.parent_op(), list(op.result.uses)
    if not isinstance(loop, scf.ForOp):
        return isinstance(loop, func.FuncOp)
    if len(uses) != 1 or not isinstance(uses[0].operation, scf.YieldOp):
        return False
    carried = loop.body.block.args[uses[0].index + 1]
    return op.c is carried and carried.has_one_use()


def _transpose(insert: Insert, matrix: SSAValue) -> SSAValue:
    return permutation(Permuted(matrix, (1, 0)), insert)


def _reads_shared_memory(family: str) -> bool:
    return family in MATRIX_UNITS and MATRIX_UNITS[family].reads_shared_memory


def _of_family(
    op: DotOp,
    family: str,
    operands: tuple[SSAValue, SSAValue, SSAValue],
    signs: tuple[SignednessAttr | None, SignednessAttr | None],
    insert: Insert,
) -> SSAValue:
    a, b, c = operands
    atom, word = _atom(op, family, a, b), element_name(element_of(a.type))
    if family in MATRIX_INSTRUCTIONS:
        a, b = _untruncated(a), _untruncated(b)
    if _reads_shared_memory(family):
        a, b = unit_operands(insert, family, a, b)
    made = compute.DotOp(
        *(a, b, c, atom),
        signedness_a=signs[0],
        signedness_b=signs[1],
        promote=op.fast_acc is None and accumulates_coarsely(family, word),
    )
    return insert(made).result


MATRIX_INSTRUCTIONS = ("mma", "wgmma", "tcgen05")
"""Families that read as many bits of an f32 as a tf32 has."""


def _untruncated(operand: SSAValue) -> SSAValue:
    """The f32 that an operand is truncated of to tf32: instructions leave out the same bits."""
    made = operand.owner
    if not isinstance(made, arith.TruncFOp) or element_of(operand.type) != FloatTF32Type():
        return operand
    return made.input if float_mode(made).rounding == "rz" else operand


def unit_operands(
    insert: Insert, family: str, a: SSAValue, b: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """Put A and B into shared memory, B so that a unit that reads it there takes it."""
    is_read = reads_mn_major(family, bits_of(element_of(b.type)))
    return _shared(insert, a), _shared(insert, b) if is_read else _transposed(insert, b)


def accumulates_coarsely(family: str, word: str) -> bool:
    """Whether instructions add products of an element in fewer bits than f32 has."""
    unit = MATRIX_UNITS.get(family)
    return unit is not None and word in unit.accumulates_coarsely


def _scaled(op: DotOp, sfa: SSAValue, sfb: SSAValue, insert: Insert) -> SSAValue:
    """A product of scaled blocks: of tcgen05 where it takes them, else of dequantised operands."""
    if not takes_scales(_target_around(op), op, (sfa, sfb)):
        of_a, of_b = dequantized(insert, op.a, sfa, -1), dequantized(insert, op.b, sfb, -2)
        return _product(op, of_a, of_b, insert)
    of_a = scales_in_atoms(insert, sfa, is_of_b=False)
    of_b = scales_in_atoms(insert, sfb, is_of_b=True)
    a, b = _shared(insert, op.a), _transposed(insert, op.b)
    atom = _atom(op, "tcgen05", op.a, op.b)
    return insert(compute.BlockScaledMmaOp(a, b, op.c, of_a, of_b, atom)).result


def _shared(insert: Insert, factor: SSAValue) -> SSAValue:
    space = SpaceAttr(Space.SMEM)
    type_ = TensorType(element_of(factor.type), shape_of(factor.type), space)
    return insert(ConvertLayoutOp(factor, type_)).result


def _transposed(insert: Insert, factor: SSAValue) -> SSAValue:
    """A tile in shared memory whose columns lie side by side, one behind another."""
    depth, columns = shape_of(factor.type)
    element = element_of(factor.type)

    def at(insert: Insert, place: Sequence[SSAValue]) -> SSAValue:
        return insert(tensor.ExtractOp(factor, place[::-1], element)).result

    rows = _shared(insert, generated(insert, element, (columns, depth), at))
    encoding = transposed_encoding(depth, columns)
    return insert(ViewOp(rows, TensorType(element, (depth, columns), encoding))).result


def _atom(op: DotOp, family: str, a: SSAValue, b: SSAValue) -> AtomAttr:
    words = [element_name(element_of(value.type)) for value in (a, b, op.c)]
    known = ATOM_ELEMENTS[family]
    for word in words[:2]:
        if word not in known:
            text = f"has factors of {word}; {family} multiplies {', '.join(known)}"
            raise op_error(op, text)
    return AtomAttr.of("_".join((family, *words)))


def _family(op: DotOp, a: SSAValue, b: SSAValue) -> str:
    """The family of instructions: those of the matrix unit, else of warps, else none."""
    (*batch, m, k), (*_, n) = shape_of(a.type), shape_of(b.type)
    words = [element_name(element_of(value.type)) for value in (a, b, op.c)]
    target = _target_around(op)
    if target is not None and target.matrix_unit.reads_shared_memory and not batch:
        unit = target.matrix_unit
        groups, rest = divmod(kernel_warps(op), WARPGROUP_WARPS)
        if unit.takes(words, m, n, k, 0 if rest else groups):
            return unit.instruction
    is_deep = k >= min_depth(bits_of(element_of(a.type)))
    return "mma" if is_deep and words[0] not in ELEMENT_BY_ELEMENT else "fma"


def kernel_warps(op: Operation) -> int:
    """The warps of a block of the kernel around."""
    around: Operation | None = op
    while around is not None:
        if isinstance(found := around.attributes.get(KERNEL_SPEC), KernelSpecAttr):
            return found.data.num_warps
        around = around.parent_op()
    return KernelSpec().num_warps


def _target_around(op: Operation) -> Target | None:
    """The row of the GPU that the kernel around is for; None if it names none, or no known one."""
    name = target_of(op)
    return None if name is None else target_of_capability(tier(name).number)
