"""Tiles that one CTA hands over to another one, which goes on with a loop where the first ended.

    CTA 3                                        CTA 4
    %sum = scf.for %k = 0 to 20 ...
    nv_tileas.hand_over %sum in 3                ...
                                                 %sum = nv_tileas.take_over 3
                                                 %all = scf.for %k = 20 to 47 iter_args(%sum) ...

Each place of a launch is filled and emptied once.  Both CTAs have the tile in the same registers,
so that memory has it in no order but theirs: each warp takes over what the same warp handed over.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, var_operand_def, var_result_def

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.field_init import init_of_groups
from tileas_xdsl.dialects.nv_tileas.pipelines.base import Operand
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile


class HandedTilesOp(TileasOp):
    """Base of both: a place is a number from 0 on."""

    def check_tiles(self, types: Sequence[Attribute]) -> None:
        """There are tiles; raises `OpError`."""
        if not types or any(as_tile(type_) is None for type_ in types):
            raise op_error(self, "hands over tiles, and nothing else")


@tileas_op
class HandOverOp(HandedTilesOp):
    """Put tiles into a place of the launch, which is empty; another CTA takes them over."""

    name = "nv_tileas.hand_over"

    place = operand_def(i32)
    tiles = var_operand_def()

    assembly_format = "$tiles `in` $place attr-dict `:` type($tiles)"

    def __init__(self, tiles: Sequence[Operand], place: Operand) -> None:
        init_of_groups(self, operands=[place, tiles])

    def verify_(self) -> None:
        self.check_tiles([tile.type for tile in self.tiles])


@tileas_op
class TakeOverOp(HandedTilesOp):
    """Wait for the tiles of a place, and leave it empty."""

    name = "nv_tileas.take_over"

    place = operand_def(i32)
    tiles = var_result_def()

    assembly_format = "$place attr-dict `:` type($tiles)"

    def __init__(self, place: Operand, types: Sequence[Attribute]) -> None:
        init_of_groups(self, operands=[place], result_types=[types])

    def verify_(self) -> None:
        self.check_tiles([tile.type for tile in self.tiles])
