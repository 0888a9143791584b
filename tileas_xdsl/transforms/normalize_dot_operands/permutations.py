"""Permutations of dimensions: `generate`s that only read another tile at permuted coordinates.

    %y = generate { ^(i, j): extract %x[j, i] }        of 64 x 128, permutes by (1, 0)
    %z = generate { ^(i, j): extract %y[j, i] }        ->  %z is %x
    %v = view %y : 1x128x64 -> 128x64                  ->  the permutation of a view of %x

Two in a row are one, that of nothing is the tile itself, and views that drop dimensions of one
element come before permutations, so that products and loads stand next to them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp, ViewOp
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert, generated
from tileas_xdsl.transforms.tileaa_to_tileas.shapes import taken


@dataclass(frozen=True)
class Permuted:
    """A tile, and for each of its dimensions the one of the result that it becomes."""

    source: SSAValue
    order: tuple[int, ...]

    @property
    def is_identity(self) -> bool:
        """Whether nothing is permuted."""
        return self.order == tuple(range(len(self.order)))

    def shape(self) -> tuple[int, ...]:
        """The extents of the result."""
        extents = dict(zip(self.order, shape_of(self.source.type), strict=True))
        return tuple(extents[k] for k in range(len(extents)))


def permuted(tile: SSAValue) -> Permuted | None:
    """Return the tile that a tile is a permutation of, None where it is of none."""
    op = tile.owner
    if not isinstance(op, GenerateOp):
        return None
    match list(op.body.block.ops):
        case [tensor.ExtractOp() as element, YieldOp() as end]:
            dimension_of: dict[SSAValue, int] = {v: n for n, v in enumerate(op.body.block.args)}
            order = tuple(dimension_of.get(index, -1) for index in element.indices)
            is_whole = sorted(order) == list(range(len(dimension_of)))
            if not is_whole or tuple(end.operands) != tuple(element.results):
                return None
            found = Permuted(element.tensor, order)
            return found if found.shape() == shape_of(tile.type) else None
        case _:
            return None


def transposed_source(tile: SSAValue) -> SSAValue | None:
    """Return the tile whose last two dimensions a tile has exchanged, None where it is of none."""
    found = permuted(tile)
    if found is None or len(found.order) < 2:
        return None
    *front, row, column = range(len(found.order))
    return found.source if found.order == (*front, column, row) else None


class FoldPermutations(RewritePattern):
    """Make one permutation of two; use the tile itself where that leaves everything in place."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenerateOp, rewriter: PatternRewriter) -> None:
        outer = permuted(op.result)
        if outer is None:
            return
        inner = permuted(outer.source)
        if inner is not None:
            order = tuple(outer.order[k] for k in inner.order)
            made = permutation(Permuted(inner.source, order), Insert(rewriter.insert))
            rewriter.replace(op, [], [made])
        elif outer.is_identity:
            rewriter.replace(op, [], [outer.source])


class PermuteBehindView(RewritePattern):
    """Drop dimensions of one element before a permutation, not behind it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ViewOp, rewriter: PatternRewriter) -> None:
        found = permuted(op.source)
        viewed = op.result.type
        if found is None or not op.is_whole or not isa(viewed, TensorType[Attribute]):
            return
        shape = viewed.get_shape()
        dropped = len(found.order) - len(shape)
        whole = found.shape()
        if dropped <= 0 or set(whole[:dropped]) != {1} or whole[dropped:] != shape:
            return
        kept = [k for k in found.order if k >= dropped]
        extents = [shape[k - dropped] for k in kept]
        insert = Insert(rewriter.insert)
        type_ = TensorType(viewed.element_type, extents)
        source = insert(ViewOp(found.source, type_)).result
        order = tuple(k - dropped for k in kept)
        rewriter.replace(op, [], [permutation(Permuted(source, order), insert)])


class ViewBeforePermutation(RewritePattern):
    """Drop dimensions of one element by a view where a tile is read permuted without them.

    generate { ^(i, j): extract %x[0, j, i] } of 1x256x64 permutes a view of 256x64.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenerateOp, rewriter: PatternRewriter) -> None:
        *before, end = op.body.block.ops
        element = before[-1] if before else None
        if not isinstance(element, tensor.ExtractOp) or not isinstance(end, YieldOp):
            return
        constants = before[:-1]
        # An index of a dimension of extent 1 may be the constant 0; such dimensions are dropped
        # first, by a view, and the rest is a permutation only if every argument indexes once.
        zeros = {zero.results[0] for zero in constants if _is_zero(zero)}
        extents = shape_of(element.tensor.type)
        dropped = [v in zeros and n == 1 for v, n in zip(element.indices, extents, strict=True)]
        dimension_of: dict[SSAValue, int] = {v: n for n, v in enumerate(op.body.block.args)}
        kept = [k for k, is_dropped in enumerate(dropped) if not is_dropped]
        order = tuple(dimension_of.get(element.indices[k], -1) for k in kept)
        is_permuted = len(order) > 1 and sorted(order) == list(range(len(dimension_of)))
        is_all = len(zeros) == len(constants) and tuple(end.operands) == tuple(element.results)
        if len(kept) == len(extents) or not is_permuted or not is_all:
            return
        if [extents[k] for k in kept] != [shape_of(op.result.type)[n] for n in order]:
            return
        type_ = TensorType(element_of(op.result.type), [extents[k] for k in kept])
        insert = Insert(rewriter.insert)
        source = insert(ViewOp(element.tensor, type_)).result
        rewriter.replace(op, [], [permutation(Permuted(source, order), insert)])


