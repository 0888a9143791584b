"""The dialect: all its operations, types and attributes."""

from xdsl.ir import Dialect

from tileas_xdsl.dialects.nv_tileaa import (
    bodies,
    compute,
    conversions,
    facts,
    globals,
    grid,
    memory,
    messages,
    pointers,
    shapes,
    tiled_memory,
    tokens,
    views,
)
from tileas_xdsl.dialects.nv_tileaa.attributes import KernelSpecAttr
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, AATiledViewType, PtrType

NvTileaa = Dialect(
    "nv_tileaa",
    [
        *bodies.OPERATIONS,
        *compute.OPERATIONS,
        *conversions.OPERATIONS,
        *facts.OPERATIONS,
        *globals.OPERATIONS,
        *grid.OPERATIONS,
        *memory.OPERATIONS,
        *messages.OPERATIONS,
        *pointers.OPERATIONS,
        *shapes.OPERATIONS,
        *tiled_memory.OPERATIONS,
        *tokens.OPERATIONS,
        *views.OPERATIONS,
    ],
    [AAMemTokenType, AATiledViewType, KernelSpecAttr, PtrType, *facts.ATTRIBUTES],
)
