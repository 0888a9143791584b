"""Where what a pointer points to lives."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

__all__ = ["AddressSpace", "AddressSpaceAttr"]


class AddressSpace(StrEnum):
    """The address spaces of `cute`; a generic address may be in any of the first three."""

    GENERIC = "generic"
    GMEM = "gmem"
    SMEM = "smem"
    RMEM = "rmem"
    CMEM = "cmem"
    TMEM = "tmem"
    DSMEM = "dsmem"


ADDRESS_BITS: Mapping[AddressSpace, int] = {
    AddressSpace.GENERIC: 64,
    AddressSpace.GMEM: 64,
    AddressSpace.SMEM: 32,
    AddressSpace.RMEM: 32,
    AddressSpace.CMEM: 64,
    AddressSpace.TMEM: 32,
    AddressSpace.DSMEM: 32,
}
"""How wide an address is; 32 bits reach all of a window that an SM has by itself."""

SPACE_NUMBERS: Mapping[AddressSpace, int] = {
    AddressSpace.GENERIC: 0,
    AddressSpace.GMEM: 1,
    AddressSpace.SMEM: 3,
    AddressSpace.CMEM: 4,
    AddressSpace.RMEM: 5,
    AddressSpace.TMEM: 6,
    AddressSpace.DSMEM: 7,
}
"""The numbers of LLVM (NVPTX) for the address spaces."""


@irdl_attr_definition
class AddressSpaceAttr(EnumAttribute[AddressSpace], SpacedOpaqueSyntaxAttribute):
    """`#cute<address_space smem>`."""

    name = "cute.address_space"
