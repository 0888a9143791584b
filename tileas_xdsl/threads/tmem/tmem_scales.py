"""Scales of block-scaled products: atoms in shared memory, and the columns they are copied to.

A view shows atoms as a matrix (`dialects.nv_tileas.scale_tiles`).  In tensor memory the atoms of
one step along K are next to one another, as instructions read the scales of all rows: four columns
each, first those of A, then those of B.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue, Use

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import CopyToTmemOp, MakeUmmaSmemDescOp, SmemDescAddOp
from tileas_xdsl.dialects.nv_tileas.compute.dot import BlockScaledMmaOp
from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import ScaleTile, is_rearranged, scale_tile
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.target.mma.block_scales import ATOM_BYTES, ATOM_COLUMNS, CORE_BYTES, CORE_ROW_BYTES
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add
from tileas_xdsl.threads.codegen.lowered_values import SharedTile
from tileas_xdsl.threads.smem.shared_tile import shared_tile

SCALES = ("A", "B")
FIRST_SCALE = 3
"""The operands of a block-scaled product that are scales: this one and the next."""


@dataclass(frozen=True)
class Scales:
    """The scales of an operand: their atoms in shared memory, and their columns."""

    source: SharedTile
    tile: ScaleTile
    column: int
    """The first column, counted from that of tensor memory."""

    def column_of(self, k_atom: int) -> int:
        """The first column of the atoms of a step along K."""
        return self.column + k_atom * self.tile.row_atoms * ATOM_COLUMNS


def scales_of(op: BlockScaledMmaOp) -> tuple[ScaleTile, ScaleTile]:
    """Return the layouts of the scales of A and B; an error where one is not in whole atoms."""
    found: list[ScaleTile] = []
    for name, value in zip(SCALES, op.operands[FIRST_SCALE:], strict=True):
        tile = scale_tile(value.type)
        if tile is None or tile.is_of_b != (name == "B"):
            raise op_error(
                op,
                f"copies the scales of {name} in atoms of 128 rows by 4 scales, as a view with the "
                f"layout of atoms shows them, not {value.type}",
            )
        found.append(tile)
    return found[0], found[1]


def columns_of_scales(op: BlockScaledMmaOp) -> int:
    """The columns of tensor memory that the scales of a product take."""
    return sum(tile.row_atoms * tile.k_atoms * ATOM_COLUMNS for tile in scales_of(op))


def view_of_scales(e: ThreadBuilder, op: ViewOp) -> SharedTile:
    """Return the tile of the scale atoms; their type selects the MMA operand."""
    source = shared_tile(e, op.source)
    tile = scale_tile(op.result.type)
    assert tile is not None
    if is_rearranged(op.source.type) or not all(_is_scale(use) for use in op.result.uses):
        raise op_error(op, "scales in atoms are those of a product; other uses are not lowered yet")
    if source.rows or not op.is_whole or source.layout.bytes != tile.rows * tile.scales:
        raise op_error(op, f"shows {source.layout.bytes} bytes as a whole, not a part of them")
    if source.layout.swizzle != "none" or source.layout.panels > 1:
        raise op_error(op, f"atoms of scales are 512 bytes each, not {source.layout.describe()}")
    return source


def _is_scale(use: Use) -> bool:
    return isinstance(use.operation, BlockScaledMmaOp) and use.index >= FIRST_SCALE


def place_scales(e: ThreadBuilder, op: BlockScaledMmaOp) -> tuple[Scales, Scales]:
    """Both scales of a product, and their columns."""
    assert e.tensor is not None
    of_a, of_b = scales_of(op)
    first = Scales(shared_tile(e, op.operands[FIRST_SCALE]), of_a, e.tensor.scales[op])
    after = first.column_of(of_a.k_atoms)
    return first, Scales(shared_tile(e, op.operands[FIRST_SCALE + 1]), of_b, after)


def copy_scales(e: ThreadBuilder, scales: Scales) -> None:
    """One thread starts a copy for each atom; products that it starts later find them there."""
    pointer = scales.source.pointer
    first = e.insert(MakeUmmaSmemDescOp(pointer, "none", CORE_ROW_BYTES, CORE_BYTES)).result
    for offset, column in _atoms(scales):
        atom = e.insert(SmemDescAddOp(first, offset)).result
        e.insert(CopyToTmemOp(atom, column_address(e, column)))


def _atoms(scales: Scales) -> Iterator[tuple[int, int]]:
    """Of each atom: bytes from the first one in shared memory, and its column."""
    tile = scales.tile
    for k_atom in range(tile.k_atoms):
        for row_atom in range(tile.row_atoms):
            offset = (row_atom * tile.k_atoms + k_atom) * ATOM_BYTES
            yield offset, scales.column_of(k_atom) + row_atom * ATOM_COLUMNS


def column_address(e: ThreadBuilder, column: int) -> SSAValue:
    """The address of a column, in lane 0."""
    assert e.tensor is not None
    return add(e, e.tensor.base, column)
