"""Layout conversions, reshapes, bit casts and slices of tiles, on plain arrays.

A tile is an array in row-major order; nothing here writes into an operand, and results may share
their memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Operation

from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import is_rearranged, scale_numbers
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    ReinterpretOp,
    ShuffleOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp, InsertSliceOp, SlicingOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.numerics.element_types import (
    Array,
    from_bytes,
    packed_bits,
    to_bytes,
)
from tileas_xdsl.interpreters.tile.numerics.integers import Value
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import Semantics
from tileas_xdsl.interpreters.tile.tensor_ops.layout_encoding import check_encoding

Part: TypeAlias = tuple[slice, ...]
"""A part of a tile, one slice for each dimension."""


def move(op: Operation, operands: Sequence[Value]) -> tuple[Array]:
    """`nv_tileas.convert_layout` and `nv_tileas.shuffle`: the same tile, both layouts checked."""
    check_encoding(op, op.operands[0].type, of_slice=True)
    check_encoding(op, op.results[0].type)
    return (operands[0],)


def expand_dims(op: ExpandDimsOp, operands: Sequence[Value]) -> tuple[Array]:
    """`nv_tileas.expand_dims`."""
    return (np.expand_dims(operands[0], op.axis.value.data),)


def reinterpret(op: ReinterpretOp, operands: Sequence[Value]) -> tuple[Array]:
    """`nv_tileas.reinterpret`: the bits in row-major order, packed from the lowest bit on.

    An extent of the result that is not known is what the bits fill.
    """
    source: Array = operands[0]
    there, here = _element(op.source.type), _element(op.result.type)
    shape = _filled_shape(op, source.size * packed_bits(there), packed_bits(here))
    if there == here:
        return (source.reshape(shape),)
    return (from_bytes(to_bytes(source, there), here, prod(shape)).reshape(shape),)


def _filled_shape(op: ReinterpretOp, bits: int, each: int) -> tuple[int, ...]:
    """The shape of the result, so that elements of `each` bits take all of `bits`."""
    shape = _shape(op.result.type)
    unknown = shape.count(DYNAMIC_INDEX)
    known = each * prod(n for n in shape if n != DYNAMIC_INDEX)
    if unknown > 1:
        raise fault(op, f"{op.result.type} leaves more than one extent open")
    if (bits % known if unknown else bits - known) != 0:
        raise fault(op, f"the source has {bits} bits, which {op.result.type} cannot hold")
    return tuple(bits // known if n == DYNAMIC_INDEX else n for n in shape)


def view(op: ViewOp, operands: Sequence[Value]) -> tuple[Array]:
    """`nv_tileas.view` of a tile: its elements from one on, in row-major order."""
    source, *indices = operands
    shape = _shape(op.result.type)
    if DYNAMIC_INDEX in shape:
        raise fault(op, f"shows a tile of known extents, not {op.result.type}")
    start = _start(op, source, indices)
    end = start + prod(shape)
    if start < 0 or end > source.size:
        raise fault(op, f"shows elements {start} to {end - 1} of a tile of {source.size} elements")
    elements = source.reshape(-1)[start:end]
    if is_rearranged(op.source.type):
        return (elements.reshape(shape),)
    if is_transposed(op.result.type):
        return (elements.reshape(shape[::-1]).T,)
    numbers = scale_numbers(op.result.type)
    return (elements.reshape(shape) if numbers is None else elements[numbers],)


def _start(op: ViewOp, source: Array, indices: Sequence[int]) -> int:
    """Return the linear index of the first element of the view."""
    if op.offset is not None:
        return op.offset.value.data
    if len(indices) < 2:
        return sum(indices)
    start = 0
    for dimension, (index, extent) in enumerate(zip(indices, source.shape, strict=True)):
        if not 0 <= index < extent:
            raise fault(op, f"index {index} of dimension {dimension} is not within {extent}")
        start = start * extent + index
    return start


def extract_slice(op: SlicingOp, source: Array, numbers: Sequence[int]) -> Array:
    """Return the slice of `source`; `numbers` are the dynamic offsets, sizes and strides."""
    return source[slices_of(op, source.shape, numbers)]


def insert_slice(op: SlicingOp, source: Array, whole: Array, numbers: Sequence[int]) -> Array:
    """Return a copy of `whole` with the slice replaced by `source`."""
    part = slices_of(op, whole.shape, numbers)
    extents = tuple(len(range(*s.indices(n))) for s, n in zip(part, whole.shape, strict=True))
    if source.shape != extents:
        raise fault(op, f"the slice is {_listed(extents)}, but the source {_listed(source.shape)}")
    result = whole.copy()
    result[part] = source
    return result


def slices_of(op: SlicingOp, shape: Sequence[int], numbers: Sequence[int]) -> Part:
    """The slices of a part; a fault where a number is too small or the part ends outside."""
    dynamic = iter(numbers)
    offsets, sizes, strides = (
        [next(dynamic) if n == DYNAMIC_INDEX else n for n in numbers_of(static)]
        for static in (op.static_offsets, op.static_sizes, op.static_strides)
    )
    part: list[slice] = []
    for dimension, extent in enumerate(shape):
        offset, size, stride = offsets[dimension], sizes[dimension], strides[dimension]
        _check_numbers(op, dimension, offset, size, stride)
        last = offset + (size - 1) * stride
        if last >= extent:
            raise fault(
                op, f"reaches element {last} of dimension {dimension}, whose extent is {extent}"
            )
        part.append(slice(offset, last + 1, stride))
    return tuple(part)


@lru_cache(maxsize=4096)
def numbers_of(static: DenseArrayBase[IntegerType]) -> Sequence[int]:
    """The numbers of a list, which are stored as bytes."""
    return static.get_values()


def _check_numbers(op: SlicingOp, dimension: int, offset: int, size: int, stride: int) -> None:
    if offset >= 0 and size >= 1 and stride >= 1:
        return
    for what, least, number in (("offset", 0, offset), ("size", 1, size), ("stride", 1, stride)):
        if number < least:
            raise fault(
                op, f"the {what} of dimension {dimension} is at least {least}, not {number}"
            )


def _shape(type_: Attribute) -> tuple[int, ...]:
    shape = shape_of(type_)
    assert shape is not None
    return shape


def _element(type_: Attribute) -> Attribute:
    element = element_of(type_)
    assert element is not None
    return element


def _listed(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "a scalar"


RESHAPES: Mapping[type[Operation], Semantics] = {
    ConvertLayoutOp: move,
    ExpandDimsOp: expand_dims,
    ExtractSliceOp: lambda op, operands: (extract_slice(op, operands[0], operands[1:]),),
    InsertSliceOp: lambda op, operands: (insert_slice(op, operands[0], operands[1], operands[2:]),),
    ReinterpretOp: reinterpret,
    ShuffleOp: move,
    ViewOp: view,
}
"""Pure operations that move elements; the slices serve the async forms too."""
