"""The alias-aware tile dialect above `nv_tileas`: types and attributes that cross the border."""

from xdsl.ir import Dialect

from tileas_xdsl.dialects.nv_tileaa.attributes import KernelSpecAttr
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, AATiledViewType, PtrType

NvTileaa = Dialect("nv_tileaa", [], [AAMemTokenType, AATiledViewType, KernelSpecAttr, PtrType])
