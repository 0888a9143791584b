"""Lower tcgen05.mma: dense and sparse products into tensor memory, with block scales or without.

What differs is the operation of one instruction; `accum_c` is a value of the atom, metadata and
scales are that or operands of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute_nvgpu import (
    UmmaBlockScaledOp,
    UmmaBlockScaledSparseOp,
    UmmaOp,
    UmmaSparseOp,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.block_scales import SCALE_NAMES
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import integer, keywords, text
from tileas_xdsl.dialects.cute_nvgpu.atoms.tcgen05 import (
    KIND_OF,
    ScaledUmmaType,
    Sm100MmaBlockScaledSparseType,
    Sm100MmaBlockScaledType,
    Sm100MmaSparseType,
    Sm100MmaType,
    UmmaType,
)
from tileas_xdsl.dialects.cute_nvgpu.mma.tcgen05_scaled import ALL_FORMATS
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.instruction_descriptor import (
    BlockScaledDescriptor,
    InstructionDescriptor,
)
from tileas_xdsl.transforms.cute_to_nvgpu.atom_values import known_boolean, values_of
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import view_of
from tileas_xdsl.transforms.cute_to_nvgpu.mma.async_mma import ACCUMULATE, operand
from tileas_xdsl.transforms.cute_to_nvgpu.mma.auxiliary_operands import (
    METADATA,
    NAMES,
    SCALE_A,
    SCALE_B,
    TensorMemoryPart,
    auxiliary_operands,
    operands_text,
    parts_of,
)
from tileas_xdsl.transforms.cute_to_nvgpu.mma.mma_iterations import MmaCallOp, mma_iterations

NEGATIONS = ("neg_a", "neg_b")
NARROW_K = 32
"""Of K, what an instruction multiplies of elements that fill bytes (`mxf8f6f4`)."""

SHORT_VECTOR = 16
"""Elements that share a scale in `mxf4nvf4`."""


@dataclass(frozen=True)
class Instruction:
    """The operands of one tcgen05.mma, but for those that the atom has as values."""

    d: SSAValue
    a: SSAValue
    b: SSAValue
    adds: SSAValue
    parts: Mapping[str, TensorMemoryPart]


def convert_tcgen05_mma(op: MmaCallOp, conv: Converter, atom: UmmaType) -> None:
    """One `tcgen05.mma` for each step, by the thread that is there."""
    a, b = op.a[0], op.b[0]
    _check(op, conv, atom)
    values = values_of(conv, op.atom)
    steps = list(mma_iterations(op, a, b))
    behind = auxiliary_operands(op, atom)
    if type(atom) in NAMES and len(steps) > 1 and not behind:
        raise op_error(op, f"has {len(steps)} instructions: {operands_text(atom)} are its operands")
    element_bits = bit_width(atom.elements[0])
    always: SSAValue | None = None
    pointer, layout = view_of(conv, op.d)
    for step in steps:
        if not step.is_first and always is None:
            always = conv.insert(arith.ConstantOp(IntegerAttr(1, i1)))
        instruction = Instruction(
            conv.tensor_address(pointer.moved(layout.index(step.d[0]))),
            operand(conv, a, step.a),
            operand(conv, b, step.b),
            values[ACCUMULATE] if always is None else always,
            parts_of(op, conv, behind, step, element_bits),
        )
        try:
            conv.effect(_INSTRUCTIONS[type(atom)](conv, atom, instruction))
        except TargetError as error:
            raise op_error(op, str(error)) from None
    conv.kill(op)


def _check(op: MmaCallOp, conv: Converter, atom: UmmaType) -> None:
    """Refuse what the instruction could do but the operation below cannot say."""
    values = values_of(conv, op.atom)
    if op.c != op.d:
        raise op_error(op, "adds to D in tensor memory: C is D")
    if text(atom.fragments) != "ss":
        raise op_error(op, f"is not lowered with A in tensor memory: {atom}")
    if isinstance(atom, Sm100MmaType | Sm100MmaSparseType) and integer(atom.exponent):
        raise op_error(op, f"is not lowered with sums that are scaled: {atom}")
    for name in NEGATIONS:
        if known_boolean(values[name]) is not False:
            raise op_error(op, f"is not lowered with {name}: it is a constant false")


def _dense(conv: Converter, atom: Sm100MmaType, made: Instruction) -> Operation:
    del conv
    a_type, b_type, d_type = atom.elements
    a_major, b_major = keywords(atom.majors)
    return UmmaOp(
        made.d,
        made.a,
        made.b,
        made.adds,
        shape=atom.shape_mnk,
        a_type=a_type,
        b_type=b_type,
        d_type=d_type,
        a_major=a_major,
        b_major=b_major,
        num_cta=atom.blocks,
    )


def _sparse(conv: Converter, atom: Sm100MmaSparseType, made: Instruction) -> Operation:
    names = [ptx_element(element) for element in atom.elements]
    a, b, d = (ALL_FORMATS.get(name, name) for name in names)
    majors: Any = keywords(atom.majors)
    kind, (m, n, _) = KIND_OF[names[0]], atom.shape_mnk
    metadata = made.parts[METADATA]
    descriptor = InstructionDescriptor(
        kind, a, b, m, n, *majors, d=d, group=str(atom.blocks), sparse=True,
        sparsity_selector=metadata.selected,
    )  # fmt: skip
    constant = _descriptor_constant(conv, descriptor.encode())
    return UmmaSparseOp(
        made.d, made.a, made.b, metadata.address, constant, made.adds, kind, num_cta=atom.blocks
    )


def _scaled(conv: Converter, atom: Sm100MmaBlockScaledType, made: Instruction) -> Operation:
    del conv
    a_type, b_type, _ = atom.elements
    kind, vector = _scale_vector(atom)
    return UmmaBlockScaledOp(
        made.d,
        made.a,
        made.b,
        made.parts[SCALE_A].address,
        made.parts[SCALE_B].address,
        made.adds,
        shape=atom.shape_mnk,
        kind=kind,
        scale_vec=vector,
        a_type=a_type,
        b_type=b_type,
        sf_type=SCALE_NAMES[atom.scale_type],
        a_scale_id=made.parts[SCALE_A].selected,
        b_scale_id=made.parts[SCALE_B].selected,
        num_cta=atom.blocks,
    )


def _scaled_sparse(
    conv: Converter, atom: Sm100MmaBlockScaledSparseType, made: Instruction
) -> Operation:
    names = (ptx_element(element) for element in atom.elements[:2])
    a, b = (ALL_FORMATS.get(name, name) for name in names)
    (m, n, _), (kind, vector) = atom.shape_mnk, _scale_vector(atom)
    scale = SCALE_NAMES[atom.scale_type]
    of_a, of_b = made.parts[SCALE_A], made.parts[SCALE_B]
    descriptor = BlockScaledDescriptor(
        kind, a, b, m, n, scale=scale, group=str(atom.blocks), sparse=True,
        a_scale_id=of_a.selected, b_scale_id=of_b.selected,
    )  # fmt: skip
    return UmmaBlockScaledSparseOp(
        made.d,
        made.a,
        made.b,
        (of_a.address, of_b.address),
        made.parts[METADATA].address,
        _descriptor_constant(conv, descriptor.encode()),
        made.adds,
        kind,
        num_cta=atom.blocks,
        scale_vec=vector,
    )


def _scale_vector(atom: ScaledUmmaType) -> tuple[str, str]:
    """Return the kind of a product with block scales, and its `.scale_vec`."""
    if atom.shape_mnk[2] // atom.STEP == NARROW_K:
        return "mxf8f6f4", "1X"
    if atom.vector_size == SHORT_VECTOR:
        return "mxf4nvf4", "4X"
    return "mxf4", "2X"


def _descriptor_constant(conv: Converter, value: int) -> SSAValue:
    return conv.insert(arith.ConstantOp(IntegerAttr(value - (value >> 31 << 32), i32)))


_INSTRUCTIONS: Mapping[type[UmmaType], Callable[[Converter, Any, Instruction], Operation]] = {
    Sm100MmaType: _dense,
    Sm100MmaSparseType: _sparse,
    Sm100MmaBlockScaledType: _scaled,
    Sm100MmaBlockScaledSparseType: _scaled_sparse,
}
"""By the type of the atom: the operation of one instruction."""
