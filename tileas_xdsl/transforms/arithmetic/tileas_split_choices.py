"""The pass `tileas-split-choices`: where the largest element is, by two reductions.

    %v, %i = reduce %x, %columns {             %m = reduce %x { maxnumf }
      %first = %a > %b or equal and %j < %k    %at = generate {
      yield select %first ...             ->     yield select (%x == %m), %columns, 2147483647 }
    }                                          %i = reduce %at { minsi }

A body that chooses a row takes ten instructions for each element, and two shuffles with each step
between lanes.  An extreme takes one, a comparison and the extreme of what it selects three; lanes
take integers together (`redux`), and an extreme that the program asks for, too, is there already.

That the body is the choice of the first, or last, of the extreme elements is tried out: all rows of
representative numbers decide it, NaN among them (`threads/reduce/ordered_select.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Block, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import constant_op
from tileas_xdsl.threads.reduce.ordered_select import chosen_of_pairs, only_chooses, pairs_of_rows

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Extreme:
    """A reduction to the largest or the smallest number."""

    kind: Any
    """The operation of `arith` on two elements."""
    is_largest: bool
    is_signed: bool = True
    keeps_nan: bool = False
    """Whether it is NaN if an element is, not only if all are."""

    def keys(self, values: Numbers) -> Numbers:
        """Numbers in the order of elements: the extreme one has the largest."""
        if not np.issubdtype(values.dtype, np.floating):
            ordered = values if self.is_signed else values.astype(np.int64).view(np.uint64)
            _, ranks = np.unique(ordered, return_inverse=True)
            return ranks if self.is_largest else -ranks
        keys = values if self.is_largest else -values
        return np.where(np.isnan(values), np.inf if self.keeps_nan else -np.inf, keys)


OF_FLOATS = (
    Extreme(arith.MaxnumfOp, True),
    Extreme(arith.MinnumfOp, False),
    Extreme(arith.MaximumfOp, True, keeps_nan=True),
    Extreme(arith.MinimumfOp, False, keeps_nan=True),
)
OF_INTEGERS = (
    Extreme(arith.MaxSIOp, True),
    Extreme(arith.MinSIOp, False),
    Extreme(arith.MaxUIOp, True, is_signed=False),
    Extreme(arith.MinUIOp, False, is_signed=False),
)


@dataclass(frozen=True)
class TileasSplitChoices(ModulePass):
    """Reduce to the extreme element first, then to its place.

    Of reductions of two tiles, of which the second result alone is used, and the body of which
    chooses by an order of the first.  Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-split-choices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for reduction in instances_in(op, ReduceOp):
            choice = choice_of(reduction)
            if choice is not None and (_is_of_rows(reduction) or _is_there(reduction, choice[0])):
                _split(reduction, *choice)


def choice_of(op: ReduceOp) -> tuple[Extreme, Extreme] | None:
    """Return which element a reduction chooses, and which place of equal ones; None for others."""
    if len(op.sources) != 2 or op.atom is not None or _is_read(op.outputs[0]):
        return None
    values, places = (tile.element_type for tile in op.tiles)
    if not isinstance(places, IntegerType) or places == i1 or not only_chooses(op.body.block):
        return None
    rows = pairs_of_rows(op)
    _, found = chosen_of_pairs(op, *rows)
    for extreme in OF_FLOATS if isinstance(values, AnyFloat) else OF_INTEGERS:
        for place in OF_INTEGERS:
            if np.array_equal(_expected(extreme, place, *rows), found):
                return extreme, place
    return None


def _is_of_rows(op: ReduceOp) -> bool:
    """Whether lines are rows, which warps reduce without an exchange between them.

    What is reduced along columns goes through shared memory, and two values there at once.
    """
    return op.axis.value.data == op.tiles[0].get_num_dims() - 1


def _is_there(op: ReduceOp, extreme: Extreme) -> bool:
    """Whether the program reduces to the extreme element as well."""
    values, _ = op.sources
    others = (use.operation for use in values.uses)
    return any(
        isinstance(other, ReduceOp)
        and other.parent is op.parent
        and len(other.sources) == 1
        and other.axis == op.axis
        and isinstance(other.body.block.first_op, extreme.kind)
        for other in others
    )


