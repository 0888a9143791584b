"""Vectorise `tl.parallel`: each operation of its body becomes one on tiles, for all iterations.

A value of an iteration becomes a tile with the dimensions of the loop, of extent one along those
that it does not depend on, so that what belongs to a row is computed once a row.

    tl.parallel (%i, %j) in (64, 32) {               %m1 = nv_tileaa.view %m : 64 -> 64x1
      %x = memref.load %s[%i, %j]              ->    %m2 = nv_tileaa.broadcast %m1 : 64x1 -> 64x32
      %m = memref.load %row[%i]                      %y = arith.subf %s, %m2 : 64x32
      %y = arith.subf %x, %m ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, TensorType, i1, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpKind

from tileas_xdsl.dialects.ir_queries import ELEMENTWISE_DIALECTS
from tileas_xdsl.dialects.nv_tileaa.base import element_of
from tileas_xdsl.dialects.tl.buffers import AllocLocalOp
from tileas_xdsl.dialects.tl.compute import AtomicAddOp
from tileas_xdsl.dialects.tl.loops import ParallelOp, SerialOp
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.transforms.tl_to_tiles.iterations.accesses import atomic_add, load, store
from tileas_xdsl.transforms.tl_to_tiles.iterations.values import (
    Condition,
    Iterations,
    both,
    choose,
    negated,
)
from tileas_xdsl.transforms.tl_to_tiles.raising import Raising
from tileas_xdsl.transforms.tl_to_tiles.scalars.affine_maps import ON_TILES, applied
from tileas_xdsl.transforms.tl_to_tiles.scalars.index_forms import ORDERS, IndexForm

LIMIT = 1 << 31
"""Indices of tiles have 32 bits."""

MAX_ROUNDS = 64
"""Iterations of a loop in an iteration that are written out."""


def parallel(state: Raising, op: ParallelOp) -> None:
    """Convert a loop whose iterations threads share."""
    extents = op.extents
    for variable, extent in zip(op.variables, extents, strict=True):
        state.indices.intervals[variable] = (0, extent - 1)
    _run(Iterations(state, extents, op.variables), op.body.block)


def _run(work: Iterations, block: Block) -> None:
    """Convert the operations of an iteration."""
    state = work.state
    for op in block.ops:
        if op.name.endswith("yield"):
            continue
        outer, state.source = state.source, op
        handler = _HANDLERS.get(type(op))
        if handler is not None:
            handler(work, op)
        elif op.name.startswith(ELEMENTWISE_DIALECTS):
            _compute(work, op)
        else:
            raise state.refuse("has no counterpart on tiles")
        state.source = outer


def _compute(work: Iterations, op: Operation) -> None:
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


def _elementwise(work: Iterations, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    """Return the result of an operation on tiles of one shape, or on scalars.

    Tiles of rows are computed without the dimensions of extent one, as reductions leave them: their
    layouts are those of rows then.
    """
    type_ = op.results[0].type
    element = i32 if isinstance(type_, IndexType) else type_
    shape = work.common(operands)
    if shape is not None:
        operands = [work.spread(operand, shape) for operand in operands]

    def made(values: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        return work.state.insert(on_types(op, values, [type_])).results[0]

    if shape is None:
        return made(operands, element)
    compact = [extent for extent in shape if extent > 1] or [1]
    operands = [work.state.reshaped(operand, compact) for operand in operands]
    if not all(_is_kind_of(element_of(operand.type), element) for operand in operands):
        found = work.state.by_element(element, operands, lambda values: made(values, element))
    else:
        found = made(operands, TensorType(element, compact))
    return work.state.reshaped(found, shape)


def _is_kind_of(one: Attribute, other: Attribute) -> bool:
    """Whether `arith` takes whole tiles of both: floats are converted so, integers by element."""
    return one == other or (isinstance(one, AnyFloat) and isinstance(other, AnyFloat))


def _cast(work: Iterations, op: arith.IndexCastOp, value: SSAValue) -> SSAValue:
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
    kind = arith.ExtSIOp if wanted.bitwidth > element.bitwidth else arith.TruncIOp

    def converted(values: Sequence[SSAValue]) -> SSAValue:
        return work.state.insert(kind(values[0], wanted)).result

    return work.state.by_element(wanted, [value], converted)


_SUMS = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MinSIOp,
    arith.MaxSIOp,
    arith.SelectOp,
    arith.IndexCastOp,
)
"""What is in 32 bits where the operands are: offsets are those of coordinates."""


def _check_range(work: Iterations, op: Operation) -> None:
    if isinstance(op, _SUMS):
        return
    ends = work.state.indices.interval(op.results[0])
    operands = [work.state.indices.interval(operand) for operand in op.operands]
    if isinstance(op, arith.MuliOp | arith.ShLIOp):
        if ends is None or not -LIMIT <= ends[0] <= ends[1] < LIMIT:
            raise work.state.refuse("is not known to have 32 bits")
    elif any(found is None or found[0] < 0 for found in operands):
        raise work.state.refuse("divides what is not known to be positive")


def _decided(work: Iterations, op: arith.CmpiOp) -> bool | None:
    """Return the result of a comparison that is the same for all iterations, as far as is known."""
    if not isinstance(op.lhs.type, IndexType):
        return None
    forms = work.state.indices
    left, right = forms.interval(op.lhs), forms.interval(op.rhs)
    if left is None or right is None:
        return None
    name = ORDERS[op.predicate.value.data]
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


def _selected(operands: Sequence[SSAValue]) -> SSAValue | None:
    """Return the side of a selection by what is known."""
    condition = operands[0].owner
    if not isinstance(condition, arith.ConstantOp) or isinstance(operands[0].type, TensorType):
        return None
    value: Any = condition.value
    return operands[1] if value.value.data else operands[2]


def _branch(work: Iterations, op: scf.IfOp) -> None:
    """Both sides, each for the iterations that come there; results are chosen element by element.

    What a side reads out of bounds is zero, and not chosen.
    """
    condition, outer, conditions = work.value(op.cond), work.mask, work.conditions
    given: list[Sequence[SSAValue]] = []
    for region, is_else in ((op.true_region, False), (op.false_region, True)):
        if not region.blocks:
            continue
        work.mask = both(work, outer, negated(work, condition) if is_else else condition)
        work.conditions = (*conditions, Condition(op.cond, is_else))
        _run(work, region.block)
        last = region.block.last_op
        given.append([work.value(v) for v in last.operands] if last is not None else [])
    work.mask, work.conditions = outer, conditions
    for result, sides in zip(op.results, zip(*given, strict=True), strict=True):
        work.values[result] = choose(work, condition, *sides)


def _written_out(work: Iterations, op: SerialOp) -> None:
    rounds = op.static_bounds
    if rounds is None or len(rounds) > MAX_ROUNDS:
        raise work.state.refuse("is a loop of an iteration that is not written out")
    for number in rounds:
        work.state.indices.bound[op.variable] = IndexForm(number)
        for inner in op.body.walk():
            for result in inner.results:
                work.values.pop(result, None)
        _run(work, op.body.block)
    del work.state.indices.bound[op.variable]


def _nothing(work: Iterations, op: Operation) -> None:
    del work, op


def _apply(work: Iterations, op: affine.ApplyOp) -> None:
    """An affine map: a form where it has one, else computed from what is not negative."""
    state = work.state
    if op.result not in state.indices.of(op.result).terms:
        return
    if all(operand in state.scalars for operand in op.mapOperands):
        state.lower(op)
        return
    for operand in op.mapOperands:
        ends = state.indices.interval(operand)
        if ends is None or ends[0] < 0:
            raise state.refuse("divides what is not known to be positive")

    def combine(kind: AffineBinaryOpKind, left: SSAValue, right: SSAValue) -> SSAValue:
        return work.combined(ON_TILES[kind], left, right)

    operands = [work.value(operand) for operand in op.mapOperands]
    constant = partial(state.constant, type_=i32)
    work.values[op.result] = applied(op.map.data, operands, constant, combine)


def _dimension(work: Iterations, op: memref.DimOp) -> None:
    if op.source not in work.state.arrays:
        raise work.state.refuse("asks for an extent of no argument")
    made = memref.DimOp(work.state.arrays[op.source], work.state.scalar(op.index))
    work.values[op.result] = work.state.i32(work.state.insert(made).result)


_HANDLERS: Mapping[type[Operation], Callable[[Iterations, Any], None]] = {
    affine.ApplyOp: _apply,
    memref.LoadOp: load,
    memref.StoreOp: store,
    memref.DimOp: _dimension,
    AtomicAddOp: atomic_add,
    scf.IfOp: _branch,
    SerialOp: _written_out,
    AllocLocalOp: _nothing,
}
