"""Elements that iterations read and write: of buffers, arrays, and what each has of its own."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import memref
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.nv_tileaa.compute import shapes
from tileas_xdsl.dialects.tl.base import scope_of
from tileas_xdsl.dialects.tl.base import shape_of as buffer_shape
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.inference.program import Scope
from tileas_xdsl.transforms.tl_to_tiles import array_tiles
from tileas_xdsl.transforms.tl_to_tiles.index_forms import IndexForm
from tileas_xdsl.transforms.tl_to_tiles.iteration_values import Iterations, where


def load(work: Iterations, op: memref.LoadOp) -> None:
    state, scope = work.state, scope_of(op.memref.type)
    if scope is Scope.LOCAL:
        work.values[op.res] = _private(work, op.memref, op.indices)
        return
    forms = [state.indices.of(index) for index in op.indices]
    axes = [_axis_of(work, form) for form in forms]
    if scope is Scope.GLOBAL:
        shape = [1 if axis is None else work.extents[axis] for axis in axes]
        starts = [_start(work, form, axis) for form, axis in zip(forms, axes, strict=True)]
        tile = array_tiles.load(state, op.memref, starts, shape)
    else:
        tile = _held(work, op.memref)
        if (part := _part(work, op.memref, forms, axes)) is not None:
            tile = state.insert(shapes.ExtractOp(tile, *part)).result
    work.values[op.res] = _along_loop(work, tile, axes)


def _private(work: Iterations, buffer: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
    found = _element(work, buffer, indices)
    if found in work.private:
        return work.private[found]
    return work.state.tile(found)


def _element(
    work: Iterations, buffer: SSAValue, indices: Sequence[SSAValue]
) -> tuple[SSAValue, tuple[int, ...]]:
    numbers = [work.state.indices.constant(index) for index in indices]
    known = tuple(n for n in numbers if n is not None)
    if len(known) < len(numbers):
        raise work.state.refuse("picks an element of a private buffer at run time")
    return storage_of(buffer), known


def _axis_of(work: Iterations, form: IndexForm) -> int | None:
    """Return the variable that an index follows one by one; None where it is the same for all."""
    inside = [atom for atom in form.terms if atom in work.variables]
    if any(atom in work.values and atom not in work.variables for atom in form.terms):
        raise work.state.refuse("has an index that data choose")
    if not inside:
        return None
    if len(inside) > 1 or form.terms[inside[0]] != 1:
        raise work.state.refuse("has an index that follows no single variable one by one")
    return list(work.variables).index(inside[0])


def _start(work: Iterations, form: IndexForm, axis: int | None) -> IndexForm:
    if axis is None:
        return form
    return form.plus(IndexForm(0, {work.variables[axis]: -1}))


def _held(work: Iterations, buffer: SSAValue) -> SSAValue:
    """Return the tile that a buffer of the block has now."""
    return work.state.reshaped(work.state.tile(storage_of(buffer)), buffer_shape(buffer.type))


def _part(
    work: Iterations, buffer: SSAValue, forms: Sequence[IndexForm], axes: Sequence[int | None]
) -> tuple[Sequence[SSAValue], Sequence[int]] | None:
    """Return which part of a buffer is accessed, by number, and its extents; None for all of it."""
    whole = buffer_shape(buffer.type)
    lengths = [1 if axis is None else work.extents[axis] for axis in axes]
    starts = [_start(work, form, axis) for form, axis in zip(forms, axes, strict=True)]
    if not all(start.is_constant for start in starts):
        raise work.state.refuse("accesses a part of a buffer that run time chooses")
    firsts = [start.constant for start in starts]
    if firsts == [0] * len(whole) and tuple(lengths) == whole:
        return None
    parts = zip(firsts, lengths, whole, strict=True)
    if any(first % n or extent % n or not 0 <= first < extent for first, n, extent in parts):
        raise work.state.refuse("accesses a part of a buffer between those that tiles divide into")
    numbers = [first // n for first, n in zip(firsts, lengths, strict=True)]
    return [work.state.constant(number) for number in numbers], lengths


def _along_loop(work: Iterations, tile: SSAValue, axes: Sequence[int | None]) -> SSAValue:
    """Return a tile by the dimensions of the loop of one by those of a buffer."""
    kept = [axis for axis in axes if axis is not None]
    if len(set(kept)) < len(kept):
        raise work.state.refuse("reads a diagonal of a buffer")
    tile = work.state.reshaped(tile, [work.extents[axis] for axis in kept])
    tile = work.state.permuted(tile, sorted(range(len(kept)), key=kept.__getitem__))
    return work.state.reshaped(
        tile, [n if axis in kept else 1 for axis, n in enumerate(work.extents)]
    )


def store(work: Iterations, op: memref.StoreOp) -> None:
    state, scope = work.state, scope_of(op.memref.type)
    value = work.value(op.value)
    if scope is Scope.LOCAL:
        at = _element(work, op.memref, op.indices)
        work.private[at] = where(work, value, work.private.get(at))
        return
    forms = [state.indices.of(index) for index in op.indices]
    axes = [_axis_of(work, form) for form in forms]
    kept = [axis for axis in axes if axis is not None]
    left_out = [n for axis, n in enumerate(work.extents) if axis not in kept]
    if prod(left_out) != 1 or len(set(kept)) < len(kept):
        raise state.refuse("writes an element in several iterations")
    tile = work.spread(value, work.extents)
    if scope is Scope.GLOBAL:
        if work.mask is not None:
            raise state.refuse("stores to global memory under a condition")
        starts = [_start(work, form, axis) for form, axis in zip(forms, axes, strict=True)]
        shape = [1 if axis is None else work.extents[axis] for axis in axes]
        array_tiles.store(state, _of_buffer(work, tile, axes, shape), op.memref, starts)
        return
    part = _part(work, op.memref, forms, axes)
    whole = None if part is None and work.mask is None else _held(work, op.memref)
    lengths, before = buffer_shape(op.memref.type), whole
    if part is not None and whole is not None:
        lengths, before = part[1], state.insert(shapes.ExtractOp(whole, *part)).result
    if before is not None and work.mask is not None:
        before = work.spread(_along_loop(work, before, axes), work.extents)
        tile = where(work, tile, before)
    made = _of_buffer(work, tile, axes, lengths)
    if part is not None and whole is not None:
        made = state.insert(shapes.InsertOp(made, whole, part[0])).result
    storage = storage_of(op.memref)
    state.held[storage] = state.reshaped(made, buffer_shape(storage.type))


def _of_buffer(
    work: Iterations, tile: SSAValue, axes: Sequence[int | None], shape: Sequence[int]
) -> SSAValue:
    """Return a tile by the dimensions of a buffer of one by those of the loop."""
    kept = [axis for axis in axes if axis is not None]
    inner = work.state.reshaped(tile, [work.extents[axis] for axis in sorted(kept)])
    inner = work.state.permuted(inner, [sorted(kept).index(axis) for axis in kept])
    return work.state.reshaped(inner, shape)
