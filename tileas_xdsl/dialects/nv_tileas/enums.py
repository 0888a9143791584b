"""The keyword enums of `nv_tileas`: memory spaces, memory ordering, modes."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class Space(StrEnum):
    """Where a tile lives: global, shared or tensor memory, or registers."""

    GMEM = "gmem"
    SMEM = "smem"
    TMEM = "tmem"
    RMEM = "rmem"


class MemSemantic(StrEnum):
    """How a memory access is ordered against others (PTX ISA, memory consistency model)."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"


RELEASES = (MemSemantic.RELEASE, MemSemantic.ACQ_REL)
ACQUIRES = (MemSemantic.ACQUIRE, MemSemantic.ACQ_REL)


class MemScope(StrEnum):
    """The scope of memory ordering; `tl_blk` (the tile block) and `cta` are the same."""

    TL_BLK = "tl_blk"
    CTA = "cta"
    CLUSTER = "cluster"
    GPU = "gpu"
    SYS = "sys"


class RmwMode(StrEnum):
    """What an atomic read-modify-write does."""

    ADD = "add"
    AND = "and"
    OR = "or"
    XOR = "xor"
    XCHG = "xchg"
    MIN = "min"
    MAX = "max"
    UMIN = "umin"
    UMAX = "umax"
    CMPXCHG = "cmpxchg"
    ADDF = "addf"


class SpecialPadding(StrEnum):
    """Padding values that have no literal of their own."""

    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"
    NEG_ZERO = "neg_zero"


class SwizzleMode(StrEnum):
    """The shared-memory swizzle of a TMA descriptor."""

    NONE = "none"
    B32 = "32B"
    B64 = "64B"
    B128 = "128B"


class OobMode(StrEnum):
    """What a TMA load delivers out of bounds."""

    ZERO = "zero"
    NAN = "nan"
    CONSTANT = "constant"


class Signedness(StrEnum):
    """How the integers of an operand are read."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"


@irdl_attr_definition
class SpaceAttr(EnumAttribute[Space], SpacedOpaqueSyntaxAttribute):
    """`#nv_tileas<space smem>`; also the encoding of a tensor that is resident but not laid out."""

    name = "nv_tileas.space"


@irdl_attr_definition
class MemSemanticAttr(EnumAttribute[MemSemantic], SpacedOpaqueSyntaxAttribute):
    """`#nv_tileas<mem_semantic relaxed>`."""

    name = "nv_tileas.mem_semantic"


@irdl_attr_definition
class MemScopeAttr(EnumAttribute[MemScope], SpacedOpaqueSyntaxAttribute):
    """`#nv_tileas<mem_scope gpu>`."""

    name = "nv_tileas.mem_scope"


@irdl_attr_definition
class RmwModeAttr(EnumAttribute[RmwMode], SpacedOpaqueSyntaxAttribute):
    """`#nv_tileas<rmw_mode add>`."""

    name = "nv_tileas.rmw_mode"


@irdl_attr_definition
class SpecialPaddingAttr(EnumAttribute[SpecialPadding], SpacedOpaqueSyntaxAttribute):
    """`#nv_tileas<padding nan>`."""

    name = "nv_tileas.padding"


@irdl_attr_definition
class SwizzleModeAttr(EnumAttribute[SwizzleMode], SpacedOpaqueSyntaxAttribute):
    """`#nv_tileas<swizzle_mode "128B">`."""

    name = "nv_tileas.swizzle_mode"


@irdl_attr_definition
class OobModeAttr(EnumAttribute[OobMode], SpacedOpaqueSyntaxAttribute):
    """`#nv_tileas<oob_mode zero>`."""

    name = "nv_tileas.oob_mode"


@irdl_attr_definition
class SignednessAttr(EnumAttribute[Signedness], SpacedOpaqueSyntaxAttribute):
    """`#nv_tileas<signedness signed>`."""

    name = "nv_tileas.signedness"
