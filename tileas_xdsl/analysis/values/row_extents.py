"""Rows of arrays that begin where a tile does: their extents, and the tile's.

%v = make_memref %p sizes[%m, %n]        tiled_load %v[%i, 0] : 1x8192      8192, %n
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.integer_bounds import upper_bound
from tileas_xdsl.analysis.values.pointer_base_arrays import without_promises
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.target.bounded_rows import PARTS, ROOM


def array_of(op: TiledLoadBase | TiledStoreOp) -> MakeMemrefOp | None:
    """Return the array of an access to a whole view of one."""
    view = op.view.owner
    if not isinstance(view, ViewOp) or not view.is_whole:
        return None
    made = view.source.owner
    return made if isinstance(made, MakeMemrefOp) else None


def row_of(op: TiledLoadBase | TiledStoreOp) -> tuple[int, SSAValue] | None:
    """Return the width of a tile that begins with the rows of an array, and their extent."""
    shape = shape_of(op.value.type if isinstance(op, TiledStoreOp) else op.loaded_type()) or (1,)
    array = array_of(op)
    if array is None or shape[-1] == 1 or op.offsets:
        return None
    extent = array.extent(array.array.get_num_dims() - 1)
    if not isinstance(extent, SSAValue) or not isinstance(extent.type, IntegerType):
        return None
    return (shape[-1], extent) if constant_integer(uncast(op.coords[-1])) == 0 else None


def bytes_of_row(op: TiledLoadBase) -> int:
    """Return the bytes that a row may take, as far as it is known to reach, and is held.

    Threads hold it by vectors, which reach less than `ROOM` elements beyond it on either side, and
    those of all threads together are an eighth of a tile at most (`target/bounded_rows.py`).
    """
    type_ = op.loaded_type()
    *_, width = shape_of(type_) or (1,)
    view = op.view.owner
    source = without_promises(view.source).owner if isinstance(view, ViewOp) else None
    extent: SSAValue | int = width
    if isinstance(source, MakeMemrefOp):
        extent = source.extent(source.array.get_num_dims() - 1)
    known = extent if isinstance(extent, int) else upper_bound(extent)
    part = max(width // PARTS, 1)
    held = width if known is None else min(align_up(known + ROOM, part), width)
    return ceil_div((held + 2 * ROOM) * bits_of(element_of(type_)), 8)


def uncast(value: SSAValue) -> SSAValue:
    while isinstance(made := value.owner, arith.IndexCastOp):
        value = made.input
    return value
