"""The dialect of scheduled tile programs: async pipelines, tiled memory, TMA, tile compute.

Operations are in the file of their family; each file ends with its tuple `OPERATIONS`.
"""

from xdsl.ir import Dialect

from tileas_xdsl.dialects.nv_tileas import (
    agents,
    compute,
    control,
    layout,
    memory,
    memory_access,
    memory_atomics,
    memory_copy,
    pipeline,
    reductions,
    slices,
    sugar,
    tma,
    tma_descriptor,
    tokens,
)
from tileas_xdsl.dialects.nv_tileas.attributes import (
    AtomAttr,
    BlockedEncoding,
    DotOperandEncoding,
    LayoutAttr,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScopeAttr,
    MemSemanticAttr,
    OobModeAttr,
    RmwModeAttr,
    SignednessAttr,
    SpaceAttr,
    SpecialPaddingAttr,
    SwizzleModeAttr,
)
from tileas_xdsl.dialects.nv_tileas.types import (
    AsyncTokenType,
    ConsumerTokenType,
    IteratorType,
    MemTokenType,
    ProducerTokenType,
    TiledViewType,
    TmaDescType,
)

FAMILIES = (
    agents,
    compute,
    control,
    layout,
    memory,
    memory_access,
    memory_atomics,
    memory_copy,
    pipeline,
    reductions,
    slices,
    sugar,
    tma,
    tma_descriptor,
    tokens,
)

NvTileas = Dialect(
    "nv_tileas",
    [op for family in FAMILIES for op in family.OPERATIONS],
    [
        AsyncTokenType,
        AtomAttr,
        BlockedEncoding,
        ConsumerTokenType,
        DotOperandEncoding,
        IteratorType,
        LayoutAttr,
        LinearEncoding,
        MemScopeAttr,
        MemSemanticAttr,
        MemTokenType,
        OobModeAttr,
        ProducerTokenType,
        RmwModeAttr,
        SharedEncoding,
        SignednessAttr,
        SpaceAttr,
        SpecialPaddingAttr,
        SwizzleModeAttr,
        TiledViewType,
        TmaDescType,
    ],
)
