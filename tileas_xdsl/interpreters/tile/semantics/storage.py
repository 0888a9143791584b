"""Semantics of tiles in memory: allocation, views, slices, reinterpretation.

A tile at run time is a value (a numpy array) or a `View` of a memory, by where its type places it.
Slicing a value makes a value; slicing memory makes a view of the same bytes, so that a later write
through either is seen by both, as on the machine:

    %b = alloc_tensor : tensor<64x64xf16, smem>         View(offset 0, shape (64, 64))
    %s = extract_slice %b[32, 0][32, 64]                View(offset 4096, shape (32, 64))
    %t = insert_slice %x into %b[0, 0]                  a copy: SSA values never change
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, TensorType
from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import scale_numbers
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ReinterpretOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import (
    AllocTensorOp,
    AsyncExtractSliceOp,
    AsyncInsertSliceOp,
    ExtractSliceOp,
    InsertSliceOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.scale_views import ScaleView
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor
from tileas_xdsl.interpreters.tile.memory.views import View, ViewError, as_tile, contiguous
from tileas_xdsl.interpreters.tile.numerics.element_sizes import bits_of_element
from tileas_xdsl.interpreters.tile.numerics.element_types import is_array
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken
from tileas_xdsl.interpreters.tile.tensor_ops import reshaping
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import ELEMENTWISE
from tileas_xdsl.interpreters.tile.tensor_ops.layout_encoding import check_encoding


def alloc_tensor(agent: TileAgent, op: AllocTensorOp, inputs: Sequence[Any]) -> tuple[View]:
    """Allocate uninitialised memory."""
    type_ = op.result.type
    check_encoding(op, type_)
    space = space_of(type_) or Space.RMEM
    hint = op.result.name_hint
    view = agent.block.allocate(
        op,
        agent.name,
        f"%{hint}" if hint else "a tile",
        type_.get_shape(),
        type_.element_type,
        space,
    )
    return (view,)


def extract_slice(agent: TileAgent, op: ExtractSliceOp, inputs: Sequence[Any]) -> tuple[Any]:
    """Return a slice of a tile: a view if it is in memory, else a value."""
    source = inputs[0]
    if not isinstance(source, View):
        return (reshaping.extract_slice(op, source, inputs[1:]),)
    part = reshaping.slices_of(op, source.shape, inputs[1:])
    starts = [s.start for s in part]
    shape = [len(range(s.start, s.stop, s.step)) for s in part]
    return (source.part(starts, shape, [s.step for s in part]).cut(),)


def insert_slice(agent: TileAgent, op: InsertSliceOp, inputs: Sequence[Any]) -> tuple[Any]:
    """Return a tile with a slice replaced; the source is unchanged."""
    source, whole = as_tile(inputs[0], agent.actor(op)), inputs[1]
    if not isinstance(whole, View):
        return (reshaping.insert_slice(op, source, whole, inputs[2:]),)
    copy = whole.copied(agent.actor(op))
    part = reshaping.slices_of(op, whole.shape, inputs[2:])
    shape = tuple([len(range(s.start, s.stop, s.step)) for s in part])
    if source.shape != shape:
        raise fault(op, f"the slice is {shape}, but the source {source.shape}")
    window = copy.part([s.start for s in part], shape, [s.step for s in part])
    window.write(source, agent.actor(op))
    return (copy,)


def async_extract_slice(
    agent: TileAgent, op: AsyncExtractSliceOp, inputs: Sequence[Any]
) -> tuple[AsyncToken]:
    """Return a slice of the tile that a token delivers."""
    source: AsyncToken = inputs[0]

    def values() -> tuple[Any]:
        tile = as_tile(source.values[0], agent.actor(op))
        return (reshaping.extract_slice(op, tile, inputs[1:]),)

    return (AsyncToken("a slice", [source], values),)


def async_insert_slice(
    agent: TileAgent, op: AsyncInsertSliceOp, inputs: Sequence[Any]
) -> tuple[AsyncToken]:
    """Return a tile with a slice replaced, where either operand comes with a token."""
    source, whole = inputs[0], inputs[1]
    parts = [value for value in (source, whole) if isinstance(value, AsyncToken)]

    def values() -> tuple[Any]:
        actor = agent.actor(op)
        tiles = [_delivered(value, actor) for value in (source, whole)]
        return (reshaping.insert_slice(op, tiles[0], tiles[1], inputs[2:]),)

    return (AsyncToken("a slice", parts, values),)


def _delivered(value: Any, actor: Actor) -> Any:
    return as_tile(value.values[0] if isinstance(value, AsyncToken) else value, actor)


def view(agent: TileAgent, op: ViewOp, inputs: Sequence[Any]) -> tuple[Any]:
    """Return another view of the same memory."""
    if not isinstance(inputs[0], View):
        return reshaping.view(op, inputs)
    if isinstance(inputs[0], ScaleView):
        raise fault(op, "scales in atoms have no other view")
    numbers = scale_numbers(op.result.type)
    if numbers is not None and not is_transposed(op.source.type):
        return (_scales(op, inputs[0], numbers),)
    shown = _shown(op, inputs)
    return (shown.cut() if isinstance(op.result.type, MemRefType) else shown,)


def _shown(op: ViewOp, inputs: Sequence[Any]) -> View:
    """Return the view, whose valid range may exceed it: a tile of an array has neighbours."""
    source: View = inputs[0]
    indices = inputs[1:]
    shape = _extents(op.result.type, source)
    if is_transposed(op.result.type) and not is_transposed(op.source.type):
        return _transposed(op, source, shape)
    if len(indices) == len(source.shape) == len(shape):
        return source.part(indices, shape)
    offset = indices[0] if len(indices) == 1 else 0
    offset += 0 if op.offset is None else op.offset.value.data
    if len(indices) > 1:
        offset = _flat(op, source, indices)
    if not offset and len(shape) == len(source.shape):
        return _same_rank(source, shape)
    return _from_element(op, source, offset, shape)


def _scales(op: ViewOp, source: View, numbers: NDArray[np.int64]) -> ScaleView:
    """Return the matrix of the scale factors in atoms."""
    if not op.is_whole or numbers.size != prod(source.shape):
        raise fault(op, "a view of scales in atoms shows all of its source")
    return ScaleView.of(source, numbers)


def _transposed(op: ViewOp, source: View, shape: tuple[int, ...]) -> View:
    """Return the transposed view of a matrix."""
    if not op.is_whole or prod(shape) != prod(source.shape):
        raise fault(op, "a transposed view shows all of its source")
    rows = source.reshaped(shape[::-1])
    return replace(rows, shape=rows.shape[::-1], strides=rows.strides[::-1], valid=rows.valid[::-1])


def _extents(type_: Attribute, source: View) -> tuple[int, ...]:
    """Return the extents of a view; dynamic ones are the source's."""
    shape = shape_of(type_)
    assert shape is not None
    if DYNAMIC_INDEX not in shape:
        return shape
    if len(shape) != len(source.shape):
        raise ViewError(f"{type_} leaves extents open that its source does not have")
    return tuple(
        [m if n == DYNAMIC_INDEX else n for n, m in zip(shape, source.extents, strict=True)]
    )


