"""Steps of the verifiers of loads and stores that are not tiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IndexType, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.atoms import BLACKWELL_MODES, TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.checks import (
    check_coordinates,
    check_tile,
    check_tile_dimensions,
    check_view,
)
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of

POINTED_SPACES: Mapping[int, Space] = {1: Space.GMEM, 3: Space.SMEM}
"""The address spaces of pointers, as LLVM numbers them for NVPTX."""


def accessed_element(base: Attribute) -> Attribute | None:
    """The type of the elements that are reached from a view, a pointer or a tile of pointers."""
    if (pointer := _pointer_of(base)) is not None:
        return pointer.pointee
    return element_of(base) if shape_of(base) is not None else base


def memory_space_of(base: Attribute) -> Space | None:
    """Return the memory space that a view, a pointer or a tile of pointers refers to."""
    if (pointer := _pointer_of(base)) is not None:
        return POINTED_SPACES.get(pointer.address_space.data)
    return space_of(base)


def _pointer_of(base: Attribute) -> PtrType | None:
    """The type of the pointers that are followed; those in a view are elements like others."""
    inside = element_of(base)
    pointer = inside if isinstance(base, TensorType) else base
    return pointer if isinstance(pointer, PtrType) else None


def accessed_type(base: Attribute) -> Attribute:
    """Default accessed shape: all pointers of a tile, or one element of a view."""
    element = accessed_element(base)
    if element is None:
        raise ValueError(f"{base} is no place in memory")
    if isinstance(base, TensorType) and isinstance(base.get_element_type(), PtrType):
        return TensorType(element, base.get_shape())
    return element


def check_single_accesses(op: Operation, atom: AtomAttr) -> None:
    """The atom reaches elements one by one, which TMA does not."""
    if isinstance(atom.data, TmaAtom):
        raise op_error(op, f"reaches elements one by one, but {atom.data.keyword} moves boxes")


def check_scattered_accesses(op: Operation, atom: AtomAttr) -> None:
    """The atom reaches elements one by one, or rows by their numbers as TMA can."""
    if isinstance(atom.data, TmaAtom) and atom.data.mode not in BLACKWELL_MODES:
        raise op_error(op, f"reaches elements one by one, but {atom.data.keyword} moves boxes")


def check_access(
    op: Operation, base: Attribute, coords: Sequence[SSAValue], value: Attribute
) -> None:
    """Check that the accessed location has the shape and element type of the value."""
    if _pointer_of(base) is not None:
        check_coordinates(op, coords, 0)
        if shape_of(base) != shape_of(value):
            raise op_error(op, f"accesses a value for each pointer, but got {value} for {base}")
    else:
        check_view(op, base)
        _check_value(op, base, value)
        check_coordinates(op, coords, len(shape_of(base) or ()))
    check_accessed_elements(op, base, value)
    if shape_of(value) is not None:
        check_tile(op, value)
        check_tile_dimensions(op, shape_of(value))


def _check_value(op: Operation, view: Attribute, value: Attribute) -> None:
    shape, rank = shape_of(value), len(shape_of(view) or ())
    if shape is not None and len(shape) != rank:
        raise op_error(op, f"accesses one element or a tile of rank {rank}, but got {value}")


def check_accessed_elements(op: Operation, base: Attribute, value: Attribute) -> None:
    """Check that the accessed location and the value have the same element type."""
    first = accessed_element(base)
    second = value if shape_of(value) is None else element_of(value)
    if first != second:
        text = message("nv_tileas.element_types.differ", view=first, tensor=second)
        raise op_error(op, text)


def check_gather(
    op: Operation, view: Attribute, coords: Sequence[SSAValue], tile: Attribute
) -> None:
    """A coordinate for each dimension of the view, and one of them a tile."""
    check_view(op, view)
    check_tile(op, tile)
    rank = len(shape_of(view) or ())
    if len(coords) != rank:
        text = message("nv_tileas.coords.count", expected=rank, given=len(coords))
        raise op_error(op, text)
    for coordinate in coords:
        _check_coordinate(op, coordinate.type, tile)
    if all(isinstance(coordinate.type, IndexType) for coordinate in coords):
        raise op_error(op, "expects a tile of coordinates for one dimension at least")
    check_accessed_elements(op, view, tile)
    check_tile_dimensions(op, shape_of(tile))


def _check_coordinate(op: Operation, coordinate: Attribute, tile: Attribute) -> None:
    if isinstance(coordinate, IndexType):
        return
    whole = isinstance(element_of(coordinate), IndexType | IntegerType)
    if not whole or shape_of(coordinate) != shape_of(tile):
        raise op_error(
            op, f"expects an index, or integers in the shape of {tile}, but got {coordinate}"
        )
