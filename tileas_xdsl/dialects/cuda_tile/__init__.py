"""Tile IR, the public input of the tile compiler: `cuda_tile` of NVIDIA/cuda-tile, version 13.4.

Operations on whole tiles, without layouts, threads or stages.  Formats, checks and messages are
those of the open dialect; `opcodes` lists which operation exists since when.
"""

from xdsl.ir import Dialect

from tileas_xdsl.dialects.cuda_tile import (
    atomics,
    constants,
    control,
    conversions,
    debug_info,
    enums,
    floats,
    functions,
    hints,
    integers,
    matmul,
    misc,
    module,
    pointers,
    predicates,
    reductions,
    shapes,
    tensor_views,
    types,
    view_types,
    views,
)
from tileas_xdsl.dialects.cuda_tile.sugar import SUGAR

OPERATIONS = (
    *atomics.OPERATIONS,
    *constants.OPERATIONS,
    *control.OPERATIONS,
    *conversions.OPERATIONS,
    *floats.OPERATIONS,
    *functions.OPERATIONS,
    *integers.OPERATIONS,
    *matmul.OPERATIONS,
    *misc.OPERATIONS,
    *module.OPERATIONS,
    *pointers.OPERATIONS,
    *reductions.OPERATIONS,
    *shapes.OPERATIONS,
    *tensor_views.OPERATIONS,
    *views.OPERATIONS,
)
"""All operations; names that are read as another one are in `sugar`."""

ATTRIBUTES = (
    *debug_info.ATTRIBUTES,
    *enums.ATTRIBUTES,
    *hints.ATTRIBUTES,
    *predicates.ATTRIBUTES,
    *types.TYPES,
    *view_types.TYPES,
)
"""All attributes and types."""

CudaTile = Dialect("cuda_tile", [*OPERATIONS, *SUGAR], list(ATTRIBUTES))
