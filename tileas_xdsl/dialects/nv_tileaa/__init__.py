"""The alias-aware tile dialect above `nv_tileas`: types and attributes that cross the border."""

from xdsl.ir import Dialect

from tileas_xdsl.dialects.nv_tileaa import pointers
from tileas_xdsl.dialects.nv_tileaa.attributes import KernelSpecAttr
from tileas_xdsl.dialects.nv_tileaa.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, AATiledViewType, PtrType

__all__ = ["AAMemTokenType", "AATiledViewType", "AddPtrOp", "KernelSpecAttr", "NvTileaa", "PtrType"]

NvTileaa = Dialect(
    "nv_tileaa",
    [*pointers.OPERATIONS],
    [AAMemTokenType, AATiledViewType, KernelSpecAttr, PtrType],
)
"""Attributes of `nv_tileaa` that passes of `nv_tileas` read, and its arithmetic of pointers."""
