"""Permutations of dimensions: `generate`s that only read another tile at permuted coordinates.

    %y = generate { ^(i, j): extract %x[j, i] }        of 64 x 128, permutes by (1, 0)
    %z = generate { ^(i, j): extract %y[j, i] }        ->  %z is %x
    %v = view %y : 1x128x64 -> 128x64                  ->  the permutation of a view of %x

Two in a row are one, that of nothing is the tile itself, and views that drop dimensions of one
element come before permutations, so that products and loads stand next to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

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
            places: dict[SSAValue, int] = {v: n for n, v in enumerate(op.body.block.args)}
            order = tuple(places.get(index, -1) for index in element.indices)
            is_whole = sorted(order) == list(range(len(places)))
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
        if found is None or not op.is_whole or not isinstance(op.result.type, TensorType):
            return
        shape = shape_of(op.result.type)
        dropped = len(found.order) - len(shape)
        whole = found.shape()
        if dropped <= 0 or set(whole[:dropped]) != {1} or whole[dropped:] != shape:
            return
        kept = [k for k in found.order if k >= dropped]
        extents = [shape[k - dropped] for k in kept]
        insert = Insert(rewriter.insert)
        type_ = TensorType(element_of(op.result.type), extents)
        source = insert(ViewOp(found.source, type_)).result
        order = tuple(k - dropped for k in kept)
        rewriter.replace(op, [], [permutation(Permuted(source, order), insert)])


def permutation(of: Permuted, insert: Insert) -> SSAValue:
    """Return the permuted tile, which is made here unless nothing is permuted."""
    if of.is_identity:
        return of.source

    def at(insert: Insert, place: Sequence[SSAValue]) -> SSAValue:
        return taken(of.source, insert, [place[k] for k in of.order])

    return generated(insert, element_of(of.source.type), of.shape(), at)
