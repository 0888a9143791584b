"""Operands and types that are tiles, so that type checkers know it too."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from tileas_xdsl.dialects.fields import Field, Value
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.spaces import TILE, Tile

TileOperand: TypeAlias = Field[SSAValue[Tile], Value]
_TENSORS = Kinds(TensorType)

OptTileOperand: TypeAlias = Field[SSAValue[Tile] | None, Value | None]


def tile_operand() -> SSAValue[Tile]:
    """An operand that is a tile."""
    return cast(SSAValue[Tile], operand_def(TILE))


def as_tile(type_: Attribute | None) -> Tile | None:
    """The type, if it is that of a tile."""
    tile: Any = type_  # `cast` is a call, here one of 5,000
    return tile if _TENSORS[type(type_)] else None
