"""Loads of tiles of which single elements are taken, and nothing else: each is loaded by itself.

    %w = tiled_load %v[%i, %c0] : 1x8                       %v1 = view %a : 1x1
    %x = generate : 1x1 { extract %w[0, 1] }        ->      %x = tiled_load %v1[%i, %c1] : 1x1
    %y = generate : 1x1 { extract %w[0, 2] }                %y = tiled_load %v1[%i, %c2] : 1x1

All threads have a tile of one element, so that none of them hands it to others behind a barrier.
A list of arrays is a table of such rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.ir import Block, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType


class LoadElements(RewritePattern):
    """Load the elements that are taken of a tile, in the place of the tile."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TiledLoadOp, rewriter: PatternRewriter) -> None:
        view, shape = op.view.owner, shape_of(op.result.type) or ()
        if prod(shape) == 1 or op.token is not None or op.mask is not None or op.offsets:
            return
        if not isinstance(view, ViewOp) or not view.is_whole:
            return
        if not isinstance(view.result.type, TiledViewType):
            return
        found = [_taken(use) for use in op.result.uses]
        taken = [one for one in found if one is not None]
        if not taken or len(taken) < len(found) or shape_of(view.result.type) != shape:
            return
        element = element_of(op.result.type)
        assert element is not None
        single = TiledViewType([1] * len(shape), element, view.result.type.residency)
        shown = rewriter.insert(ViewOp(view.source, single))
        for made, place in taken:
            coords = [
                _coordinate(rewriter, *one) for one in zip(op.coords, shape, place, strict=True)
            ]
            load = TiledLoadOp(shown.result, coords, atom=op.atom, padding=op.padding_value)
            load.location = op.location
            rewriter.insert(load)
            rewriter.replace(made, (), [load.result])


def _taken(use: Use) -> tuple[GenerateOp, Sequence[int]] | None:
    """Return the tile of one element that an element of a tile is, and its place there."""
    extract = use.operation
    made = extract.parent_op()
    if not isinstance(extract, tensor.ExtractOp) or not isinstance(made, GenerateOp):
        return None
    end = made.body.block.last_op
    is_only = isinstance(end, YieldOp) and [*end.operands] == [extract.result]
    if not is_only or prod(shape_of(made.results[0].type) or ()) != 1:
        return None
    place = [at for at in map(_at_origin, extract.indices) if at is not None]
    return (made, place) if len(place) == len(extract.indices) else None


def _at_origin(index: SSAValue) -> int | None:
    """Return the value of an index where all coordinates are 0, None if that is not known."""
    made = index.owner
    if isinstance(made, Block):
        return 0 if isinstance(made.parent_op(), GenerateOp) else None
    if not isinstance(made, arith.AddiOp):
        return constant_integer(index)
    left, right = _at_origin(made.lhs), _at_origin(made.rhs)
    return None if left is None or right is None else left + right


def _coordinate(rewriter: PatternRewriter, tile: SSAValue, extent: int, place: int) -> SSAValue:
    """Return where an element is, counted in elements, of a tile that is counted in tiles."""
    if extent == 1:
        return tile
    known = _constant(tile)
    if known is not None:
        return constant(rewriter, known * extent + place)
    first = rewriter.insert(arith.MuliOp(tile, constant(rewriter, extent))).result
    return rewriter.insert(arith.AddiOp(first, constant(rewriter, place))).result


def _constant(index: SSAValue) -> int | None:
    made = index.owner
    return constant_integer(made.input if isinstance(made, arith.IndexCastOp) else index)
