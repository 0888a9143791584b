"""Single elements that the block reads and writes: of arrays, of its buffers, its own variables.

%n = memref.load %sizes[%b]           ->   %0 = nv_tileaa.tiled_load %view[%b] : tensor<1xi32>
                                           %n = nv_tileaa.view %0 : tensor<1xi32> -> i32
memref.store %n, %count[%zero]             %n is what the element has now
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileaa.base import element_of
from tileas_xdsl.dialects.nv_tileaa.compute import shapes
from tileas_xdsl.dialects.tl.base import scope_of, shape_of
from tileas_xdsl.dialects.tl.buffers import AllocLocalOp, storage_of
from tileas_xdsl.inference.program import Scope
from tileas_xdsl.transforms.tl_to_tiles import array_tiles
from tileas_xdsl.transforms.tl_to_tiles.raising import Handler, Raising


def load(state: Raising, op: memref.LoadOp) -> None:
    """Read an element: a load of one element, or what a variable has now."""
    scope = scope_of(op.memref.type)
    if scope is Scope.LOCAL:
        state.scalars[op.res] = state.tile(_variable(state, op.memref, op.indices))
        return
    forms = [state.indices.of(index) for index in op.indices]
    ones = [1] * len(forms)
    if scope is Scope.GLOBAL:
        tile = array_tiles.load(state, op.memref, forms, ones)
    else:
        whole = state.reshaped(state.tile(storage_of(op.memref)), shape_of(op.memref.type))
        indices = [array_tiles.code(state, form) for form in forms]
        tile = state.insert(shapes.ExtractOp(whole, indices, ones)).result
    state.scalars[op.res] = state.insert(shapes.ViewOp(tile, element_of(tile.type))).result


def store(state: Raising, op: memref.StoreOp) -> None:
    """Give an element of a private buffer another value."""
    if scope_of(op.memref.type) is not Scope.LOCAL:
        raise state.refuse("stores for the whole block")
    state.held[_variable(state, op.memref, op.indices)] = state.scalar(op.value)


def _variable(
    state: Raising, buffer: SSAValue, indices: Sequence[SSAValue]
) -> tuple[SSAValue, tuple[int, ...]]:
    numbers = [state.indices.constant(index) for index in indices]
    known = tuple(n for n in numbers if n is not None)
    if len(known) < len(numbers) or shape_of(buffer.type) != shape_of(storage_of(buffer).type):
        raise state.refuse("picks an element of a private buffer at run time")
    return storage_of(buffer), known


def _allocate(state: Raising, op: AllocLocalOp) -> None:
    """A variable has no value before it is written."""


ELEMENTS: Mapping[type[Operation], Handler] = {
    memref.LoadOp: load,
    memref.StoreOp: store,
    AllocLocalOp: _allocate,
}
"""Accesses of the whole block to single elements."""
