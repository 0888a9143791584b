"""The dialect of scheduled tile programs: async pipelines, tiled memory, TMA, tile compute.

Operations are in the file of their family; each file ends with its tuple `OPERATIONS`.
"""

from xdsl.ir import Dialect

from tileas_xdsl.dialects.nv_tileas import control
from tileas_xdsl.dialects.nv_tileas.attributes import (
    AtomAttr,
    BlockedEncoding,
    DotOperandEncoding,
    LayoutAttr,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.compute import dot as compute
from tileas_xdsl.dialects.nv_tileas.compute import reductions
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
from tileas_xdsl.dialects.nv_tileas.memory import atomics as memory_atomics
from tileas_xdsl.dialects.nv_tileas.memory import copy as memory_copy
from tileas_xdsl.dialects.nv_tileas.memory import element_access as memory_access
from tileas_xdsl.dialects.nv_tileas.memory import tiled as memory
from tileas_xdsl.dialects.nv_tileas.pipelines import agents, tokens
from tileas_xdsl.dialects.nv_tileas.pipelines import ops as pipeline
from tileas_xdsl.dialects.nv_tileas.shapes import layout, slices
from tileas_xdsl.dialects.nv_tileas.syntax import sugar
from tileas_xdsl.dialects.nv_tileas.tma import descriptor as tma_descriptor
from tileas_xdsl.dialects.nv_tileas.tma import ops as tma
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
