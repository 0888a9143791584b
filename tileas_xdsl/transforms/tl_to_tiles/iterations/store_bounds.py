"""Masks that are rectangles: conditions of iterations as bounds of the array that they store to.

A conjunction of upper bounds of single variables of the loop, and of conditions that all iterations
share, lets a prefix of each dimension through. A store under it is one of a tile that the array
ends in, so threads store vectors in the layout of the tile:

    tl.parallel (%i, %j) in (64, 64) {      %m = minsi 192, %begin + max(0, %rows)
      %c = cmpi slt, %i, %rows              %a = memref.subview %C[0, 0] [%m, 8192] [1, 1]
      scf.if %c {                      ->   %v = nv_tileaa.block_tile %a 64x64
        store %x, %C[%begin + %i, %j]       nv_tileaa.tiled_store %tile, %v[0, 0] offset[%begin, 0]

A bound that the extent of the array implies is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.base import as_array, shape_of
from tileas_xdsl.dialects.nv_tileaa.memory.views import array_type, strides_of
from tileas_xdsl.transforms.tl_to_tiles.array_tiles import code
from tileas_xdsl.transforms.tl_to_tiles.iterations.values import Condition, Iterations, negated
from tileas_xdsl.transforms.tl_to_tiles.scalars.index_forms import ORDERS, IndexForm

_OPPOSITES = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}

_SWAPPED = {"gt": "lt", "ge": "le"}


@dataclass(frozen=True)
class Bound:
    """`variable < limit`, for a variable of the loop."""

    variable: SSAValue
    limit: IndexForm


def bounded_array(
    work: Iterations, array: SSAValue, starts: Sequence[IndexForm], along: Sequence[SSAValue | None]
) -> SSAValue | None:
    """Return the part of an array that iterations under their conditions store to.

    `starts` is where their tile begins, `along` the variable that each dimension follows one by
    one. None where the conditions are no rectangle that begins where the tile does.
    """
    bounds = list[Bound | SSAValue]()
    for condition in work.conditions:
        found = _bounds(work, condition)
        if found is None:
            return None
        bounds += found
    limits: dict[int, list[IndexForm]] = {}
    for bound in bounds:
        if not isinstance(bound, Bound):
            continue
        if bound.variable not in along:
            return None
        axis = along.index(bound.variable)
        end = starts[axis].plus(bound.limit)
        if not _is_implied(work, array, axis, end):
            limits.setdefault(axis, []).append(end)
    shared = [bound for bound in bounds if not isinstance(bound, Bound)]
    if not limits and not shared:
        return work.state.arrays[array]
    return _part(work, array, limits, shared)


def _bounds(work: Iterations, condition: Condition) -> Sequence[Bound | SSAValue] | None:
    """Return what a condition is a conjunction of; None where it is none of bounds."""
    made, value = condition.value.owner, condition.value
    joins = arith.OrIOp if condition.is_negated else arith.AndIOp
    if isinstance(made, joins):
        sides = [_bounds(work, Condition(side, condition.is_negated)) for side in made.operands]
        if any(side is None for side in sides):
            return None
        return [bound for side in sides if side is not None for bound in side]
    known = work.value(value)
    if not shape_of(known.type):
        if (number := constant_integer(known)) is not None:
            return () if bool(number) is not condition.is_negated else [known]
        return [negated(work, known) if condition.is_negated else known]
    bound = _bound(work, made, condition.is_negated) if isinstance(made, arith.CmpiOp) else None
    return None if bound is None else [bound]


def _bound(work: Iterations, op: arith.CmpiOp, is_negated: bool) -> Bound | None:
    """Return the upper bound of a variable that a comparison is: `v + rest < 0` is `v < -rest`."""
    name, forms = ORDERS[op.predicate.value.data], work.state.indices
    order = name.lstrip("us")
    if order not in _OPPOSITES or (name.startswith("u") and not _are_positive(work, op)):
        return None
    if is_negated:
        order = _OPPOSITES[order]
    left, right = forms.of(op.lhs), forms.of(op.rhs)
    if order in _SWAPPED:
        left, right, order = right, left, _SWAPPED[order]
    rest = left.plus(right.times(-1))
    inside = [atom for atom in rest.terms if atom not in work.state.scalars]
    if len(inside) != 1 or inside[0] not in work.variables or rest.terms[inside[0]] != 1:
        return None
    limit = IndexForm(1 if order == "le" else 0, {inside[0]: 1}).plus(rest.times(-1))
    return Bound(inside[0], limit)


def _are_positive(work: Iterations, op: arith.CmpiOp) -> bool:
    ends = [work.state.indices.interval(side) for side in op.operands]
    return all(found is not None and found[0] >= 0 for found in ends)


def _is_implied(work: Iterations, array: SSAValue, axis: int, end: IndexForm) -> bool:
    """Whether an array has no more elements along an axis than a bound lets through."""
    extent = as_array(array).get_shape()[axis]
    if extent != DYNAMIC_INDEX:
        ends = end.range(work.state.indices.intervals.get)
        return ends is not None and ends[0] >= extent
    (atom,) = end.terms if len(end.terms) == 1 else (None,)
    if atom is None or end.terms[atom] != 1 or end.constant < 0:
        return False
    made = atom.owner
    if not isinstance(made, memref.DimOp) or made.source is not array:
        return False
    return constant_integer(made.index) == axis


def _part(
    work: Iterations,
    array: SSAValue,
    limits: Mapping[int, Sequence[IndexForm]],
    shared: Sequence[SSAValue],
) -> SSAValue:
    """Return the elements of an array below bounds: none where a shared condition does not hold."""
    state, type_ = work.state, as_array(array)
    first, axes = min(limits, default=0), range(len(type_.get_shape()))
    sizes = [
        _size(work, array, axis, limits.get(axis, ()), shared if axis == first else ())
        for axis in axes
    ]
    extents = [n if isinstance(n, int) else DYNAMIC_INDEX for n in sizes]
    result = array_type(type_.element_type, extents, strides_of(type_))
    begin, step = [0 for _ in axes], [1 for _ in axes]
    part = memref.SubviewOp.get(state.arrays[array], begin, sizes, step, result)
    return state.insert(part).result


def _size(
    work: Iterations,
    array: SSAValue,
    axis: int,
    limits: Sequence[IndexForm],
    shared: Sequence[SSAValue],
) -> SSAValue | int:
    """Return how many elements along an axis are below all bounds."""
    state, extent = work.state, as_array(array).get_shape()[axis]
    if extent == DYNAMIC_INDEX:
        size = state.insert(memref.DimOp(state.arrays[array], state.constant(axis))).result
    elif limits or shared:
        size = state.constant(extent)
    else:
        return extent
    for end in limits:
        size = state.insert(arith.MinSIOp(size, code(state, end))).result
    if limits:
        size = state.insert(arith.MaxSIOp(size, state.constant(0))).result
    for condition in shared:
        size = state.insert(arith.SelectOp(condition, size, state.constant(0))).result
    return size
