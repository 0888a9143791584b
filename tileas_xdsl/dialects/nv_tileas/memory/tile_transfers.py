"""Tiles that one CTA transfers to another one, which goes on with a loop where the first ended.

    CTA 3                                        CTA 4
    %sum = scf.for %k = 0 to 20 ...
    nv_tileas.transfer_out %sum in 3             ...
                                                 %sum = nv_tileas.transfer_in 3
                                                 %all = scf.for %k = 20 to 47 iter_args(%sum) ...

Each slot of a launch is filled and emptied once.  Both CTAs have the tile in the same registers, so
that memory has it in no order but theirs: each warp loads what the same warp has stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile

MOST_SLOTS = 32
"""Slots that a block waits for at a time: each lane of a warp waits for one."""


class TransferOp(TileasOp):
    """Base of both: a slot is a number from 0 on."""

    def check_tiles(self, types: Sequence[Attribute]) -> None:
        """There are tiles; raises `OpError`."""
        if not types or any(as_tile(type_) is None for type_ in types):
            raise op_error(self, "transfers tiles, and nothing else")


@tileas_op
class TransferOutOp(TransferOp):
    """Store tiles to an empty slot of the launch, for another CTA."""

    name = "nv_tileas.transfer_out"

    tiles: fields.Operands = fields.operands()
    slot: fields.Operand = fields.operand(i32, position=0)

    assembly_format = "$tiles `in` $slot attr-dict `:` type($tiles)"

    def verify_(self) -> None:
        self.check_tiles([tile.type for tile in self.tiles])


@tileas_op
class TransferInOp(TransferOp):
    """Wait for the tiles of some slots, load them in order and leave these empty."""

    name = "nv_tileas.transfer_in"

    slots: fields.Operands = fields.operands(i32)
    tiles: fields.Results = fields.typed_results()

    assembly_format = "$slots attr-dict `:` type($tiles)"

    def verify_(self) -> None:
        types = [tile.type for tile in self.tiles]
        self.check_tiles(types)
        count = len(self.slots)
        if not 0 < count <= MOST_SLOTS:
            raise op_error(self, f"waits for 1 to {MOST_SLOTS} slots, not for {count}")
        if types != types[: len(types) // count] * count:
            raise op_error(self, f"has the same tiles of each of its {count} slots")

    @property
    def types_of_slot(self) -> Sequence[Attribute]:
        """The types of the tiles of one slot."""
        return [tile.type for tile in self.tiles[: len(self.tiles) // len(self.slots)]]
