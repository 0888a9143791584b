"""Elements that iterations read and write: of buffers, arrays, and what each has of its own.

An index follows a variable of the loop one by one, or a digit of it; then all iterations together
access a tile, whose elements are repeated where several iterations read one:

    tl.parallel (%i, %j) in (16, 32) {           %0 = view %s : 16x8 -> 16x1x8x1
      %g = affine.apply (d0 floordiv 4)(%j)      %1 = broadcast %0 : 16x1x8x1 -> 16x1x8x4
      %v = memref.load %x[%i, %j]           ->   %2 = view %1 : 16x1x8x4 -> 16x32
      %w = memref.load %s[%i, %g]                %3 = arith.mulf %x, %2 : tensor<16x32xf32>
      %z = arith.mulf %v, %w
      memref.store %z, %x[%i, %j]                (%3 is what `%x` holds now)
    }

Elements of arrays at any other index are gathered; those of a buffer are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import affine, memref
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
)

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileaa.compute import shapes
from tileas_xdsl.dialects.tl.base import element_of, scope_of
from tileas_xdsl.dialects.tl.base import shape_of as buffer_shape
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.dialects.tl.compute import AtomicAddOp
from tileas_xdsl.inference.program import Scope
from tileas_xdsl.transforms.tl_to_tiles import array_tiles, block_elements
from tileas_xdsl.transforms.tl_to_tiles.iterations.store_bounds import bounded_array
from tileas_xdsl.transforms.tl_to_tiles.iterations.values import Iterations, choose, where
from tileas_xdsl.transforms.tl_to_tiles.raising import INDEX
from tileas_xdsl.transforms.tl_to_tiles.scalars.index_forms import IndexForm
from tileas_xdsl.transforms.tl_to_tiles.whole_buffers import part_of


def load(work: Iterations, op: memref.LoadOp) -> None:
    """Read an element in all iterations: a private value, part of a tile, or gathered."""
    state, scope = work.state, scope_of(op.memref.type)
    if scope is Scope.LOCAL:
        at = _element(work, op.memref, op.indices)
        known = work.values if at in work.private else state.scalars
        known[op.res] = work.private[at] if at in work.private else state.tile(at)
        return
    forms = [state.indices.of(index) for index in op.indices]
    digits = _digits_of(work, forms)
    if scope is Scope.GLOBAL and isinstance(digits, str):
        coords, inside = _coordinates(work, op.indices), _are_inside(work, op.memref, forms)
        work.values[op.res] = array_tiles.gather(state, op.memref, coords, inside, work.extents)
        return
    if isinstance(digits, str):
        raise state.refuse(digits)
    if scope is Scope.GLOBAL and not any(digits):
        block_elements.load(state, op)
        return
    if scope is Scope.GLOBAL:
        tile = array_tiles.load(state, op.memref, _starts(forms, digits), _lengths(digits))
    else:
        tile = _held(work, op.memref)
        if (part := _part(work, op.memref, forms, digits)) is not None:
            tile = state.insert(shapes.ExtractOp(tile, *part)).result
    work.values[op.res] = _along_loop(work, tile, digits)


def _are_inside(work: Iterations, array: SSAValue, forms: Sequence[IndexForm]) -> Sequence[bool]:
    """Return along which dimensions of an array no index of the iterations is out of bounds."""
    counted = dict(zip(work.variables, ((0, extent - 1) for extent in work.extents), strict=True))
    known = work.state.indices.intervals | counted
    ends = [form.range(known.get) for form in forms]
    return [
        found is not None and 0 <= found[0] <= found[1] < extent
        for found, extent in zip(ends, buffer_shape(array.type), strict=True)
    ]


def _coordinates(work: Iterations, indices: Sequence[SSAValue]) -> list[SSAValue]:
    """Return the index that all iterations have along a dimension, or a tile of their indices."""
    forms = [work.state.indices.of(index) for index in indices]
    return [
        array_tiles.code(work.state, form)
        if all(atom in work.state.scalars for atom in form.terms)
        else work.spread(work.value(index), work.extents)
        for index, form in zip(indices, forms, strict=True)
    ]


def _element(
    work: Iterations, buffer: SSAValue, indices: Sequence[SSAValue]
) -> tuple[SSAValue, tuple[int, ...]]:
    numbers = [work.state.indices.constant(index) for index in indices]
    known = tuple(n for n in numbers if n is not None)
    if len(known) < len(numbers):
        raise work.state.refuse("picks an element of a private buffer at run time")
    return storage_of(buffer), known


@dataclass(frozen=True)
class Digit:
    """What an index follows one by one: `variable floordiv weight mod count` of a loop.

    A variable itself has weight one and counts all its iterations; of bytes with two elements each,
    `j floordiv 2` picks the byte, and of 32 scales in turn `j mod 32` the scale.
    """

    atom: SSAValue
    """What stands for it in the form of an index."""
    axis: int
    weight: int
    count: int


def _digits_of(work: Iterations, forms: Sequence[IndexForm]) -> Sequence[Digit | None] | str:
    """Return the digits of indices that go through a region of a buffer, or why they do not."""
    digits = [_digit_of(work, form) for form in forms]
    reason = next((found for found in digits if isinstance(found, str)), None)
    known = [found for found in digits if not isinstance(found, str)]
    kept = [digit.axis for digit in known if digit is not None]
    if reason is None and len(set(kept)) < len(kept):
        reason = "goes along a diagonal of a buffer"
    return known if reason is None else reason


def _digit_of(work: Iterations, form: IndexForm) -> Digit | str | None:
    """Return what an index follows one by one; None where it is the same for all iterations."""
    inside = [(atom, found) for atom in form.terms if (found := _digit(work, atom)) is not None]
    if any(atom in work.values and _digit(work, atom) is None for atom in form.terms):
        return "has an index that data choose"
    if not inside:
        return None
    if len(inside) > 1 or form.terms[inside[0][0]] != 1:
        return "has an index that follows no single variable one by one"
    return inside[0][1]


def _digit(work: Iterations, atom: SSAValue) -> Digit | None:
    if atom in work.variables:
        axis = list(work.variables).index(atom)
        return Digit(atom, axis, 1, work.extents[axis])
    if not isinstance(made := atom.owner, affine.ApplyOp) or len(made.mapOperands) != 1:
        return None
    match made.map.data.results[0]:
        case AffineBinaryOpExpr(kind=kind, lhs=AffineDimExpr(), rhs=AffineConstantExpr(value=n)):
            inner = work.state.indices.of(made.mapOperands[0])
        case _:
            return None
    if inner.constant or list(inner.terms.values()) != [1]:
        return None
    (variable,) = inner.terms
    if variable not in work.variables:
        return None
    axis = list(work.variables).index(variable)
    extent = work.extents[axis]
    if extent % n:
        return None
    match kind:
        case AffineBinaryOpKind.FloorDiv:
            return Digit(atom, axis, n, extent // n)
        case AffineBinaryOpKind.Mod:
            return Digit(atom, axis, 1, n)
        case _:
            return None


def _starts(forms: Sequence[IndexForm], digits: Sequence[Digit | None]) -> Sequence[IndexForm]:
    """Return where a region begins: the indices of the first iteration."""
    return [
        form if digit is None else form.plus(IndexForm(0, {digit.atom: -1}))
        for form, digit in zip(forms, digits, strict=True)
    ]


def _lengths(digits: Sequence[Digit | None]) -> Sequence[int]:
    return [1 if digit is None else digit.count for digit in digits]


def _held(work: Iterations, buffer: SSAValue) -> SSAValue:
    """Return the tile that a buffer of the block has now."""
    return work.state.reshaped(work.state.tile(storage_of(buffer)), buffer_shape(buffer.type))


def _part(
    work: Iterations, buffer: SSAValue, forms: Sequence[IndexForm], digits: Sequence[Digit | None]
) -> tuple[Sequence[SSAValue], Sequence[int]] | None:
    """Return which part of a buffer is accessed, by number, and its extents; None for all of it."""
    whole, lengths = buffer_shape(buffer.type), _lengths(digits)
    return part_of(work.state, _starts(forms, digits), lengths, whole)


def _along_loop(work: Iterations, tile: SSAValue, digits: Sequence[Digit | None]) -> SSAValue:
    """Return a tile by the dimensions of the loop of one by those of a buffer.

    An element that several iterations read, of bytes with two numbers or of a group's scale, is
    repeated:  64x4 -> 64x4x1 -> 64x4x2 -> 64x8 for `[%i, %j floordiv 2]`.
    """
    kept = [digit for digit in digits if digit is not None]
    by_axis = {digit.axis: digit for digit in kept}
    order = sorted(range(len(kept)), key=lambda k: kept[k].axis)
    tile = work.state.reshaped(tile, [digit.count for digit in kept])
    tile = work.state.permuted(tile, order)
    split, repeated = list[int](), list[int]()
    for axis, extent in enumerate(work.extents):
        if (digit := by_axis.get(axis)) is not None and digit.count < extent:
            split += [1, digit.count, 1]
            repeated += [extent // digit.count // digit.weight, digit.count, digit.weight]
        else:
            split.append(extent if digit is not None else 1)
            repeated.append(split[-1])
    tile = work.state.broadcast(work.state.reshaped(tile, split), repeated)
    return work.state.reshaped(
        tile, [n if axis in by_axis else 1 for axis, n in enumerate(work.extents)]
    )


def store(work: Iterations, op: memref.StoreOp) -> None:
    """Write an element in all iterations: a private value, part of a tile, or stored."""
    state, scope = work.state, scope_of(op.memref.type)
    value = work.value(op.value)
    if scope is Scope.LOCAL:
        at = _element(work, op.memref, op.indices)
        work.private[at] = where(work, value, work.private.get(at))
        return
    if scope is Scope.GLOBAL:
        _store_to_array(work, op, value)
        return
    forms, digits = _written(work, op.indices)
    tile = work.spread(value, work.extents)
    part = _part(work, op.memref, forms, digits)
    whole = None if part is None and work.mask is None else _held(work, op.memref)
    lengths, before = buffer_shape(op.memref.type), whole
    if part is not None and whole is not None:
        lengths, before = part[1], state.insert(shapes.ExtractOp(whole, *part)).result
    if before is not None and work.mask is not None:
        before = work.spread(_along_loop(work, before, digits), work.extents)
        tile = where(work, tile, before)
    made = _of_buffer(work, tile, digits, lengths)
    if part is not None and whole is not None:
        made = state.insert(shapes.InsertOp(made, whole, part[0])).result
    storage = storage_of(op.memref)
    state.held[storage] = state.reshaped(made, buffer_shape(storage.type))


def _store_to_array(work: Iterations, op: memref.StoreOp, value: SSAValue) -> None:
    """Store a region, or single elements; those of iterations that do not come here nowhere."""
    forms = [work.state.indices.of(index) for index in op.indices]
    digits = _digits_of(work, forms)
    part = None if isinstance(digits, str) else _stored_part(work, op.memref, forms, digits)
    if part is not None:
        array_tiles.store(work.state, *_region(work, value, op.memref, op.indices), part)
        return
    coords = _coordinates(work, op.indices)
    varying = [axis for axis, coord in enumerate(coords) if coord.type != INDEX]
    if not varying:
        raise work.state.refuse("writes an element in several iterations")
    if work.mask is not None:
        outside = work.state.constant(-1, i32)
        coords[varying[0]] = choose(work, work.mask, coords[varying[0]], outside)
    array_tiles.scatter(work.state, work.spread(value, work.extents), op.memref, coords)


def _stored_part(
    work: Iterations,
    array: SSAValue,
    forms: Sequence[IndexForm],
    digits: Sequence[Digit | None],
) -> SSAValue | None:
    """Return the array, or what conditions leave of it; None where that is no part of tiles."""
    if work.mask is None:
        return work.state.arrays[array]
    if prod(_lengths(digits)) != prod(work.extents):
        return None
    along = [None if digit is None else digit.atom for digit in digits]
    return bounded_array(work, array, _starts(forms, digits), along)


def atomic_add(work: Iterations, op: AtomicAddOp) -> None:
    """Add to elements of an array; iterations under a condition that does not hold add zero."""
    state = work.state
    if scope_of(op.buffer.type) is not Scope.GLOBAL:
        raise state.refuse("adds to a buffer of the block")
    value = work.value(op.value)
    if work.mask is not None:
        value = choose(work, work.mask, value, state.zero(element_of(op.buffer.type)))
    array_tiles.add(state, *_region(work, value, op.buffer, op.indices))


def _region(
    work: Iterations, value: SSAValue, array: SSAValue, indices: Sequence[SSAValue]
) -> tuple[SSAValue, SSAValue, Sequence[IndexForm]]:
    """Return what iterations write as a tile of an array, the array, and where the tile begins."""
    forms, digits = _written(work, indices)
    tile = _of_buffer(work, work.spread(value, work.extents), digits, _lengths(digits))
    return tile, array, _starts(forms, digits)


def _written(
    work: Iterations, indices: Sequence[SSAValue]
) -> tuple[Sequence[IndexForm], Sequence[Digit | None]]:
    """Return the indices of what iterations write, each another element."""
    forms = [work.state.indices.of(index) for index in indices]
    digits = _digits_of(work, forms)
    if isinstance(digits, str):
        raise work.state.refuse(digits)
    if prod(_lengths(digits)) != prod(work.extents):
        raise work.state.refuse("writes an element in several iterations")
    return forms, digits


def _of_buffer(
    work: Iterations, tile: SSAValue, digits: Sequence[Digit | None], shape: Sequence[int]
) -> SSAValue:
    """Return a tile by the dimensions of a buffer of one by those of the loop."""
    kept = [digit.axis for digit in digits if digit is not None]
    inner = work.state.reshaped(tile, [work.extents[axis] for axis in sorted(kept)])
    inner = work.state.permuted(inner, [sorted(kept).index(axis) for axis in kept])
    return work.state.reshaped(inner, shape)
