"""Convert dot products, reductions and scans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tileas_xdsl.dialects.cuda_tile.structure.control import YieldOp
from tileas_xdsl.dialects.cuda_tile.tiles import matmul, reductions
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute import reductions as aa
from tileas_xdsl.dialects.nv_tileaa.compute.bodies import YieldOp as AAYieldOp
from tileas_xdsl.dialects.nv_tileas.compute.combiners import COMBINERS
from tileas_xdsl.dialects.nv_tileas.enums import Signedness
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.shapes import reshaped, viewed


def float_product(c: Converter, op: matmul.MmaFOp) -> Sequence[SSAValue]:
    """Convert a dot of floats; `fast_acc` allows accumulation in fewer bits."""
    operands = c.get_all(op.operands[:3])
    return [c.insert(aa.DotOp(*operands, fast_acc=op.fast_acc is not None)).result]


def integer_product(c: Converter, op: matmul.MmaIOp) -> Sequence[SSAValue]:
    """A product of bytes."""
    made = aa.DotOp(
        c.get(op.lhs),
        c.get(op.rhs),
        c.get(op.acc),
        signedness_a=Signedness(op.signedness_lhs.data.value),
        signedness_b=Signedness(op.signedness_rhs.data.value),
    )
    return [c.insert(made).result]


def scaled_product(c: Converter, op: matmul.MmaFScaledOp) -> Sequence[SSAValue]:
    """A product of scaled floats."""
    sfa, sfb = c.get(op.lhs_scale), c.get(op.rhs_scale)
    return [c.insert(aa.DotOp(*c.get_all(op.operands[:3]), sfa=sfa, sfb=sfb)).result]


def _body(c: Converter, op: Any) -> Block:
    """Return the body on all accumulated values first, then all next elements.

    Tile IR has them in pairs, the accumulated value first: `result[j] = f(result[j - 1], x[j])`.
    """
    (block,) = op.body.blocks
    sources = [element_of(c.type(value)) for value in op.values]
    made = Block(arg_types=[*sources, *sources])
    count = len(sources)
    for k in range(count):
        c.bind(block.args[2 * k : 2 * k + 2], [made.args[k], made.args[count + k]])
    with c.at_end(made):
        for inner in block.ops:
            if isinstance(inner, YieldOp):
                c.insert(AAYieldOp(*c.get_all(inner.operands)))
            else:
                c.convert(inner)
    return made


def reduce(c: Converter, op: reductions.ReduceOp) -> Sequence[SSAValue]:
    """Tiles without a dimension; one of extent 1 is dropped, for there is nothing to combine.

    The maximum of all of a `1x2048` tile is asked for as two reductions, one for each dimension.
    What only reductions see without such a dimension keeps it, and is reduced as it lies:

        %v = reduce %x dim=0 : 1x2048 -> 2048
        %m = reduce %v dim=0 : 2048 -> ()       ->    %r = reduce %x along 1 : 1x2048 -> 1
                                                      %m = view %r : 1 -> ()
    """
    sources, axis = c.get_all(op.values), op.dim.value.data
    if shape_of(c.type(op.values[0]))[axis] == 1:
        pairs = zip(sources, op.results, strict=True)
        return [reshaped(c, source, result) for source, result in pairs]
    if len({shape_of(source.type) for source in sources}) > 1:
        pairs = zip(sources, op.values, strict=True)
        sources = [viewed(c, source, c.type(value)) for source, value in pairs]
    axis = _among_units(axis, shape_of(c.type(op.values[0])), shape_of(sources[0].type))
    body, is_inside = _body(c, op), all(value.has_one_use() for value in op.values)
    if is_inside:
        sources, axis = _inner_first(c, sources, axis, body)
    made = c.insert(aa.ReduceOp(sources, axis, op.identities.data, body))
    pairs = zip(made.results, op.results, strict=True)
    return [reshaped(c, tile, result) for tile, result in pairs]


def _inner_first(
    c: Converter, sources: Sequence[SSAValue], axis: int, body: Block
) -> tuple[Sequence[SSAValue], int]:
    """Reduce what is reduced twice along its inner dimension first; return what is left to do.

        %r = reduce %x along 0 : 8x64 -> 64          %r = reduce %x along 1 : 8x64 -> 8
        %s = reduce %r along 0 : 64 -> ()      ->    %s = reduce %r along 0 : 8 -> ()

    Lanes hold neighbours along the inner dimension, which shuffles combine without a barrier, and
    give few elements to what warps combine.  Combiners that are one operation of `COMBINERS` may
    take elements in any order.
    """
    first = sources[0].owner
    if not isinstance(first, aa.ReduceOp) or not _combine_alike(first.body.block, body):
        return sources, axis
    if axis < (outer := first.axis.value.data):
        return sources, axis
    inside, identities, block = first.sources, first.identities.data, first.body.detach_block(0)
    Rewriter.erase_op(first)
    inside, inner = _inner_first(c, inside, axis + 1, block)
    made = c.insert(aa.ReduceOp(inside, inner, identities, block))
    return made.values, outer


def _combine_alike(one: Block, other: Block) -> bool:
    """Whether both bodies are the same operation, whose operands have no order."""
    first, second = one.first_op, other.first_op
    if first is None or second is None or first.name not in COMBINERS or first.name != second.name:
        return False
    if first.next_op is not one.last_op or second.next_op is not other.last_op:
        return False
    return first.attributes == second.attributes and first.properties == second.properties


def _among_units(axis: int, shape: Sequence[int], longer: Sequence[int]) -> int:
    """Return where a dimension of a shape is in one that may have more dimensions of extent 1."""
    if len(shape) == len(longer):
        return axis
    places = [k for k, extent in enumerate(longer) if extent > 1]
    return places[sum(extent > 1 for extent in shape[:axis])]


def scan(c: Converter, op: reductions.ScanOp) -> Sequence[SSAValue]:
    """Running combinations."""
    body, identities, reverse = _body(c, op), op.identities.data, op.reverse
    assert isinstance(reverse, IntegerAttr)
    made = aa.ScanOp(
        c.get_all(op.values),
        op.dim.value.data,
        identities,
        body,
        reverse=reverse.value.data != 0,
    )
    return c.insert(made).results


COMPUTE: Mapping[type[Operation], Rule] = {
    matmul.MmaFOp: float_product,
    matmul.MmaFScaledOp: scaled_product,
    matmul.MmaIOp: integer_product,
    reductions.ReduceOp: reduce,
    reductions.ScanOp: scan,
}
