"""Block-scaled products: by tcgen05 where it takes the tile, else of dequantised operands.

tcgen05 copies scales to tensor memory in atoms of 128 rows by 4 scales, so that row-major scales
are rearranged on their way to shared memory:

    %s : tensor<128x8xf8E8M0FNU>   ->   %atoms : tensor<2x512xf8E8M0FNU>, shown as 128x8 by a view

Elsewhere operands become bf16, multiplied by their scales: at most 4 significant bits by at most
4, so that no bit is lost, with the exponents of f32 (subnormals of bf16 are coarser).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import TensorType, bf16
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute.reductions import DotOp
from tileas_xdsl.dialects.nv_tileas.attributes import SharedEncoding
from tileas_xdsl.dialects.nv_tileas.compute.block_scaled import BLOCK_SCALED
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.units import BYTE_BITS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.mma.block_scales import (
    ATOM_BYTES,
    ATOM_ROWS,
    ATOM_SCALES,
    CORE_ROW_BYTES,
    atoms_layout,
)
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert, generated


def takes_scales(target: Target | None, op: DotOp, scales: tuple[SSAValue, SSAValue]) -> bool:
    """Whether tcgen05 multiplies tiles of these extents and elements with scales in whole atoms."""
    if target is None or target.lacks(Feature.TCGEN05, "") is not None:
        return False
    shapes = [shape_of(value.type) for value in (op.a, op.b, *scales)]
    if any(len(shape) != len("mk") for shape in shapes):
        return False
    (m, k), (_, n), (_, count), _ = shapes
    if not target.matrix_unit.takes_extents(m, n, 0) or m != ATOM_ROWS:
        return False
    if n % ATOM_ROWS or count % ATOM_SCALES or k % count:
        return False
    elements = [element_of(value.type) for value in (op.a, op.b)]
    names, kind = {element_name(element) for element in elements}, element_of(scales[0].type)
    return all(bits_of(element) == BYTE_BITS for element in elements) and any(
        row.vector_size == k // count
        and names <= set(row.elements)
        and element_name(kind) in row.scales
        for row in BLOCK_SCALED.values()
    )


def scales_in_atoms(insert: Insert, scales: SSAValue, *, is_of_b: bool) -> SSAValue:
    """Scales in shared memory, rearranged into atoms, with the type that shows them as before."""
    shape, element = shape_of(scales.type), element_of(scales.type)
    rows, count = shape[::-1] if is_of_b else shape
    along = count // ATOM_SCALES

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        atom, byte = coordinates
        row_atom, k_atom = _divided(insert, atom, along)
        line, inside = _divided(insert, byte, CORE_ROW_BYTES)
        quarter, scale = _divided(insert, inside, ATOM_SCALES)
        row = _sum(insert, (row_atom, ATOM_ROWS), (quarter, ATOM_ROWS // ATOM_SCALES), (line, 1))
        column = _sum(insert, (k_atom, ATOM_SCALES), (scale, 1))
        where = (column, row) if is_of_b else (row, column)
        return insert(tensor.ExtractOp(scales, where, element)).result

    atoms = generated(insert, element, (prod(shape) // ATOM_BYTES, ATOM_BYTES), at)
    open_ = TensorType(element, shape_of(atoms.type), SpaceAttr(Space.SMEM))
    stored = insert(ConvertLayoutOp(atoms, open_)).result
    layout = atoms_layout(rows, count)
    if is_of_b:
        row, scale = layout
        layout = Layout((scale.shape, row.shape), (scale.stride, row.stride))
    shown = TensorType(element, shape, SharedEncoding(MemoryLayout(layout)))
    return insert(ViewOp(stored, shown)).result


def _divided(insert: Insert, index: SSAValue, by: int) -> tuple[SSAValue, SSAValue]:
    """The quotient and the remainder of an index."""
    divisor = insert.index(by)
    return (
        insert(arith.DivUIOp(index, divisor)).result,
        insert(arith.RemUIOp(index, divisor)).result,
    )


def _sum(insert: Insert, *terms: tuple[SSAValue, int]) -> SSAValue:
    """A sum of indices, each times a constant."""
    scaled = [insert(arith.MuliOp(index, insert.index(by))).result for index, by in terms]
    total = scaled[0]
    for one in scaled[1:]:
        total = insert(arith.AddiOp(total, one)).result
    return total


def dequantized(insert: Insert, operand: SSAValue, scales: SSAValue, axis: int) -> SSAValue:
    """An operand of bf16, whose blocks along an axis (K) are multiplied by their scales."""
    shape = shape_of(operand.type)
    block = shape[axis] // shape_of(scales.type)[axis]
    wide, scale_values = _of_bf16(insert, operand), _of_bf16(insert, scales)

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        where = list(coordinates)
        where[axis] = insert(arith.DivUIOp(coordinates[axis], insert.index(block))).result
        return insert(tensor.ExtractOp(scale_values, where, bf16)).result

    spread = generated(insert, bf16, shape, at)
    return insert(arith.MulfOp(wide, spread)).result


def _of_bf16(insert: Insert, tile: SSAValue) -> SSAValue:
    return insert(arith.ExtFOp(tile, TensorType(bf16, shape_of(tile.type)))).result
