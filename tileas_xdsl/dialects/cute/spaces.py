"""Where what a pointer points to lives."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class AddressSpace(StrEnum):
    """The address spaces of `cute`; a generic address may be in any of the first three."""

    GENERIC = "generic"
    GMEM = "gmem"
    SMEM = "smem"
    RMEM = "rmem"


ADDRESS_BITS: Mapping[AddressSpace, int] = {
    AddressSpace.GENERIC: 64,
    AddressSpace.GMEM: 64,
    AddressSpace.SMEM: 32,
    AddressSpace.RMEM: 32,
}
"""How wide an address is; 32 bits reach all of a window that an SM has by itself."""


@irdl_attr_definition
class AddressSpaceAttr(EnumAttribute[AddressSpace], SpacedOpaqueSyntaxAttribute):
    """`#cute<address_space smem>`."""

    name = "cute.address_space"
