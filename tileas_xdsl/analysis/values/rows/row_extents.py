"""Rows of arrays that begin where a tile does: their extents, and the tile's.

%v = make_memref %p sizes[%m, %n]        tiled_load %v[%i, 0] : 1x8192      8192, %n
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.values.integer_bounds import upper_bound
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import without_promises
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.target.launches.bounded_rows import PARTS, ROOM


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
    """Return the bytes that a rotated row may take, as far as it is known to reach, and is held.

    Its vectors reach less than `ROOM` elements beyond it on either side.
    """
    return ceil_div((held_columns(op) + 2 * ROOM) * bits_of(element_of(op.loaded_type())), 8)


def held_columns(op: TiledLoadBase) -> int:
    """Return how many elements of a row of a tile threads hold, which hold it by vectors.

    Those of all threads together are an eighth of a tile at most (`launches/bounded_rows.py`).
    """
    width = row_width(op)
    return min(align_up(reached_columns(op), max(width // PARTS, 1)), width)


def reached_columns(op: TiledLoadBase | TiledStoreOp) -> int:
    """Return how many elements of a row of a tile may be in the array: those behind are not.

    A rotated row begins at the end of a vector, and no element of it is further than that from its
    column, unless it wraps around.
    """
    width = row_width(op)
    view = op.view.owner
    if not isinstance(view, ViewOp) or not view.is_whole or (op.offsets and op.rotated is None):
        return width
    source = without_promises(view.source).owner
    if not isinstance(source, MakeMemrefOp):
        return width
    extent = source.extent(source.array.get_num_dims() - 1)
    known = extent if isinstance(extent, int) else upper_bound(extent)
    if known is None:
        return width
    return min(known if op.rotated is None else known + ROOM, width)


def row_width(op: TiledLoadBase | TiledStoreOp) -> int:
    """Return the elements of a row of the tile of an access."""
    type_ = op.value.type if isinstance(op, TiledStoreOp) else op.loaded_type()
    return (shape_of(type_) or (1,))[-1]


def is_one_row(op: TiledLoadBase | TiledStoreOp) -> bool:
    """Whether the tile of an access is one row."""
    type_ = op.value.type if isinstance(op, TiledStoreOp) else op.loaded_type()
    return prod(shape_of(type_) or (1,)) == row_width(op)


def within_reach(kernel: Operation, words: Callable[[SSAValue], int]) -> Callable[[SSAValue], int]:
    """Return how many registers tiles take as far as the rows that they are as wide as reach.

    What is behind the end of all rows is one number, of which threads hold one.
    """
    held: dict[int, int] = {}
    for op in instances_in(kernel, TiledLoadBase):
        width = row_width(op)
        held[width] = max(held.get(width, 0), held_columns(op))
    shorter = {width: columns for width, columns in held.items() if columns < width}
    if not shorter:
        return words

    def of_row(value: SSAValue) -> int:
        found = words(value)
        *_, width = shape_of(value.type) or (1,)
        return found * shorter[width] // width if width in shorter else found

    return of_row


def uncast(value: SSAValue) -> SSAValue:
    """Return the value that casts of an index begin with."""
    while isinstance(made := value.owner, arith.IndexCastOp):
        value = made.input
    return value
