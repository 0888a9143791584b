"""Builders of tiled accesses: the view and the operation that reads or writes a tile of it.

Coordinates, offsets and indices are values of any integer type or Python integers; they become
`index` values.  Leading ones may be left out, they are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import MemScope, MemSemantic
from tileas_xdsl.dialects.nv_tileas.memory.arguments import Padding, Value, atom_attribute
from tileas_xdsl.dialects.nv_tileas.memory.checks import coordinate_count
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of

Coordinate: TypeAlias = SSAValue | Operation | int


@dataclass(frozen=True)
class TileView:
    """A view to make: its type, and the element of the source where it begins."""

    type: Attribute
    indices: Sequence[Coordinate] = ()


def build_view_then_load(
    builder: Builder,
    source: Value,
    view: TileView,
    coords: Sequence[Coordinate] = (),
    *,
    atom: AtomAttr | str,
    result_type: Attribute | None = None,
    offsets: Sequence[Coordinate] = (),
    token: Value | None = None,
    mask: Value | None = None,
    semantic: MemSemantic | str | None = None,
    scope: MemScope | str | None = None,
    in_bounds: Sequence[bool] | None = None,
    padding: Padding | None = None,
    allow_tma: bool | None = None,
) -> TiledLoadOp:
    """Insert a view of `source` and the load of a tile of it; gives the load."""
    element = _view_element(builder, source, view, coords, offsets, atom)
    return builder.insert(
        TiledLoadOp(
            element.view,
            element.coords,
            atom=atom,
            result_type=result_type,
            offsets=element.offsets,
            token=token,
            mask=mask,
            semantic=semantic,
            scope=scope,
            in_bounds=in_bounds,
            padding=padding,
            allow_tma=allow_tma,
        )
    )


def build_view_then_store(
    builder: Builder,
    value: Value,
    destination: Value,
    view: TileView,
    coords: Sequence[Coordinate] = (),
    *,
    atom: AtomAttr | str,
    offsets: Sequence[Coordinate] = (),
    token: Value | None = None,
    semantic: MemSemantic | str | None = None,
    scope: MemScope | str | None = None,
    in_bounds: Sequence[bool] | None = None,
    padding: Padding | None = None,
    allow_tma: bool | None = None,
) -> TiledStoreOp:
    """Insert a view of `destination` and the store of a tile of it; gives the store."""
    element = _view_element(builder, destination, view, coords, offsets, atom)
    return builder.insert(
        TiledStoreOp(
            value,
            element.view,
            element.coords,
            atom=atom,
            offsets=element.offsets,
            token=token,
            semantic=semantic,
            scope=scope,
            in_bounds=in_bounds,
            padding=padding,
            allow_tma=allow_tma,
        )
    )


@dataclass(frozen=True)
class _ViewElement:
    view: SSAValue
    coords: Sequence[SSAValue]
    offsets: Sequence[SSAValue]


def _view_element(
    builder: Builder,
    buffer: Value,
    view: TileView,
    coords: Sequence[Coordinate],
    offsets: Sequence[Coordinate],
    atom: AtomAttr | str,
) -> _ViewElement:
    """The view, and coordinates and offsets as many as it needs."""
    count = coordinate_count(view.type, atom_attribute(atom))
    rank = len(shape_of(SSAValue.get(buffer).type) or ())
    starts = _filled(view.indices, rank, "indices") if view.indices else []
    tile = _filled(coords, count, "coordinates")
    moved = _filled(offsets, count, "offsets") if offsets else []
    made = builder.insert(ViewOp(buffer, view.type, _as_indices(builder, starts)))
    return _ViewElement(made.result, _as_indices(builder, tile), _as_indices(builder, moved))


def _filled(values: Sequence[Coordinate], count: int, what: str) -> list[Coordinate]:
    """`values` with zeros before them if they are fewer than `count`."""
    if len(values) > count:
        raise ValueError(f"there are at most {count} {what} here, not {len(values)}")
    return [*[0] * (count - len(values)), *values]


def _as_indices(builder: Builder, values: Sequence[Coordinate]) -> list[SSAValue]:
    return [_as_index(builder, value) for value in values]


def _as_index(builder: Builder, value: Coordinate) -> SSAValue:
    if isinstance(value, int):
        return builder.insert(arith.ConstantOp.from_int_and_width(value, IndexType())).result
    given = SSAValue.get(value)
    if isinstance(given.type, IndexType):
        return given
    return builder.insert(arith.IndexCastOp(given, IndexType())).result
