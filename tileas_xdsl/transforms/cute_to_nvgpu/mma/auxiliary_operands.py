"""Scales and metadata of tcgen05.mma: values of the atom, or operands of the call.

As in the CuTe DSL, a call is given [A, SFA] and [B, SFB], [A, E] and [B], or [A, SFA, E] and
[B, SFB].  Auxiliary operands are views of tensor memory in elements of 8 bits, four to a column,
with the modes of their operand: (V,M,K) or (V,N,K).  Where an instruction's part begins is an
address of columns, and what remains: the first byte of scales in a column (`SFA_ID`, `SFB_ID`), or
the column of a pair that metadata of elements of 16 and 32 bits are in (the sparsity selector; the
address of such a view is even).

    scales of four instructions along K, a byte each, K has stride 1    [%t][0], ..., [%t][3]
    metadata of f16, a column each, K has stride 4   [%t] with selector 0, [%t] with 1, [%t + 2] ...

Source: CUTLASS python/CuTeDSL/cutlass/cute/algorithm.py, `gemm`; atom/mma_traits_sm100.hpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute_nvgpu.atoms.tcgen05 import (
    Sm100MmaBlockScaledSparseType,
    Sm100MmaBlockScaledType,
    Sm100MmaSparseType,
    UmmaType,
)
from tileas_xdsl.layout.units import BYTE_BITS
from tileas_xdsl.target.mma.sparse_metadata import SELECTED_COLUMNS
from tileas_xdsl.transforms.cute_to_nvgpu.atom_values import values_of
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import view_of
from tileas_xdsl.transforms.cute_to_nvgpu.mma.mma_iterations import MmaCallOp, MmaIteration

METADATA, SCALE_A, SCALE_B = "e", "sf_a", "sf_b"

NAMES: dict[type[UmmaType], tuple[tuple[str, ...], tuple[str, ...]]] = {
    Sm100MmaSparseType: ((METADATA,), ()),
    Sm100MmaBlockScaledType: ((SCALE_A,), (SCALE_B,)),
    Sm100MmaBlockScaledSparseType: ((SCALE_A, METADATA), (SCALE_B,)),
}
"""By the type of the atom: what follows A, and what follows B."""

CELL_BYTES = 4


@dataclass(frozen=True)
class TensorMemoryPart:
    """The address of an instruction's scales or metadata, and what the descriptor says of them."""

    address: SSAValue
    selected: int = 0
    """The first byte of scales in a column, or the sparsity selector of metadata."""


@dataclass(frozen=True)
class AuxiliaryOperand:
    """A view of scales or metadata behind A or B."""

    name: str
    view: SSAValue
    of_a: bool


def auxiliary_operands(op: MmaCallOp, atom: UmmaType) -> Sequence[AuxiliaryOperand]:
    """Return the operands of a call behind A and B; none where the atom has the addresses."""
    behind = (op.a[1:], op.b[1:])
    if not any(behind):
        return ()
    names = NAMES.get(type(atom), ((), ()))
    if tuple(map(len, behind)) != tuple(map(len, names)):
        raise op_error(op, f"has {operands_text(atom)} as operands of {atom}")
    return [
        AuxiliaryOperand(name, view, of_a)
        for of_a, group, views in zip((True, False), names, behind, strict=True)
        for name, view in zip(group, views, strict=True)
    ]


def operands_text(atom: UmmaType) -> str:
    """Return the operands of a call as the CuTe DSL writes them: `[A, SFA] and [B, SFB]`."""
    names = NAMES.get(type(atom), ((), ()))
    a, b = (
        ", ".join([main, *map(_spelled, group)]) for main, group in zip("AB", names, strict=True)
    )
    return f"[{a}] and [{b}]"


def _spelled(name: str) -> str:
    return name.upper().replace("_", "")


def parts_of(
    op: MmaCallOp,
    conv: Converter,
    operands: Sequence[AuxiliaryOperand],
    iteration: MmaIteration,
    element_bits: int,
) -> dict[str, TensorMemoryPart]:
    """Return where an instruction's scales and metadata are, whose A has so wide elements."""
    found = {
        name: TensorMemoryPart(value)
        for name, value in values_of(conv, op.atom).items()
        if name in (METADATA, SCALE_A, SCALE_B)
    }
    for operand in operands:
        number = iteration.a_number if operand.of_a else iteration.b_number
        found[operand.name] = _part(op, conv, operand, number, element_bits)
    return found


def _part(
    op: MmaCallOp, conv: Converter, operand: AuxiliaryOperand, number: int, element_bits: int
) -> TensorMemoryPart:
    pointer, layout = view_of(conv, operand.view)
    if pointer.space != "tmem" or bit_width(pointer.element) != BYTE_BITS:
        raise op_error(op, f"has {_spelled(operand.name)} in tensor memory, in elements of 8 bits")
    offset = pointer.offset + layout.index(number * layout[0].size())
    if not isinstance(offset, int):
        raise op_error(op, f"has {_spelled(operand.name)} at an offset that only run time knows")
    column, byte = divmod(offset, CELL_BYTES)
    selected = byte
    if operand.name == METADATA:
        selected = column % SELECTED_COLUMNS
        if byte or (selected and element_bits <= BYTE_BITS):
            raise op_error(
                op, f"has metadata {offset} bytes into their columns, which none begin at"
            )
        column -= selected
    cells = replace(pointer, element=i32, offset=column)
    return TensorMemoryPart(conv.tensor_address(cells), selected)
