"""`tl.parallel` as operations on tiles: what all iterations do, they do at once.

A value of an iteration becomes a tile with the dimensions of the loop, of extent one along those
that it does not depend on, so that what belongs to a row is computed once a row.

    tl.parallel (%i, %j) in (64, 32) {               %m1 = nv_tileaa.view %m : 64 -> 64x1
      %x = memref.load %s[%i, %j]              ->    %m2 = nv_tileaa.broadcast %m1 : 64x1 -> 64x32
      %m = memref.load %row[%i]                      %y = arith.subf %s, %m2 : 64x32
      %y = arith.subf %x, %m ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerType, TensorType, i1, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.compute import shapes
from tileas_xdsl.dialects.tl.base import scope_of
from tileas_xdsl.dialects.tl.base import shape_of as buffer_shape
from tileas_xdsl.dialects.tl.buffers import AllocLocalOp, storage_of
from tileas_xdsl.dialects.tl.loops import ParallelOp, SerialOp
from tileas_xdsl.inference.program import Scope
from tileas_xdsl.transforms.tl_to_tiles import array_tiles
from tileas_xdsl.transforms.tl_to_tiles.index_forms import IndexForm
from tileas_xdsl.transforms.tl_to_tiles.raising import INDEX, Raising, check_extents

LIMIT = 1 << 31
"""Indices of tiles have 32 bits."""

MAX_ROUNDS = 64
"""Iterations of a loop in an iteration that are written out."""


@dataclass
class _Iterations:
    """What the iterations of one loop have: a tile for each value, or a scalar."""

    state: Raising
    extents: tuple[int, ...]
    variables: Sequence[SSAValue]
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    mask: SSAValue | None = None
    """Which iterations come here."""
    private: dict[tuple[SSAValue, tuple[int, ...]], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, tuple[int, ...]], SSAValue]
    )
    """Elements of buffers that each iteration has of its own."""

    def run(self, block: Block) -> None:
        for op in block.ops:
            if op.name.endswith("yield"):
                continue
            outer, self.state.source = self.state.source, op
            handler = _HANDLERS.get(type(op))
            if handler is not None:
                handler(self, op)
            elif op.name.startswith(("arith.", "math.")):
                _compute(self, op)
            else:
                raise self.state.refuse("has no counterpart on tiles")
            self.state.source = outer

    def value(self, value: SSAValue) -> SSAValue:
        """Return what a value became: a tile, or a scalar that all iterations share."""
        if value in self.values:
            return self.values[value]
        form = self.state.indices.of(value) if value.type == INDEX else None
        if form is not None and form.is_constant:
            return self.state.constant(form.constant, i32)
        if value in self.variables:
            return self._counted(value)
        scalar = self.state.scalar(value)
        return self.state.i32(scalar) if scalar.type == INDEX else scalar

    def _counted(self, variable: SSAValue) -> SSAValue:
        axis = list(self.variables).index(variable)
        check_extents(self.state, [self.extents[axis]])
        counted = self.state.insert(shapes.MakeRangeOp(0, self.extents[axis])).result
        shape = [n if k == axis else 1 for k, n in enumerate(self.extents)]
        self.values[variable] = self.state.reshaped(counted, shape)
        return self.values[variable]

    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a value as a tile of a shape."""
        if not isinstance(value.type, TensorType):
            return self.state.splat(value, shape)
        return self.state.broadcast(value, shape)

    def common(self, values: Sequence[SSAValue]) -> tuple[int, ...] | None:
        """Return the extents that tiles have together; None where all are scalars."""
        found = [shape for value in values if (shape := shape_of(value.type))]
        return tuple(max(extents) for extents in zip(*found, strict=True)) if found else None


def parallel(state: Raising, op: ParallelOp) -> None:
    """Convert a loop whose iterations threads share."""
    extents = op.extents
    for variable, extent in zip(op.variables, extents, strict=True):
        state.indices.intervals[variable] = (0, extent - 1)
    _Iterations(state, extents, op.variables).run(op.body.block)


