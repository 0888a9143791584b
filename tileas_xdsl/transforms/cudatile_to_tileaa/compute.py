"""Convert dot products, reductions and scans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.dialects.cuda_tile.structure.control import YieldOp
from tileas_xdsl.dialects.cuda_tile.tiles import matmul, reductions
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute import reductions as aa
from tileas_xdsl.dialects.nv_tileaa.compute import shapes as aa_shapes
from tileas_xdsl.dialects.nv_tileaa.compute.bodies import YieldOp as AAYieldOp
from tileas_xdsl.dialects.nv_tileas.enums import Signedness
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule


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
    """
    sources, axis = c.get_all(op.values), op.dim.value.data
    if shape_of(sources[0].type)[axis] == 1:
        pairs = zip(sources, op.results, strict=True)
        return [c.insert(aa_shapes.ViewOp(source, c.type(made))).result for source, made in pairs]
    body, identities = _body(c, op), op.identities.data
    made = aa.ReduceOp(sources, axis, identities, body)
    return c.insert(made).results


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
