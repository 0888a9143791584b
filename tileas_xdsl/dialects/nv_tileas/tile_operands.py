"""Operands and types that are tiles, so that type checkers know it too."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def

from tileas_xdsl.dialects.nv_tileas.spaces import TILE, Tile


def tile_operand() -> SSAValue[Tile]:
    """An operand that is a tile."""
    return cast(SSAValue[Tile], operand_def(TILE))


def optional_tile_operand() -> SSAValue[Tile] | None:
    """An operand that is a tile, or is not there."""
    return cast("SSAValue[Tile] | None", opt_operand_def(TILE))


def as_tile(type_: Attribute | None) -> Tile | None:
    """The type, if it is that of a tile."""
    return cast(Tile, type_) if isinstance(type_, TensorType) else None
