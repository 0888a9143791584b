"""Layouts of tensor memory: accumulators of tcgen05, as the instruction puts them there."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tileas_xdsl.analysis.tile_groups import TileGroup, placed_tile
from tileas_xdsl.dialects.nv_tileas.compute import MatrixProduct
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.tma_checks import bits_of
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tensor_memory import accumulator
from tileas_xdsl.transforms.assign_layouts.candidates import Candidate, Cost, Family, SubAxis

COLUMN_BITS = 32
"""A cycle moves a column of 32 bits of all lanes of a warp (an estimate)."""


def tensor_candidates(group: TileGroup) -> Sequence[Candidate]:
    """The products that write a tile and the conversions that read it."""
    products = [v.owner for v in group.values if isinstance(v.owner, MatrixProduct)]
    readers = [
        use.operation
        for value in group.values
        for use in value.uses
        if isinstance(use.operation, ConvertLayoutOp)
    ]
    if len(group.shape) != 2:
        return []
    try:
        layout = accumulator(*group.shape)
    except TargetError:
        return []
    tile = placed_tile(group.values[0].type)
    bits = COLUMN_BITS if tile is None else bits_of(tile.element_type)
    cycles = group.shape[1] * bits / COLUMN_BITS

    def made(op: Operation, atom: str, axis: SubAxis, tmem: float) -> Candidate:
        cost = Cost(0, tmem, 0)
        return Candidate(op, atom, Space.TMEM, axis, Family.LINEAR, 4, layout, cost)

    written = [
        made(op, "-" if op.atom is None else op.atom.data.word, SubAxis.D, 0) for op in products
    ]
    return [*written, *(made(op, "tcgen05_ld", SubAxis.NONE, cycles) for op in readers)]