def _is_zero(op: Operation) -> bool:
    return (
        isinstance(op, arith.ConstantOp)
        and isinstance(op.value, IntegerAttr)
        and not op.value.value.data
    )


class CarryUnpermuted(RewritePattern):
    """Carry a tile through a loop as it is added to, where the loop permutes it back and forth.

    for (%acc): %x = permute %acc; %y = dot %a, %b, %x; yield (permute %y)
    ->  for (%x): %y = dot %a, %b, %x; yield %y;  and one permutation before and behind the loop
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        end = op.body.block.last_op
        assert end is not None
        for index, argument in enumerate(op.body.block.args[1:]):
            found = permuted(end.operands[index])
            if found is not None and _is_only_undone(argument, found):
                _carry(op, index, found, rewriter)
                return


def _is_only_undone(argument: SSAValue, by: Permuted) -> bool:
    """Whether all that a loop does with a tile it carries is to undo a permutation."""
    made, undone = _readers(argument), inverse(by.order)
    found = [permuted(one.result) if isinstance(one, GenerateOp) else None for one in made]
    return bool(found) and all(
        one is not None and one.source is argument and one.order == undone for one in found
    )


def _readers(tile: SSAValue) -> list[Operation | None]:
    """The operations around the elements that are taken of a tile; None for other uses."""
    return [
        use.operation.parent_op() if isinstance(use.operation, tensor.ExtractOp) else None
        for use in tile.uses
    ]


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """Return the order that undoes an order."""
    return tuple(order.index(k) for k in range(len(order)))


def _carry(op: scf.ForOp, index: int, found: Permuted, rewriter: PatternRewriter) -> None:
    """Carry the tile that is permuted at the end, in a new loop around the same body."""
    insert, end = Insert(rewriter.insert), op.body.block.last_op
    assert end is not None
    inits = [*op.iter_args]
    inits[index] = permutation(Permuted(inits[index], inverse(found.order)), insert)
    argument = op.body.block.args[index + 1]
    undone = [one for one in _readers(argument) if one is not None]
    argument = rewriter.replace_value_with_new_type(argument, found.source.type)
    for one in undone:
        rewriter.replace(one, [], [argument])
    end.operands[index] = found.source
    made = insert(scf.ForOp(op.lb, op.ub, op.step, inits, op.detach_region(op.body)))
    made.attributes |= op.attributes
    results: list[SSAValue] = [*made.results]
    results[index] = permutation(Permuted(results[index], found.order), insert)
    rewriter.replace(op, [], results)


def permutation(of: Permuted, insert: Insert) -> SSAValue:
    """Return the permuted tile, which is made here unless nothing is permuted.

    One number in all places is a splat of the permuted extents.
    """
    if of.is_identity:
        return of.source
    type_ = TensorType(element_of(of.source.type), of.shape())
    match of.source.owner:
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as value) if is_splat(value):
            dense = DenseIntOrFPElementsAttr.new([type_, value.data])
            return insert(arith.ConstantOp(dense, type_)).result
        case tensor.SplatOp() as splat:
            return insert(tensor.SplatOp(splat.input, [], type_)).result
        case _:
            pass

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        return taken(of.source, insert, [coordinates[k] for k in of.order])

    return generated(insert, element_of(of.source.type), of.shape(), at)
