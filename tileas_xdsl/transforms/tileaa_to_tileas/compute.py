"""Convert reductions, scans and assertions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, cf, tensor
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.dialects.nv_tileaa import messages
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute import reductions as compute
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.transforms.tileaa_to_tileas.products import dot
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert, Rule


def _body(op: compute.CombiningOp) -> Block:
    return op.detach_region(op.body).detach_block(0)


def reduce(op: compute.ReduceOp, insert: Insert) -> Sequence[SSAValue]:
    """A scalar is the element of a tile of rank 0."""
    tiles = insert(ReduceOp(op.sources, op.axis.value.data, _body(op))).outputs
    if shape_of(tiles[0].type):
        return tiles
    return [insert(tensor.ExtractOp(tile, [], element_of(tile.type))).result for tile in tiles]


def scan(op: compute.ScanOp, insert: Insert) -> Sequence[SSAValue]:
    """Running combinations."""
    made = ScanOp(op.sources, op.axis.value.data, _body(op), reverse=op.reverse is not None)
    return insert(made).outputs


def assert_(op: messages.AssertOp, insert: Insert) -> Sequence[SSAValue]:
    """All elements of a tile must hold: their conjunction is asserted."""
    value = op.condition
    while shape_of(value.type):
        value = insert(ReduceOp(value, 0, _all())).result
        if not shape_of(value.type):
            value = insert(tensor.ExtractOp(value, [], i1)).result
    insert(cf.AssertOp(value, op.message.data))
    return []


def _all() -> Block:
    block = Block(arg_types=[i1, i1])
    a, b = block.args
    both = arith.AndIOp(a, b)
    block.add_ops([both, YieldOp(both.result)])
    return block


COMPUTE: Mapping[type[Operation], Rule] = {
    compute.DotOp: dot,
    compute.ReduceOp: reduce,
    compute.ScanOp: scan,
    messages.AssertOp: assert_,
}