def _is_read(value: SSAValue) -> bool:
    """Whether something depends on a value that has effects, or whose results are used."""
    users = [use.operation for use in value.uses]
    return any(not is_side_effect_free(user) or any(map(_is_read, user.results)) for user in users)


def _expected(
    extreme: Extreme, place: Extreme, first: Sequence[Numbers], second: Sequence[Numbers]
) -> Numbers:
    """The places that two reductions give of pairs of rows."""
    (a, i), (b, j) = first, second
    a, b = np.split(extreme.keys(np.concatenate([a, b])), 2)
    p, q = np.split(place.keys(np.concatenate([i, j])), 2)
    return np.where((a > b) | ((a == b) & (p >= q)), i, j)


def _split(op: ReduceOp, extreme: Extreme, place: Extreme) -> None:
    builder = Builder(InsertPoint.before(op))
    values, places = op.sources
    axis = op.axis.value.data
    best = _reduced(builder, extreme, values, axis)
    at = _places(builder, extreme, place, values, places, best, axis)
    found = _reduced(builder, place, at, axis)
    for made in (best, at, found):
        made.op.location = op.location
    Rewriter.replace_op(op, [], [best, found])


def _reduced(builder: Builder, extreme: Extreme, tile: SSAValue, axis: int) -> OpResult:
    element = _element(tile)
    block = Block(arg_types=[element, element])
    combined = extreme.kind(*block.args)
    block.add_ops([combined, YieldOp(combined.results[0])])
    return builder.insert(ReduceOp([tile], axis, block)).outputs[0]


def _places(
    builder: Builder,
    extreme: Extreme,
    place: Extreme,
    values: SSAValue,
    places: SSAValue,
    best: SSAValue,
    axis: int,
) -> OpResult:
    """The places of elements that are the extreme one; of others the one that is never chosen."""
    shape, kind = shape_of(places.type) or (), IntegerType(bits_of(_element(places)))
    body = Block(arg_types=[IndexType()] * len(shape))
    inner = Builder(InsertPoint.at_end(body))
    indices = list(body.args)
    value = inner.insert(tensor.ExtractOp(values, indices, _element(values))).result
    most = tensor.ExtractOp(best, [*indices[:axis], *indices[axis + 1 :]], _element(best))
    is_best = _is_best(inner, extreme, value, inner.insert(most).result)
    own = inner.insert(tensor.ExtractOp(places, indices, kind)).result
    never = inner.insert(constant_op(IntegerAttr(_never(place, kind), kind))).result
    chosen = inner.insert(arith.SelectOp(is_best, own, never)).result
    inner.insert(YieldOp(chosen))
    return builder.insert(GenerateOp(TensorType(kind, shape), body)).result


def _is_best(inner: Builder, extreme: Extreme, value: SSAValue, best: SSAValue) -> SSAValue:
    """Whether an element is the extreme one, which may be NaN: it is what then is NaN, too."""
    if not isinstance(value.type, AnyFloat):
        return inner.insert(arith.CmpiOp(value, best, "eq")).result
    # If not all elements have to be NaN for the extreme to be, those are chosen that are.
    none = value if extreme.keeps_nan else best
    is_none = inner.insert(arith.CmpfOp(none, none, "une")).result
    is_equal = inner.insert(arith.CmpfOp(value, best, "oeq")).result
    return inner.insert(arith.OrIOp(is_none, is_equal)).result


def _never(place: Extreme, type_: IntegerType) -> int:
    """The number that another one is always chosen over."""
    bits: int = type_.width.data
    if not place.is_signed:
        return 0 if place.is_largest else -1
    return -(1 << (bits - 1)) if place.is_largest else (1 << (bits - 1)) - 1


def _element(tile: SSAValue) -> Attribute:
    found = element_of(tile.type)
    assert found is not None
    return found