def _compute(work: _Iterations, op: Operation) -> None:
    """An operation on elements: the same on tiles, or on a scalar where it is of none."""
    state = work.state
    if all(operand in state.scalars for operand in op.operands):
        uniform = op.clone(value_mapper={v: state.scalars[v] for v in op.operands})
        state.scalars.update(zip(op.results, state.insert(uniform).results, strict=True))
        return
    if len(op.results) != 1:
        raise state.refuse("gives several values")
    result = op.results[0]
    if isinstance(result.type, IndexType):
        if state.indices.of(result).is_constant:
            return
        _check_range(work, op)
    if isinstance(op, arith.CmpiOp) and (known := _decided(work, op)) is not None:
        work.values[result] = state.constant(int(known), i1)
        return
    operands = [work.value(operand) for operand in op.operands]
    if isinstance(op, arith.SelectOp) and (one := _selected(operands)) is not None:
        work.values[result] = one
    elif isinstance(op, arith.IndexCastOp):
        work.values[result] = _cast(work, op, operands[0])
    else:
        work.values[result] = _elementwise(work, op, operands)


def _elementwise(work: _Iterations, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    """Return the result of an operation on tiles of one shape, or on scalars."""
    type_ = op.results[0].type
    element = i32 if isinstance(type_, IndexType) else type_
    shape = work.common(operands)
    if shape is not None:
        operands = [work.spread(operand, shape) for operand in operands]

    def made(values: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        again = op.create(
            operands=values,
            result_types=[type_],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        return work.state.insert(again).results[0]

    if shape is not None and not isinstance(op, _OF_SCALARS):
        return made(operands, TensorType(element, shape))
    return work.state.by_element(element, operands, lambda values: made(values, element))


_OF_SCALARS = (arith.CmpiOp, arith.CmpfOp, arith.SelectOp)
"""Operations that take tiles element by element."""


def _cast(work: _Iterations, op: arith.IndexCastOp, value: SSAValue) -> SSAValue:
    """Return an index, which tiles have in 32 bits, as an integer, or an integer as an index."""
    wanted = i32 if isinstance(op.result.type, IndexType) else op.result.type
    element = element_of(value.type)
    assert isinstance(wanted, IntegerType)
    if element == wanted:
        return value
    if not isinstance(element, IntegerType):
        raise work.state.refuse(f"converts {element} to {wanted}")
    if isinstance(op.result.type, IndexType) and element.bitwidth > wanted.bitwidth:
        raise work.state.refuse(f"takes {element} as an index, and tiles have indices of {wanted}")
    type_: Any = tile_of(wanted, shape_of(value.type))
    if wanted.bitwidth > element.bitwidth:
        return work.state.insert(arith.ExtSIOp(value, type_)).result
    return work.state.insert(arith.TruncIOp(value, type_)).result


_SUMS = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MinSIOp,
    arith.MaxSIOp,
    arith.SelectOp,
    arith.IndexCastOp,
)
"""What is in 32 bits where the operands are: offsets are those of coordinates."""


def _check_range(work: _Iterations, op: Operation) -> None:
    if isinstance(op, _SUMS):
        return
    ends = work.state.indices.interval(op.results[0])
    operands = [work.state.indices.interval(operand) for operand in op.operands]
    if isinstance(op, arith.MuliOp | arith.ShLIOp):
        if ends is None or not -LIMIT <= ends[0] <= ends[1] < LIMIT:
            raise work.state.refuse("is not known to have 32 bits")
    elif any(found is None or found[0] < 0 for found in operands):
        raise work.state.refuse("divides what is not known to be positive")


def _decided(work: _Iterations, op: arith.CmpiOp) -> bool | None:
    """Return the result of a comparison that is the same for all iterations, as far as is known."""
    if not isinstance(op.lhs.type, IndexType):
        return None
    forms = work.state.indices
    left, right = forms.interval(op.lhs), forms.interval(op.rhs)
    if left is None or right is None:
        return None
    name = _ORDERS[op.predicate.value.data]
    if name.startswith("u") and (left[0] < 0 or right[0] < 0):
        return None
    order = name.lstrip("us")
    if order in ("gt", "ge"):
        left, right, order = right, left, {"gt": "lt", "ge": "le"}[order]
    if order == "lt":
        return True if left[1] < right[0] else False if left[0] >= right[1] else None
    if order == "le":
        return True if left[1] <= right[0] else False if left[0] > right[1] else None
    return None


_ORDERS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def _selected(operands: Sequence[SSAValue]) -> SSAValue | None:
    """Return the side of a selection by what is known."""
    condition = operands[0].owner
    if not isinstance(condition, arith.ConstantOp) or isinstance(operands[0].type, TensorType):
        return None
    value: Any = condition.value
    return operands[1] if value.value.data else operands[2]


def _load(work: _Iterations, op: memref.LoadOp) -> None:
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
        _check_whole(work, op.memref, forms, axes)
        storage = storage_of(op.memref)
        tile = state.reshaped(state.tile(storage), buffer_shape(op.memref.type))
    work.values[op.res] = _along_loop(work, tile, axes)


def _private(work: _Iterations, buffer: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
    found = _element(work, buffer, indices)
    if found in work.private:
        return work.private[found]
    return work.state.tile(found)


def _element(
    work: _Iterations, buffer: SSAValue, indices: Sequence[SSAValue]
) -> tuple[SSAValue, tuple[int, ...]]:
    numbers = [work.state.indices.constant(index) for index in indices]
    known = tuple(n for n in numbers if n is not None)
    if len(known) < len(numbers):
        raise work.state.refuse("picks an element of a private buffer at run time")
    return storage_of(buffer), known


def _axis_of(work: _Iterations, form: IndexForm) -> int | None:
    """Return the variable that an index follows one by one; None where it is the same for all."""
    inside = [atom for atom in form.terms if atom in work.variables]
    if any(atom in work.values and atom not in work.variables for atom in form.terms):
        raise work.state.refuse("has an index that data choose")
    if not inside:
        return None
    if len(inside) > 1 or form.terms[inside[0]] != 1:
        raise work.state.refuse("has an index that follows no single variable one by one")
    return list(work.variables).index(inside[0])


def _start(work: _Iterations, form: IndexForm, axis: int | None) -> IndexForm:
    if axis is None:
        return form
    return form.plus(IndexForm(0, {work.variables[axis]: -1}))


def _check_whole(
    work: _Iterations, buffer: SSAValue, forms: Sequence[IndexForm], axes: Sequence[int | None]
) -> None:
    """Buffers of the block are read and written from their first element to the last."""
    for extent, form, axis in zip(buffer_shape(buffer.type), forms, axes, strict=True):
        start = _start(work, form, axis)
        length = 1 if axis is None else work.extents[axis]
        if not start.is_constant or start.constant or length != extent:
            raise work.state.refuse("accesses a part of a buffer")


def _along_loop(work: _Iterations, tile: SSAValue, axes: Sequence[int | None]) -> SSAValue:
    """Return a tile by the dimensions of the loop of one by those of a buffer."""
    kept = [axis for axis in axes if axis is not None]
    if len(set(kept)) < len(kept):
        raise work.state.refuse("reads a diagonal of a buffer")
    tile = work.state.reshaped(tile, [work.extents[axis] for axis in kept])
    tile = work.state.permuted(tile, sorted(range(len(kept)), key=kept.__getitem__))
    return work.state.reshaped(
        tile, [n if axis in kept else 1 for axis, n in enumerate(work.extents)]
    )


def _store(work: _Iterations, op: memref.StoreOp) -> None:
    state, scope = work.state, scope_of(op.memref.type)
    value = work.value(op.value)
    if scope is Scope.LOCAL:
        at = _element(work, op.memref, op.indices)
        work.private[at] = _where(work, value, work.private.get(at))
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
    _check_whole(work, op.memref, forms, axes)
    storage = storage_of(op.memref)
    before = None
    if work.mask is not None:
        held = state.reshaped(state.tile(storage), buffer_shape(op.memref.type))
        before = work.spread(_along_loop(work, held, axes), work.extents)
    tile = _where(work, tile, before)
    made = _of_buffer(work, tile, axes, buffer_shape(op.memref.type))
    state.held[storage] = state.reshaped(made, buffer_shape(storage.type))


def _of_buffer(
    work: _Iterations, tile: SSAValue, axes: Sequence[int | None], shape: Sequence[int]
) -> SSAValue:
    """Return a tile by the dimensions of a buffer of one by those of the loop."""
    kept = [axis for axis in axes if axis is not None]
    inner = work.state.reshaped(tile, [work.extents[axis] for axis in sorted(kept)])
    inner = work.state.permuted(inner, [sorted(kept).index(axis) for axis in kept])
    return work.state.reshaped(inner, shape)


def _where(work: _Iterations, value: SSAValue, before: SSAValue | None) -> SSAValue:
    """Return a value where iterations come here, else what was before."""
    if work.mask is None:
        return value
    if before is None:
        raise work.state.refuse("writes under a condition what nothing was written to before")
    return _choose(work, work.mask, value, before)


def _choose(work: _Iterations, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
    sides = [condition, yes, no]
    if (shape := work.common(sides)) is not None:
        sides = [work.spread(side, shape) for side in sides]

    def chosen(values: Sequence[SSAValue]) -> SSAValue:
        return work.state.insert(arith.SelectOp(*values)).result

    return work.state.by_element(element_of(yes.type), sides, chosen)


def _branch(work: _Iterations, op: scf.IfOp) -> None:
    """Both sides, each for the iterations that come there; results are chosen element by element.

    What a side reads out of bounds is zero, and not chosen.
    """
    condition, outer = work.value(op.cond), work.mask
    given: list[Sequence[SSAValue]] = []
    for region, is_else in ((op.true_region, False), (op.false_region, True)):
        if not region.blocks:
            continue
        work.mask = _both(work, outer, _negated(work, condition) if is_else else condition)
        work.run(region.block)
        last = region.block.last_op
        given.append([work.value(v) for v in last.operands] if last is not None else [])
    work.mask = outer
    for result, sides in zip(op.results, zip(*given, strict=True), strict=True):
        work.values[result] = _choose(work, condition, *sides)


def _negated(work: _Iterations, value: SSAValue) -> SSAValue:
    one = work.state.constant(1, i1)
    if shape := shape_of(value.type):
        one = work.spread(one, shape)
    return work.state.insert(arith.XOrIOp(value, one)).result


def _both(work: _Iterations, a: SSAValue | None, b: SSAValue) -> SSAValue:
    if a is None:
        return b
    shape = work.common([a, b])
    sides = (a, b) if shape is None else (work.spread(a, shape), work.spread(b, shape))
    return work.state.insert(arith.AndIOp(*sides)).result


def _written_out(work: _Iterations, op: SerialOp) -> None:
    rounds = op.static_bounds
    if rounds is None or len(rounds) > MAX_ROUNDS:
        raise work.state.refuse("is a loop of an iteration that is not written out")
    for number in rounds:
        work.state.indices.bound[op.variable] = IndexForm(number)
        for inner in op.body.walk():
            for result in inner.results:
                work.values.pop(result, None)
        work.run(op.body.block)
    del work.state.indices.bound[op.variable]


def _nothing(work: _Iterations, op: Operation) -> None:
    del work, op


def _apply(work: _Iterations, op: affine.ApplyOp) -> None:
    if not work.state.indices.of(op.result).is_constant:
        raise work.state.refuse("computes an index of an iteration by an affine map")


def _dimension(work: _Iterations, op: memref.DimOp) -> None:
    if op.source not in work.state.arrays:
        raise work.state.refuse("asks for an extent of no argument")
    made = memref.DimOp(work.state.arrays[op.source], work.state.scalar(op.index))
    work.values[op.result] = work.state.i32(work.state.insert(made).result)


_HANDLERS: Mapping[type[Operation], Callable[[_Iterations, Any], None]] = {
    affine.ApplyOp: _apply,
    memref.LoadOp: _load,
    memref.StoreOp: _store,
    memref.DimOp: _dimension,
    scf.IfOp: _branch,
    SerialOp: _written_out,
    AllocLocalOp: _nothing,
}
