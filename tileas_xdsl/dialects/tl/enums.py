"""The keyword enums of `tl`: memory scopes of buffers, reduction kinds, warp policies."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class Space(StrEnum):
    """Where a buffer of a block lives; a memref without a space is in global memory."""

    SHARED = "shared"
    FRAGMENT = "fragment"
    LOCAL = "local"


class Reduction(StrEnum):
    """How elements combine; `abssum` and `absmax` combine magnitudes."""

    SUM = "sum"
    PROD = "prod"
    MAX = "max"
    MIN = "min"
    ABSSUM = "abssum"
    ABSMAX = "absmax"
    AND = "and"
    OR = "or"
    XOR = "xor"


class Policy(StrEnum):
    """How the warps of a product are spread over its rows and columns."""

    SQUARE = "square"
    FULL_ROW = "full_row"
    FULL_COL = "full_col"


@irdl_attr_definition
class SpaceAttr(EnumAttribute[Space], SpacedOpaqueSyntaxAttribute):
    """`#tl<space fragment>`: registers spread over the threads of a block; `shared`, `local`."""

    name = "tl.space"


@irdl_attr_definition
class ReductionAttr(EnumAttribute[Reduction], SpacedOpaqueSyntaxAttribute):
    """`#tl<reduction max>`."""

    name = "tl.reduction"


@irdl_attr_definition
class PolicyAttr(EnumAttribute[Policy], SpacedOpaqueSyntaxAttribute):
    """`#tl<policy full_row>`."""

    name = "tl.policy"
