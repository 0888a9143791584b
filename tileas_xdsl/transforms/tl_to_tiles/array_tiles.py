"""Tiles of arrays in global memory: coordinates of a region, loads and stores in order.

An element offset that the extent of the tile divides is a number of tiles, by which TMA moves
them; any other is an offset beside the tile.  Accesses to an array that the kernel writes are
ordered by a token, which loops and branches carry like a tile.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.nv_tileaa.base import as_array, element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.memory import tiled_memory, views
from tileas_xdsl.dialects.nv_tileaa.memory.pointer_access import LoadOp, Order
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp, BasePointerOp
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScope,
    MemScopeAttr,
    MemSemantic,
    MemSemanticAttr,
)
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.transforms.tl_to_tiles.raising import INDEX, Raising, check_extents
from tileas_xdsl.transforms.tl_to_tiles.scalars.index_forms import IndexForm


def _zero(array: SSAValue) -> Attribute:
    element = as_array(array).element_type
    if isinstance(element, AnyFloat):
        return FloatAttr(0.0, element)
    assert isa(element, IntegerType | IndexType)
    return IntegerAttr(0, element)


def _token(state: Raising, array: SSAValue) -> SSAValue | None:
    """What orders accesses to an array that the kernel writes, in whatever shape it is shown."""
    return state.held.get(storage_of(array))


def _advance(state: Raising, array: SSAValue, token: SSAValue | None) -> None:
    if token is not None:
        state.held[storage_of(array)] = token


def load(
    state: Raising, array: SSAValue, starts: Sequence[IndexForm], shape: Sequence[int]
) -> SSAValue:
    """Load the tile that begins at `starts`; what is out of bounds is zero."""
    view, coords, offsets = _placed(state, state.arrays[array], starts, shape)
    made = state.insert(
        tiled_memory.TiledLoadOp(
            view, coords, offsets=offsets, token=_token(state, array), padding=_zero(array)
        )
    )
    _advance(state, array, made.out_token)
    return made.result


def store(
    state: Raising,
    tile: SSAValue,
    array: SSAValue,
    starts: Sequence[IndexForm],
    part: SSAValue | None = None,
) -> None:
    """Store a tile to an array, or to a part that begins where the array does.

    What is out of its bounds is not written.
    """
    view, coords, offsets = _placed(
        state, state.arrays[array] if part is None else part, starts, shape_of(tile.type)
    )
    token = _token(state, array)
    made = state.insert(tiled_memory.TiledStoreOp(tile, view, coords, offsets=offsets, token=token))
    _advance(state, array, made.out_token)


def gather(
    state: Raising,
    array: SSAValue,
    coords: Sequence[SSAValue],
    inside: Sequence[bool],
    shape: Sequence[int],
) -> SSAValue:
    """Load elements by an index or a tile of indices along each dimension; zero out of bounds.

    They are loaded through pointers, so that rows by numbers, `A[%rows[i], j]`, are moved as those
    of Tile IR are: in vectors, and ahead of their use.  `inside` says along which dimensions no
    index is out of bounds; others are compared as unsigned numbers, so that negative ones are.
    """
    check_extents(state, shape)
    held, element = state.arrays[array], as_array(array).element_type
    pointer = state.insert(BasePointerOp(held)).result
    mask: SSAValue | None = None
    first: SSAValue = state.constant(0, i64)
    offset: SSAValue | None = None
    for axis, (coord, stride) in enumerate(zip(coords, _strides(state, held), strict=True)):
        wide = _wide(state, coord)
        if not inside[axis]:
            here = _is_below(state, wide, _extent(state, held, axis), shape)
            mask = here if mask is None else state.insert(arith.AndIOp(mask, here)).result
        if not shape_of(coord.type):
            first = state.insert(arith.AddiOp(first, _times(state, wide, stride, ()))).result
            continue
        term = _times(state, wide, stride, shape)
        offset = term if offset is None else state.insert(arith.AddiOp(offset, term)).result
    pointers = state.splat(state.insert(AddPtrOp(pointer, first)).result, shape)
    if offset is not None:
        pointers = state.insert(AddPtrOp(pointers, offset)).result
    other = None if mask is None else state.splat(state.zero(element), shape)
    made = state.insert(LoadOp(pointers, mask=mask, other=other, token=_token(state, array)))
    _advance(state, array, made.out_token)
    return made.result


def _strides(state: Raising, array: SSAValue) -> Sequence[SSAValue | int]:
    """The elements between neighbours along each dimension of a row-major array."""
    strides: list[SSAValue | int] = [1]
    for axis in range(len(as_array(array).get_shape()) - 1, 0, -1):
        extent, step = _extent(state, array, axis), strides[0]
        if isinstance(extent, int) and isinstance(step, int):
            strides.insert(0, extent * step)
        else:
            product = arith.MuliOp(_number(state, extent), _number(state, step))
            strides.insert(0, state.insert(product).result)
    return strides


def _extent(state: Raising, array: SSAValue, axis: int) -> SSAValue | int:
    """The extent of an array along a dimension, as `i64` where run time knows it."""
    known = as_array(array).get_shape()[axis]
    if known != DYNAMIC_INDEX:
        return known
    found = state.insert(memref.DimOp(array, state.constant(axis))).results[0]
    return state.insert(arith.IndexCastOp(found, i64)).result


def _number(state: Raising, value: SSAValue | int) -> SSAValue:
    return state.constant(value, i64) if isinstance(value, int) else value


def _wide(state: Raising, coord: SSAValue) -> SSAValue:
    """An index, or a tile of them, as `i64`."""
    kind = arith.IndexCastOp if isinstance(element_of(coord.type), IndexType) else arith.ExtSIOp
    if element_of(coord.type) == i64:
        return coord
    return state.by_element(i64, [coord], lambda values: state.insert(kind(values[0], i64)).result)


def _times(
    state: Raising, wide: SSAValue, stride: SSAValue | int, shape: Sequence[int]
) -> SSAValue:
    if stride == 1:
        return wide
    factor = _number(state, stride)
    return state.insert(arith.MuliOp(wide, state.splat(factor, shape) if shape else factor)).result


def _is_below(
    state: Raising, wide: SSAValue, extent: SSAValue | int, shape: Sequence[int]
) -> SSAValue:
    """Whether an index is below an extent, for each element of a tile."""
    limit = _number(state, extent)
    if not shape_of(wide.type):
        return state.splat(state.insert(arith.CmpiOp(wide, limit, "ult")).result, shape)
    return state.by_element(
        i1,
        [wide, state.splat(limit, shape)],
        lambda values: state.insert(arith.CmpiOp(values[0], values[1], "ult")).result,
    )


def scatter(state: Raising, tile: SSAValue, array: SSAValue, coords: Sequence[SSAValue]) -> None:
    """Store elements by an index or a tile of indices along each dimension; none out of bounds."""
    token = _token(state, array)
    made = state.insert(tiled_memory.ScatterStoreOp(tile, state.arrays[array], coords, token=token))
    _advance(state, array, made.out_token)


def add(state: Raising, tile: SSAValue, array: SSAValue, starts: Sequence[IndexForm]) -> None:
    """Add to the elements of a tile, in any order with what others add; not out of bounds."""
    view, coords, offsets = _placed(state, state.arrays[array], starts, shape_of(tile.type))
    token = _token(state, array)
    made = state.insert(
        tiled_memory.TiledAtomicRmwOp(
            tile, view, coords, rmw_mode="add", offsets=offsets, token=token, **RELAXED
        )
    )
    _advance(state, array, made.out_token)


RELAXED: Order = {
    "mem_semantic": MemSemanticAttr(MemSemantic.RELAXED),
    "mem_scope": MemScopeAttr(MemScope.GPU),
}
"""How additions of blocks see each other: as `red.relaxed.gpu`."""


def _placed(
    state: Raising, array: SSAValue, starts: Sequence[IndexForm], shape: Sequence[int]
) -> tuple[SSAValue, Sequence[SSAValue], Sequence[SSAValue]]:
    """Return the view of an array as such tiles, coordinates, and offsets if there are some."""
    check_extents(state, shape)
    tiled = views.BlockTileOp(array, shape, range(len(shape)))
    view = state.insert(tiled).result
    counts = [start.divided(extent) for start, extent in zip(starts, shape, strict=True)]
    counts = [
        n if start.remainder(extent) == 0 else None
        for n, start, extent in zip(counts, starts, shape, strict=True)
    ]
    coords = [code(state, count or _ZERO) for count in counts]
    if None not in counts:
        return view, coords, ()
    offsets = [
        code(state, _ZERO if count is not None else start)
        for count, start in zip(counts, starts, strict=True)
    ]
    return view, coords, offsets


_ZERO: IndexForm = IndexForm(0)


def code(state: Raising, form: IndexForm) -> SSAValue:
    """Return an affine form as code."""
    total: SSAValue | None = None
    for atom, factor in form.terms.items():
        value = state.scalar(atom)
        if value.type != INDEX:
            value = state.insert(arith.IndexCastOp(value, INDEX)).result
        if factor != 1:
            value = state.insert(arith.MuliOp(value, state.constant(factor))).result
        total = value if total is None else state.insert(arith.AddiOp(total, value)).result
    if total is None:
        return state.constant(form.constant)
    if form.constant:
        total = state.insert(arith.AddiOp(total, state.constant(form.constant))).result
    return total
