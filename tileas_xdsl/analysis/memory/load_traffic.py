"""What loads take of the path from the L2 cache to a multiprocessor.

128x64xf16 by TMA, rows 8192 bytes apart     16384 bytes
the same, 8208 bytes apart                   32768: each row of a box is in two lines
the same, of which each of two CTAs has half of the rows for both                 16384
"""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import without_promises
from tileas_xdsl.dialects.nv_tileaa.base import as_array
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp, strides_of
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of, number_of
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.launches.shared_loads import row_percent

SAME_IN_CLUSTER = "nv_tileas.same_in_cluster"
"""Attribute of a load that so many CTAs of a cluster do alike, as a launch has found."""

ROW_PERCENT = "nv_tileas.row_percent"
"""Attribute of a load where arguments are known: how long rows of a box take the path."""


def path_bytes(load: Operation) -> int:
    """Return the bytes that a CTA takes of the path for one load of a tile."""
    percent = number_of(load.attributes.get(ROW_PERCENT)) or 100
    count = number_of(load.attributes.get(SAME_IN_CLUSTER)) or 1
    return ceil_div(tile_bytes(load.results[0].type) * percent, 100 * count)


def row_stride(load: TiledLoadOp) -> SSAValue | int | None:
    """Return the elements between rows of an array; None where they are not known here."""
    array = load.view
    while isinstance(made := array.owner, ViewOp) and made.is_whole:
        array = made.source
    array = without_promises(array)
    if not isinstance(array.type, MemRefType) or len(strides := strides_of(as_array(array))) < 2:
        return None
    if isinstance(made := array.owner, MakeMemrefOp):
        return made.stride(len(strides) - 2)
    return None if strides[-2] == DYNAMIC_INDEX else strides[-2]


def note_rows(load: TiledLoadOp, stride: int, *, at_once: bool) -> None:
    """Note how rows take the path that are so many elements apart; whether all CTAs run at once."""
    pitch = stride * bits_of(element_of(load.result.type)) // 8
    load.attributes[ROW_PERCENT] = IntegerAttr(row_percent(pitch, at_once=at_once), i32)