def _same_rank(source: View, shape: tuple[int, ...]) -> View:
    """Return a view of equal rank; one of global memory keeps the array around its tile valid."""
    if source.memory.space is Space.GMEM or shape == source.shape:
        return source.part((0,) * len(shape), shape)
    return source.reshaped(shape)


def _flat(op: ViewOp, source: View, indices: Sequence[int]) -> int:
    """Return the row-major linear index of an element."""
    if len(indices) != len(source.shape):
        raise fault(op, f"a view of rank {len(source.shape)} has no element {list(indices)}")
    element = 0
    for index, extent in zip(indices, source.shape, strict=True):
        element = element * extent + index
    return element


def _from_element(op: ViewOp, source: View, offset: int, shape: tuple[int, ...]) -> View:
    """Return a row-major view that begins at an element; it may exceed the source."""
    if not source.is_contiguous:
        raise fault(op, "a window with gaps is not seen from an element on")
    begin = source.offset + offset * source.dtype.itemsize
    if begin < 0:
        raise fault(op, f"begins {-offset} elements before its source")
    return replace(contiguous(source.memory, begin, shape, source.element), lease=source.lease)


def reinterpret(agent: TileAgent, op: ReinterpretOp, inputs: Sequence[Any]) -> tuple[Any]:
    """Return the same bits as other elements; packed ones become values when read."""
    source, type_ = inputs[0], op.result.type
    element = element_of(type_)
    assert element is not None
    if not isinstance(source, View):
        return reshaping.reinterpret(op, inputs)
    if _is_packed(source.element) or _is_packed(element):
        if not isinstance(type_, TensorType):
            raise fault(op, f"memory of {source.element} is not seen as {element} without a copy")
        return reshaping.reinterpret(op, [as_tile(source, agent.actor(op))])
    return (source.reshaped(_other_extents(source, type_, element), element),)


def _is_packed(element: Attribute) -> bool:
    return bits_of_element(element) % 8 != 0


def _other_extents(source: View, type_: Attribute, element: Attribute) -> tuple[int, ...]:
    shape = shape_of(type_)
    assert shape is not None
    if DYNAMIC_INDEX not in shape:
        return shape
    known = prod([n for n in shape if n != DYNAMIC_INDEX])
    count = prod(source.shape) * bits_of_element(source.element) // bits_of_element(element)
    if shape.count(DYNAMIC_INDEX) > 1 or count % max(known, 1):
        raise ViewError(f"{type_} leaves open how its elements are arranged")
    return tuple([count // known if n == DYNAMIC_INDEX else n for n in shape])


def select(agent: TileAgent, op: arith.SelectOp, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Return one of two operands; a selected view is not read."""
    _, one, other = inputs
    if isinstance(one, View) or isinstance(other, View):
        return (one if inputs[0] else other,)
    results = ELEMENTWISE[arith.SelectOp](op, inputs)
    if is_array(results[0]) and results[0].size > 1:
        agent.computed(op, results[0].size)
    return results


STORAGE = Language(
    effects={
        arith.SelectOp: select,
        AllocTensorOp: alloc_tensor,
        AsyncExtractSliceOp: async_extract_slice,
        AsyncInsertSliceOp: async_insert_slice,
        ExtractSliceOp: extract_slice,
        InsertSliceOp: insert_slice,
        ReinterpretOp: reinterpret,
        ViewOp: view,
    }
)
